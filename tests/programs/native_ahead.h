/*
 * native_ahead.h - what programs that ask ahead share: a region of rank 0 that
 * another rank, which is another node, uses.
 */
#ifndef TESTS_PROGRAMS_NATIVE_AHEAD_H
#define TESTS_PROGRAMS_NATIVE_AHEAD_H

#include "native_check.h"

#define BYTES ((size_t)256 << 10)

__attribute__((unused)) static struct drasync_stats stats(void)
{
    struct drasync_stats s;

    OK(drasync_get_stats(&s));
    return s;
}

/* A region of rank 0 with @bytes in it, released; *object_out is there. */
__attribute__((unused)) static drasync_region_t made(size_t bytes,
                                                     int **object_out)
{
    struct {
        drasync_region_t region;
        void *object;
    } shared = {0};

    if (check_rank == 0) {
        OK(drasync_new_region(&shared.region));
        OK(drasync_alloc(shared.region, bytes, &shared.object));
        memset(shared.object, 0, bytes);
        OK(drasync_release(shared.region));
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    *object_out = shared.object;
    return shared.region;
}

__attribute__((unused)) static void wait_owned(drasync_region_t region)
{
    struct drasync_info info = {0};

    while (!info.owned_here)
        OK(drasync_get_info(region, &info));
}

__attribute__((unused)) static void write_all(drasync_region_t region,
                                              int *object, int value)
{
    OK(drasync_acquire(region, DRASYNC_WRITE));
    for (size_t i = 0; i < BYTES / sizeof(int); i++)
        object[i] = value;
    OK(drasync_release(region));
}

static uint64_t random_state;

__attribute__((unused)) static uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(random_state >> 33) % limit;
}

#endif /* TESTS_PROGRAMS_NATIVE_AHEAD_H */
