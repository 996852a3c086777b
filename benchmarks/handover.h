/*
 * handover.h - two ranks hand a region to each other for WRITE, in turns.
 */
#ifndef BENCHMARKS_HANDOVER_H
#define BENCHMARKS_HANDOVER_H

#include "benchmarks/common.h"
#include "benchmarks/pages.h"

#include <mpi.h>

/* At the start of the region's object. */
struct handed {
    volatile uint64_t turn; /* how often it was handed over */
};

/*
 * Make a region with one object of @bytes on rank 0 and tell the others; with
 * root pointer set, nobody holds it.
 */
static inline struct handed *handover_region(int rank, size_t bytes,
                                             drasync_region_t *region_out)
{
    struct {
        drasync_region_t region;
        void *object;
    } made = {0};

    if (rank == 0) {
        bench_check(drasync_new_region(&made.region), "new_region");
        bench_check(drasync_alloc(made.region, bytes, &made.object), "alloc");
        ((struct handed *)made.object)->turn = 0;
        bench_check(drasync_release(made.region), "release");
    }
    MPI_Bcast(&made, sizeof(made), MPI_BYTE, 0, MPI_COMM_WORLD);
    *region_out = made.region;
    return made.object;
}

/* Rank @from changes every page of @object, of @bytes, and the other one takes
 * it: how many ms drasync_acquire() for WRITE and a look at every page took. */
static inline double handover_pages_from(int rank, int from,
                                         drasync_region_t region,
                                         uint64_t *object, size_t bytes)
{
    double begin, ms = 0;
    uint64_t sum = 0;

    if (rank == from) {
        bench_check(drasync_acquire(region, DRASYNC_WRITE), "acquire");
        pages_change(object, bytes, 1);
        bench_check(drasync_release(region), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1 - from) {
        begin = bench_now_ns();
        bench_check(drasync_acquire(region, DRASYNC_WRITE), "acquire");
        sum = pages_read(object, bytes);
        ms = (bench_now_ns() - begin) * 1e-6;
        bench_check(drasync_release(region), "release");
    }
    bench_keep(&sum);
    bench_barrier_asleep();
    return bench_told(ms, 1 - from);
}

/* The mean of @count of these, to and fro in turns. */
static inline double handover_pages(int rank, int count,
                                    drasync_region_t region, uint64_t *object,
                                    size_t bytes)
{
    double ms = 0;

    for (int i = 0; i < count; i++)
        ms += handover_pages_from(rank, i % 2, region, object, bytes);
    return ms / count;
}

#endif
