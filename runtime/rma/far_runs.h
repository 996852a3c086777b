/*
 * far_runs.h - inside runtime/rma/far_runs*.c: transfers in shapes.
 *
 *   PUT_RUNS  blocks of bytes, packed, and where they go, as a list of runs
 *   GET_RUNS  such a list; the bytes come packed, with DATA
 *
 * What is longer than one packet goes as several such messages.  They are
 * handled as they come, so all that far.h says of small puts is true of them.
 */
#ifndef DRASYNC_RUNTIME_RMA_FAR_RUNS_H
#define DRASYNC_RUNTIME_RMA_FAR_RUNS_H

#include "runtime/rma/far.h"

/* A message with its list and its data; and its data at most. */
#define FAR_RUNS_BYTES ((size_t)16 << 10)
#define FAR_RUNS_DATA_BYTES \
    (FAR_RUNS_BYTES - sizeof(struct far_runs_head) - sizeof(struct far_run))

struct far_runs_head {
    uint64_t ticket; /* the asker's; 0: no answer */
    uint64_t runs;   /* that follow; for PUT_RUNS the data follows them */
    uint64_t bytes;  /* of all of them */
};

/* @count blocks of @bytes, each @stride after the one before. */
struct far_run {
    uint64_t place, stride;
    uint32_t bytes, count;
};

/* What one DATA is to be unpacked into: runs whose places are addresses. */
struct far_piece {
    struct far_piece *next;
    uint64_t bytes, count;
    struct far_run runs[];
};

/* Between a run at @at and @packed bytes; how many. */
size_t far_run_pack(const struct far_run *run, const char *at, char *packed);
size_t far_run_unpack(const struct far_run *run, char *at, const char *packed);

/* So many bytes it spans from its place on; 0: none, or too many. */
uint64_t far_run_span(const struct far_run *run);

/* @packed as @piece has it. */
void far_piece_unpack(const struct far_piece *piece, const char *packed);

/* In a module's start. */
void far_runs_serve_start(void);

#endif /* DRASYNC_RUNTIME_RMA_FAR_RUNS_H */
