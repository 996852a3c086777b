/*
 * dart.h - for the rows about DART: memory of each unit for our side, a plain
 * window of MPI for theirs, and the lock that users of MPI-3 make from it.
 */
#ifndef BENCHMARKS_DART_H
#define BENCHMARKS_DART_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/common.h"
#include "dash/dart/if/dart.h"

/* The other of two units' part, as each side has it. */
struct dart_memory {
    size_t bytes;
    int rank, other;
    dart_gptr_t mine, there; /* ours */
    MPI_Win win;             /* theirs, locked for all */
};

static inline void dart_check(dart_ret_t ret, const char *what)
{
    bench_require(ret == DART_OK, what);
}

/* Start what the side needs, with @bytes for each unit; between bench_start()
 * and dart_memory_end(). */
static inline void dart_memory_make(struct dart_memory *m,
                                    const struct bench *b, size_t bytes)
{
    void *here;

    m->bytes = bytes;
    m->rank = b->rank;
    m->other = 1 - b->rank;
    if (!bench_only_theirs(b)) {
        dart_check(dart_init(NULL, NULL), "dart_init");
        dart_check(dart_team_memalloc_aligned(DART_TEAM_ALL, bytes,
                                              DART_TYPE_BYTE, &m->mine),
                   "dart_team_memalloc_aligned");
        m->there = m->mine;
        dart_check(dart_gptr_setunit(&m->mine, DART_TEAM_UNIT_ID(m->rank)),
                   "dart_gptr_setunit");
        dart_check(dart_gptr_setunit(&m->there, DART_TEAM_UNIT_ID(m->other)),
                   "dart_gptr_setunit");
        dart_check(dart_gptr_getaddr(m->mine, &here), "dart_gptr_getaddr");
    } else {
        MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                         (void *)&here, &m->win);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, m->win);
    }
    memset(here, 0, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each side's own. */
static inline void dart_side_barrier(bool ours)
{
    if (ours)
        dart_check(dart_barrier(DART_TEAM_ALL), "dart_barrier");
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

static inline void dart_memory_end(struct dart_memory *m, const struct bench *b)
{
    if (bench_only_theirs(b)) {
        MPI_Win_unlock_all(m->win);
        MPI_Win_free(&m->win);
    } else {
        m->mine.unitid = 0;
        dart_check(dart_team_memfree(m->mine), "dart_team_memfree");
        dart_check(dart_exit(), "dart_exit");
    }
}

#endif
