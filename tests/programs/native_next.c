/*
 * Four ranks, two on a node: while rank 0 waits for a region the last rank, on
 * the other node, deletes it, makes another, which may have its address, and
 * tells rank 1.  That acquires the new one, whatever its own node still knows of
 * the old one.
 */
#include <time.h>

#include "native_check.h"

#define ROUNDS 300

static void nap(int round)
{
    const struct timespec t = {.tv_nsec = round % 3 * 200000};

    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    drasync_region_t old = NULL, next = NULL;
    int last, err;
    void *v;

    check_start(&argc, &argv);
    last = check_ranks - 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (check_rank == last)
            OK(drasync_new_region(&old));
        check_share(&old, last);
        if (check_rank == 0) {
            err = drasync_acquire(old, DRASYNC_READ);
            CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION ||
                  err == 0); /* or it came late, and had the next one */
            if (!err)
                OK(drasync_release(old));
        } else if (check_rank == last) {
            nap(round);
            OK(drasync_delete(old));
            OK(drasync_new_region(&next));
            OK(drasync_alloc(next, sizeof(int), &v));
            *(int *)v = round;
            OK(drasync_set_root(next, v));
            OK(drasync_release(next));
            MPI_Send(&next, sizeof(next), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        } else if (check_rank == 1) {
            MPI_Recv(&next, sizeof(next), MPI_BYTE, last, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            OK(drasync_acquire(next, round % 2 ? DRASYNC_WRITE : DRASYNC_READ));
            OK(drasync_get_root(next, &v));
            CHECK(*(int *)v == round);
            OK(drasync_release(next));
        }
        check_barrier();
        if (check_rank == last)
            OK(drasync_delete(next));
        check_barrier();
    }
    return check_end("next");
}
