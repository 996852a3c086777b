/*
 * small_regions.h - small regions of rank 0, which other ranks ask for one by
 * one.
 */
#ifndef BENCHMARKS_SMALL_REGIONS_H
#define BENCHMARKS_SMALL_REGIONS_H

#include "benchmarks/common.h"

#include <mpi.h>

struct small_region {
    drasync_region_t region;
    volatile uint64_t *object;
};

/* Rank 0 makes @count regions with an object of @bytes each, which all ranks
 * come to know and nobody holds. */
static inline void small_regions_make(int rank, struct small_region *made,
                                      int count, size_t bytes)
{
    for (int i = 0; rank == 0 && i < count; i++) {
        void *object;

        bench_check(drasync_new_region(&made[i].region), "new_region");
        bench_check(drasync_alloc(made[i].region, bytes, &object), "alloc");
        bench_check(drasync_release(made[i].region), "release");
        made[i].object = object;
    }
    MPI_Bcast(made, count * (int)sizeof(*made), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Their owner writes into each. */
static inline void small_regions_change(const struct small_region *made,
                                        int count)
{
    for (int i = 0; i < count; i++) {
        bench_check(drasync_acquire(made[i].region, DRASYNC_WRITE), "acquire");
        ++*made[i].object;
        bench_check(drasync_release(made[i].region), "release");
    }
}

#endif
