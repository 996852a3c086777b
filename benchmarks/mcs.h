/*
 * mcs.h - the lock that users of MPI-3 make from one-sided operations: a queue in
 * the manner of Mellor-Crummey and Scott, whose tail is at rank 0.
 *
 * Whoever waits looks at a word of its own window; if there are more ranks than
 * cores it yields its core between two looks, which is to its advantage: MPICH's
 * own waiting spins.  The window is locked for all.
 */
#ifndef BENCHMARKS_MCS_H
#define BENCHMARKS_MCS_H

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>

#include "benchmarks/common.h"

/* At the head of each rank's window: the next one in the queue, and whether to
 * wait; -1: none.  tail: rank 0's. */
struct mcs_words {
    int64_t next, blocked, tail, pad;
};

struct mcs {
    MPI_Win win;
    int me;
    bool yields;
};

#define MCS_WORDS     ((struct mcs_words){.next = -1, .tail = -1})
#define MCS_AT(field) ((MPI_Aint)offsetof(struct mcs_words, field))

static inline int64_t mcs_swap(const struct mcs *m, int64_t value, int rank,
                               MPI_Aint at, MPI_Op op)
{
    int64_t old;

    MPI_Fetch_and_op(&value, &old, MPI_INT64_T, rank, at, op, m->win);
    MPI_Win_flush(rank, m->win);
    return old;
}

/* Wait until a word of the own window is no longer @value. */
static inline int64_t mcs_wait(const struct mcs *m, MPI_Aint at, int64_t value)
{
    int64_t now;

    while ((now = mcs_swap(m, 0, m->me, at, MPI_NO_OP)) == value)
        if (m->yields)
            sched_yield();
    return now;
}

static inline void mcs_lock(const struct mcs *m)
{
    int64_t before;

    mcs_swap(m, -1, m->me, MCS_AT(next), MPI_REPLACE);
    mcs_swap(m, 1, m->me, MCS_AT(blocked), MPI_REPLACE);
    before = mcs_swap(m, m->me, 0, MCS_AT(tail), MPI_REPLACE);
    if (before >= 0) {
        mcs_swap(m, m->me, (int)before, MCS_AT(next), MPI_REPLACE);
        mcs_wait(m, MCS_AT(blocked), 1);
    }
}

static inline void mcs_unlock(const struct mcs *m)
{
    int64_t next = mcs_swap(m, 0, m->me, MCS_AT(next), MPI_NO_OP);

    if (next < 0) {
        int64_t none = -1, mine = m->me, old;

        MPI_Compare_and_swap(&none, &mine, &old, MPI_INT64_T, 0, MCS_AT(tail),
                             m->win);
        MPI_Win_flush(0, m->win);
        if (old == mine)
            return;
        next = mcs_wait(m, MCS_AT(next), -1);
    }
    mcs_swap(m, 0, (int)next, MCS_AT(blocked), MPI_REPLACE);
}

#endif
