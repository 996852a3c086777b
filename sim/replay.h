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
    /* 'a': bytes, frees.  'A': region, mode, versions known and got.  'L': region,
     * mode (as far as it can be told), version. */
    uint64_t argument[4];
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

struct replay_address {
    uint64_t address;
    uint32_t slot, maker;
    bool used;
    bool name; /* else a region: they may have the same number */
};

struct replay {
    struct model model;
    struct records records;
    struct replayed *rank;
    struct replay_address *table; /* which region an address means now */
    size_t table_slots;
    uint32_t slots;
    uint8_t *known;             /* Myrmics: node has met the region */
    struct replay_kept *kept;   /* Myrmics: replay_kept.c */
    struct replay_lives *lives; /* native: replay_lives.c */
    struct replay_versions *versions;
    bool quiet;       /* nothing is asked ahead */
    double unpack_ns; /* the baseline: at most so long for a byte */
    struct baseline_cost cost;
    uint32_t schedulers;
};

/* The last number of a line S: kept for the next; the same as what was kept. */
enum { REPLAY_KEPT = 1, REPLAY_SAME = 2 };

/* What @address, or that number of a name, means now; its entry, if that is not
 * used yet. */
struct replay_address *replay_address(struct replay *replay, uint64_t address,
                                      bool name);

/* Rank @id makes a region at @address.  @life: its number, whose slot it has; or
 * 0. */
uint32_t replay_slot_new(struct replay *replay, uint32_t id, uint64_t address,
                         uint64_t life);

/* The slot of the region at @address that rank @id means, which has number @life
 * or, if that is 0, is the last that was made there; MODEL_NO_SLOT, and the model
 * fails: none was. */
uint32_t replay_slot(struct replay *replay, uint32_t id, uint64_t address,
                     uint64_t life);

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

/* Of native regions that are acquired for what is newer.  0, or -1: no memory. */
int replay_versions_open(struct replay *replay);
void replay_versions_close(struct replay *replay);

/* Rank @id is about to release the region in @slot, by a line L. */
void replay_version_left(struct replay *replay, uint32_t id, uint32_t slot,
                         const struct record_line *line);

/* The version that what a line A gets must be newer than; 0: of any version. */
uint64_t replay_version_known(const struct replay *replay, uint32_t slot,
                              const struct record_line *line);

/*
 * Run the records, set in @replay with the costs, nodes and schedulers, and
 * print a line.  0, or 1 with a line on stderr.
 */
int replay_run(struct replay *replay, const char *name);

#endif
