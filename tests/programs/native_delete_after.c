/*
 * Ranks read and write a region and its part; behind a barrier, when all have
 * released, one of them deletes it, and is not refused.
 */
#include "native_check.h"

#define ROUNDS 3000

static uint64_t state = 88172645463325252u;

static uint32_t number(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    state += (uint64_t)check_rank * 7919;
    for (int round = 0; round < ROUNDS; round++) {
        int maker = round % check_ranks, by = round / check_ranks % check_ranks;
        drasync_region_t region[2] = {NULL, NULL}, one;

        if (check_rank == maker) {
            OK(drasync_new_region(&region[0]));
            OK(drasync_new_subregion(region[0], &region[1]));
            OK(drasync_release(region[0]));
        }
        MPI_Bcast(region, sizeof(region), MPI_BYTE, maker, MPI_COMM_WORLD);
        one = region[number(2)];
        if (number(4)) {
            OK(drasync_acquire(one, number(2) ? DRASYNC_WRITE : DRASYNC_READ));
            OK(drasync_release(one));
        }
        check_barrier();
        if (check_rank == by)
            OK(drasync_delete(region[0]));
    }
    return check_end("delete after");
}
