/*
 * Ranks ask for parts of a region, and give up after some microseconds, while
 * the rank that has the region deletes them and makes new ones: giving up and
 * the end of what was asked for meet.
 */
#include "native_check.h"

#define ROUNDS 4000

int main(int argc, char **argv)
{
    static drasync_region_t part; /* of this round; the last rank's is read */
    drasync_region_t whole = NULL, asked;
    int err, over = 0;
    MPI_Win window;
    void *shared;

    check_start(&argc, &argv);
    MPI_Win_allocate_shared(check_rank ? 0 : 2 * sizeof(part), 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &shared, &window);
    if (check_rank) {
        MPI_Aint bytes;
        int unit;

        MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    } else {
        memset(shared, 0, 2 * sizeof(part));
        OK(drasync_new_region(&whole));
    }
    check_barrier();
    for (int round = 0; check_rank == 0 && round < ROUNDS; round++) {
        OK(drasync_new_subregion(whole, &part));
        __atomic_store_n((drasync_region_t *)shared, part, __ATOMIC_RELEASE);
        for (volatile int i = 0; i < round % 32 * 200; i++)
            ;
        OK(drasync_delete(part));
    }
    if (check_rank == 0)
        __atomic_store_n((drasync_region_t *)shared + 1, whole,
                         __ATOMIC_RELEASE);
    for (uint64_t i = 0; check_rank && !over; i++) {
        asked = __atomic_load_n((drasync_region_t *)shared, __ATOMIC_ACQUIRE);
        over = __atomic_load_n((drasync_region_t *)shared + 1,
                               __ATOMIC_ACQUIRE) != NULL;
        if (!asked)
            continue;
        err = drasync_acquire_timed(asked, DRASYNC_READ, 1 + i % 40);
        CHECK(err == DRASYNC_EAGAIN || err == DRASYNC_EDELETED ||
              err == DRASYNC_ENOREGION);
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(whole));
    MPI_Win_free(&window);
    return check_end("timed out");
}
