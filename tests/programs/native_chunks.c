/*
 * Regions on addresses from the manager: a node whose own are used up asks for
 * a chunk, and everybody finds the regions there.  Run with a small
 * DRASYNC_SPACE and several nodes.
 */
#include "native_check.h"

#define FOREVER_US ((uint64_t)20 * 1000 * 1000)

/* Regions until the addresses of this node are used up, and one more. */
static drasync_region_t region_on_chunk(void)
{
    struct drasync_stats stats;
    drasync_region_t region;

    do {
        OK(drasync_new_region(&region));
        OK(drasync_get_stats(&stats));
        if (!stats.chunk_requests)
            OK(drasync_release(region));
    } while (!stats.chunk_requests);
    return region;
}

int main(int argc, char **argv)
{
    drasync_region_t region = NULL;
    void *object;

    check_start(&argc, &argv);
    OK(drasync_init());
    if (check_rank == check_ranks - 1) {
        region = region_on_chunk();
        OK(drasync_alloc(region, sizeof(int), &object));
        *(int *)object = 4711;
        OK(drasync_set_root(region, object));
        OK(drasync_release(region));
        OK(drasync_publish("late", region));
    }
    OK(drasync_lookup("late", FOREVER_US, &region));
    OK(drasync_acquire_timed(region, DRASYNC_READ, FOREVER_US));
    OK(drasync_get_root(region, &object));
    CHECK(*(int *)object == 4711);
    OK(drasync_release(region));
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0)
        OK(drasync_delete(region));
    return check_end("chunks");
}
