/*
 * With DRASYNC_MEMORY=64M, two ranks, each a node: a region that grows into the
 * last of a node's memory takes what is left of it, in few extents, and does not
 * have copies of others thrown away for more than it needs.
 */
#include "native_check.h"

#define MIB            ((size_t)1 << 20)
#define OBJECT_BYTES   2560 /* one in a page by itself, 3 in 2 pages */
#define NEARLY_ALL     (60 * MIB)
#define OBJECTS_OF_ALL (NEARLY_ALL / OBJECT_BYTES)

static struct drasync_stats stats(void)
{
    struct drasync_stats s;

    OK(drasync_get_stats(&s));
    return s;
}

/* Grow @r until nearly all memory of the node is in use. */
static void grow(drasync_region_t r)
{
    void *v;

    while (stats().reserved_bytes < NEARLY_ALL)
        OK(drasync_alloc(r, OBJECT_BYTES, &v));
}

/* @seen is another node's, and has been read. */
static void copy_stays(drasync_region_t seen)
{
    drasync_region_t mine;
    uint64_t before;

    OK(drasync_acquire(seen, DRASYNC_READ));
    OK(drasync_release(seen));
    OK(drasync_new_region(&mine));
    grow(mine);
    before = stats().bytes_received;
    OK(drasync_acquire(seen, DRASYNC_READ));
    OK(drasync_release(seen));
    CHECK(stats().bytes_received == before);
    OK(drasync_delete(mine));
}

static void fills_all(void)
{
    drasync_region_t r;
    size_t count = 0;
    void *v;
    int err;

    OK(drasync_new_region(&r));
    while ((err = drasync_alloc(r, OBJECT_BYTES, &v)) == 0)
        count++;
    CODE(err, DRASYNC_ENOMEM);
    CHECK(count > OBJECTS_OF_ALL / 100 * 81);
    OK(drasync_delete(r));
}

int main(int argc, char **argv)
{
    drasync_region_t seen = NULL;
    void *v;

    check_start(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&seen));
        OK(drasync_alloc(seen, 4 * MIB, &v));
        memset(v, 1, 4 * MIB);
        OK(drasync_release(seen));
    }
    check_share(&seen, 0);
    if (check_rank == 1) {
        copy_stays(seen);
        fills_all();
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(seen));
    return check_end("room");
}
