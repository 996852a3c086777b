/*
 * Two threads of a rank take gifts: what one of them has to put back, as it cannot
 * have the region in time, is for the other one, which waits already.
 */
#include <pthread.h>
#include <unistd.h>

#include "native_check.h"

static void *takes(void *region_out)
{
    /* As a rule when the other one has the gift out. */
    usleep(50000);
    OK(drasync_take(0, 7, 20000000, region_out, NULL));
    return NULL;
}

int main(int argc, char **argv)
{
    drasync_region_t region = NULL, got = NULL, none;
    pthread_t thread;

    check_start_threads(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    if (check_rank == 1)
        OK(drasync_acquire(region, DRASYNC_READ));
    check_barrier();
    if (check_rank == 0) {
        /* The gift is there, and the region held again. */
        OK(drasync_acquire(region, DRASYNC_WRITE));
        OK(drasync_give(region, 1, 7));
        OK(drasync_acquire(region, DRASYNC_WRITE));
    }
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_release(region));
        CHECK(!pthread_create(&thread, NULL, takes, &got));
        CODE(drasync_take(0, 7, 500000, &none, NULL), DRASYNC_EAGAIN);
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_release(region));
    if (check_rank == 1) {
        CHECK(!pthread_join(thread, NULL));
        CHECK(got == region);
        OK(drasync_delete(region));
    }
    return check_end("take threads");
}
