/*
 * dart_lock.h - the rows about a lock of two units of a node: our side's DART
 * lock; theirs a ticket lock and an MCS lock in a shared window (shared_window.h),
 * and the lock of mcs.h (mpi).  All homes are unit 0.
 */
#ifndef BENCHMARKS_DART_LOCK_H
#define BENCHMARKS_DART_LOCK_H

#include "benchmarks/dart.h"
#include "benchmarks/mcs.h"
#include "benchmarks/shared_window.h"

enum { LOCK_TICKET, LOCK_MCS, LOCK_MPI };

static const char *const lock_rivals[] = {"ticket", "mcs", "mpi"};

struct lock_row {
    struct bench bench;
    struct dart_memory memory;
    dart_lock_t lock;
    struct mcs mcs;
    struct shared_window shared;
};

static inline bool lock_row_is_shared(const struct lock_row *row)
{
    return bench_only_theirs(&row->bench) && row->bench.rival != LOCK_MPI;
}

static inline void lock_row_make(struct lock_row *row, int argc, char **argv,
                                 size_t bytes)
{
    struct bench *b = &row->bench;
    struct mcs_words words = MCS_WORDS;

    b->rivals = lock_rivals;
    b->rivals_count = LOCK_MPI + 1;
    bench_start(b, argc, argv, 2);
    if (lock_row_is_shared(row)) {
        shared_window_make(&row->shared, b, MPI_COMM_WORLD, bytes);
        return;
    }
    dart_memory_make(&row->memory, b, bytes);
    if (!bench_only_theirs(b)) {
        dart_check(dart_team_lock_init(DART_TEAM_ALL, &row->lock),
                   "dart_team_lock_init");
        return;
    }
    row->mcs = (struct mcs){
        .win = row->memory.win, .me = b->rank, .yields = b->ranks > b->cores};
    MPI_Put(&words, sizeof(words), MPI_BYTE, b->rank, 0, sizeof(words),
            MPI_BYTE, row->mcs.win);
    MPI_Win_flush(b->rank, row->mcs.win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline int lock_row_end(struct lock_row *row)
{
    if (lock_row_is_shared(row)) {
        shared_window_end(&row->shared);
        return bench_finish(&row->bench);
    }
    if (!bench_only_theirs(&row->bench))
        dart_check(dart_team_lock_destroy(&row->lock),
                   "dart_team_lock_destroy");
    dart_memory_end(&row->memory, &row->bench);
    return bench_finish(&row->bench);
}

#endif
