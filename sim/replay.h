/*
 * replay.h - records of a run (docs/records.md), read into memory and run
 * again.
 *
 * Callers give the name that DRASYNC_RECORD had.  Nothing in a file is
 * believed: what is no record, or refers to ranks that there are not, is an
 * error that names the line.
 */
#ifndef DRASYNC_SIM_REPLAY_H
#define DRASYNC_SIM_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/model.h"

enum { RECORD_RANKS_MAX = 4096, RECORD_LINES_MAX = 1 << 26 };

/* A line, or (kind 'a') what was allocated before it. */
struct record_line {
    char kind;
    uint64_t program_ns, call_ns; /* 'a': region, calls */
    uint64_t argument[4];         /* 'a': bytes, frees */
    /* Of the regions in the first two: incarnations; then the numbers that
     * replay_lives.c gives, from 1; 0: not known. */
    uint64_t life[2];
    uint32_t free; /* number of a region that no other rank may be at then */
};

struct record_rank {
    struct record_line *line;
    size_t count, room;
    size_t at; /* the next, for the replay */
};

struct records {
    struct record_rank *rank;
    uint32_t ranks;
    size_t creations; /* lines 'N' of all */
    bool native;      /* holds, rather than sends */
    bool baseline;    /* message passing, with a scheduler */
    /* What its schedulers served, and how long that took. */
    uint64_t requests, requests_ns, queries, queries_ns;
    /* Between the program's marks on rank 0, by the clock; 0: no marks. */
    uint64_t measured_ns;
};

/* 0, or -1 with @error. */
int records_read(const char *name, struct records *records, char *error,
                 size_t error_bytes);
void records_free(struct records *records);

/* Longer data of the baseline is received while its sender sends it: that it
 * waits for it looks like work. */
#define UNPACK_BYTES_MIN ((uint64_t)1 << 17)

/* Of what the baseline's workers took for a byte of long data, the quickest
 * tenth: those had hardly to wait.  0, or -1: no memory. */
int records_unpack_ns(const struct records *records, double *ns_out);

/* A request to a scheduler of the baseline takes it so long; 0: as recorded. */
struct baseline_cost {
    uint64_t request_ns; /* allocation */
    uint64_t query_ns;   /* where the data of a region is, for a send */
};

struct replay {
    struct model model;
    struct records records;
    struct replayed *rank;
    struct address *table; /* which region an address means now */
    size_t table_slots;
    uint32_t slots;
    uint8_t *known;             /* Myrmics: node has met the region */
    struct replay_kept *kept;   /* Myrmics: replay_kept.c */
    struct replay_lives *lives; /* native: replay_lives.c */
    double unpack_ns;           /* the baseline: at most so long for a byte */
    struct baseline_cost cost;
    uint32_t schedulers;
};

/* The last number of a line S: kept for the next; the same as what was kept. */
enum { REPLAY_KEPT = 1, REPLAY_SAME = 2 };

/* Of Myrmics sends: which nodes keep what a worker keeps of its last
 * (docs/myrmics.md, "Limits").  0, or -1: no memory. */
int replay_kept_open(struct replay *replay);
void replay_kept_close(struct replay *replay);

/* So many bytes of data go to the worker's node for a line S of rank @id. */
uint64_t replay_kept_bytes(struct replay *replay, uint32_t id,
                           const struct record_line *line);

/* Of native regions whose incarnations are recorded: number them, in the lines.
 * Their slots come first, and flags are added.  0, or -1: no memory. */
int replay_lives_open(struct replay *replay);
void replay_lives_close(struct replay *replay);

/* The flags that are waited for before a line; how many. */
enum { REPLAY_WAITS = 4 };
uint32_t replay_life_wait(struct replay *replay, const struct record_line *line,
                          uint32_t flags_out[REPLAY_WAITS]);

/* Region number @n has been made by rank @id; and a line of it is being run. */
void replay_life_made(struct replay *replay, uint32_t id, uint64_t n);
void replay_life_used(struct replay *replay, uint32_t id,
                      const struct record_line *line);

/*
 * Run the records, set in @replay with the costs, nodes and schedulers, and
 * print a line.  0, or 1 with a line on stderr.
 */
int replay_run(struct replay *replay, const char *name);

#endif
