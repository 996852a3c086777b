/*
 * reacquire.h - a region of another node is read again: what the second READ
 * takes, and what the first one took.
 *
 * ours    the second drasync_acquire() for READ, and a look at every page
 * theirs  the first one of the same region, in which every page was written
 *         where it was made, and a look at every page
 *
 * Each measurement is a new region of 64 MiB.  2 ranks on 2 hosts.
 */
#ifndef BENCHMARKS_REACQUIRE_H
#define BENCHMARKS_REACQUIRE_H

#include "benchmarks/handover.h"
#include "benchmarks/pages.h"

#define REACQUIRE_BYTES      ((size_t)64 << 20)
#define REACQUIRE_BYTES_TINY ((size_t)1 << 20)

/* Read @object at rank 1; the time, at all ranks. */
static inline double reacquire_read(int rank, drasync_region_t region,
                                    const uint64_t *object, size_t bytes)
{
    double begin, us = 0;
    uint64_t sum = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        begin = bench_now_ns();
        bench_check(drasync_acquire(region, DRASYNC_READ), "acquire");
        us = (bench_now_ns() - begin) * 1e-3;
        sum = pages_read(object, bytes);
        bench_check(drasync_release(region), "release");
    }
    bench_keep(&sum);
    bench_barrier_asleep();
    return bench_told(us, 1);
}

/* Rank 0 changes each @every-th page; 0: none. */
static inline void reacquire_change(int rank, drasync_region_t region,
                                    uint64_t *object, size_t bytes,
                                    size_t every)
{
    if (rank != 0 || !every)
        return;
    bench_check(drasync_acquire(region, DRASYNC_WRITE), "acquire");
    pages_change(object, bytes, every);
    bench_check(drasync_release(region), "release");
}

static inline int reacquire_main(struct bench *b, int argc, char **argv,
                                 size_t every)
{
    size_t bytes;

    bench_start(b, argc, argv, 2);
    bytes = b->tiny ? REACQUIRE_BYTES_TINY : REACQUIRE_BYTES;
    for (int i = -1; i < b->runs; i++) {
        drasync_region_t region;
        uint64_t *object = (void *)handover_region(b->rank, bytes, &region);
        double first, again;

        reacquire_change(b->rank, region, object, bytes, 1);
        first = reacquire_read(b->rank, region, object, bytes);
        reacquire_change(b->rank, region, object, bytes, every);
        again = reacquire_read(b->rank, region, object, bytes);
        if (i >= 0) {
            bench_add(b, BENCH_OURS, again);
            bench_add(b, BENCH_THEIRS, first);
        }
        if (b->rank == 0)
            bench_check(drasync_delete(region), "delete");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return bench_finish(b);
}

#endif
