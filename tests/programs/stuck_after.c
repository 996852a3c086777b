/*
 * stuck_after: ranks 0 and 1 wait for each other's region after a function of
 * rank 2 had to wait on rank 0 for a copy, which a thread of the library's made.
 * They are a node, rank 2 another; DRASYNC_DEADLOCK=error, so one of them is told.
 */
#include "native_check.h"

static drasync_region_t regions[2];

static int nothing(drasync_region_t region, const void *arg, size_t arg_bytes,
                   void *answer, size_t answer_bytes)
{
    (void)region, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 0;
}

/* The function may write, so what rank 1 READs is copied for it. */
static void run_beside_reader(void)
{
    drasync_function_t function;

    OK(drasync_register("nothing", nothing, &function));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_acquire(regions[0], DRASYNC_READ));
    check_barrier();
    if (check_rank == 2)
        OK(drasync_run(regions[0], function, DRASYNC_WRITE, NULL, 0, NULL, 0));
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(regions[0]));
    check_barrier();
}

static int wait_for_each_other(void)
{
    int err = 0;

    if (check_rank < 2)
        OK(drasync_acquire(regions[check_rank], DRASYNC_WRITE));
    check_barrier();
    if (check_rank < 2) {
        err = drasync_acquire(regions[1 - check_rank], DRASYNC_WRITE);
        CHECK(!err || err == DRASYNC_EDEADLK);
        if (!err)
            OK(drasync_release(regions[1 - check_rank]));
        OK(drasync_release(regions[check_rank]));
    }
    return err == DRASYNC_EDEADLK;
}

int main(int argc, char **argv)
{
    void *object;
    int told, all;

    check_start(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        if (check_rank == i) {
            OK(drasync_new_region(&regions[i]));
            OK(drasync_alloc(regions[i], 100, &object));
            OK(drasync_release(regions[i]));
        }
        check_share(&regions[i], i);
    }
    run_beside_reader();
    told = wait_for_each_other();
    MPI_Allreduce(&told, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1);
    return check_end("stuck after");
}
