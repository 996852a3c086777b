/*
 * async.h - the rivals of rows about ranks that compute: MPI with a thread of its
 * own in each process that looks after messages, as MPICH's users ask for it
 * (MPIR_CVAR_ASYNC_PROGRESS), and MPI without.
 */
#ifndef BENCHMARKS_ASYNC_H
#define BENCHMARKS_ASYNC_H

#include <stdlib.h>

#include "benchmarks/common.h"

enum { ASYNC, PLAIN };

static const char *const async_rivals[] = {"async", "plain"};

/* bench_start() with these rivals. */
static inline void async_start(struct bench *b, int argc, char **argv,
                               int ranks_needed)
{
    b->rivals = async_rivals;
    b->rivals_count = PLAIN + 1;
    bench_begin(b, argc, argv);
    if (bench_only_theirs(b) && b->rival == ASYNC)
        bench_require(!setenv("MPIR_CVAR_ASYNC_PROGRESS", "1", 1), "setenv");
    bench_mpi_start(b, ranks_needed);
}

#endif
