/*
 * Managed regions whose home only the manager of its addresses knows: 3 ranks,
 * each a node, and a small DRASYNC_SPACE.  Rank 2 makes them, on addresses that
 * rank 0 gave it; rank 1 refers to them, and links one into a circle.
 */
#include <unistd.h>

#include "native_check.h"

static int ended;

static void count_end(drasync_region_t region, void *arg)
{
    (void)region;
    (void)arg;
    ended++;
}

/* Held for WRITE, and managed. */
static drasync_region_t managed_region(void)
{
    drasync_region_t region;

    OK(drasync_new_region(&region));
    OK(drasync_manage(region));
    return region;
}

/* The addresses of this node are used up. */
static void use_up(void)
{
    struct drasync_stats stats;
    drasync_region_t region;

    do {
        OK(drasync_new_region(&region));
        OK(drasync_release(region));
        OK(drasync_get_stats(&stats));
    } while (!stats.chunk_requests);
}

/* Until so many of this node's regions have ended; what is told of may come a
 * little later. */
static void await_ended(uint64_t count)
{
    struct drasync_managed_stats stats;

    for (int i = 0; i < 1000; i++) {
        OK(drasync_collect());
        OK(drasync_get_managed_stats(&stats));
        if (stats.ended == count)
            return;
        usleep(10000);
    }
    CHECK(stats.ended == count);
}

/* What rank 1 does with a reference of @region. */
static void refer(drasync_region_t region)
{
    CODE(drasync_acquire(region, DRASYNC_READ), 0);
    OK(drasync_ref(region));
    CODE(drasync_manage(region), DRASYNC_EMANAGED);
    OK(drasync_release(region));
    OK(drasync_unref(region));
    OK(drasync_on_end(region, count_end, NULL));
}

/* A circle of @region, of rank 2, and one of this rank, which gives all its
 * references back. */
static void circle(drasync_region_t region)
{
    drasync_region_t mine = managed_region();

    OK(drasync_link(mine, region));
    OK(drasync_release(mine));
    OK(drasync_acquire(region, DRASYNC_WRITE));
    OK(drasync_link(region, mine));
    OK(drasync_release(region));
    OK(drasync_unref(mine));
    OK(drasync_unref(region));
}

int main(int argc, char **argv)
{
    drasync_region_t regions[2] = {NULL, NULL};

    check_start(&argc, &argv);
    OK(drasync_init());
    if (check_rank == 2) {
        use_up();
        for (int i = 0; i < 2; i++) {
            regions[i] = managed_region();
            OK(drasync_release(regions[i]));
            OK(drasync_ref_give(regions[i], 1));
        }
    }
    MPI_Bcast(regions, sizeof(regions), MPI_BYTE, 2, MPI_COMM_WORLD);
    if (check_rank == 1) {
        refer(regions[0]);
        circle(regions[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    /* Rank 1's own is in the circle, too. */
    if (check_rank == 1) {
        OK(drasync_unref(regions[0]));
        await_ended(1);
        for (int i = 0; i < 1000 && !ended; i++) {
            OK(drasync_collect());
            usleep(10000);
        }
        CHECK(ended == 1);
    }
    if (check_rank == 2)
        await_ended(2);
    return check_end("managed far");
}
