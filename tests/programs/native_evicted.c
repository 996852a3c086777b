/*
 * What memory that is short does to holds.
 *
 *   native_evicted deleted   a rank deletes a region that another node has, after
 *                            its own copy was evicted (each rank a node)
 *   native_evicted newer     an acquire of what is newer ends with ENOMEM after it
 *                            was granted (one node)
 *   native_evicted checked   a rank acquires what another node has, and of its own
 *                            memory only what was deleted is left: in checked mode
 *                            that is in quarantine (each rank a node)
 */
#include <unistd.h>

#include "native_check.h"

#define LARGE_BYTES ((size_t)36 << 20)

/* Until there is none: copies are evicted before. */
static drasync_region_t use_up_memory(void)
{
    drasync_region_t region;
    void *object;

    OK(drasync_new_region(&region));
    while (!drasync_alloc(region, 1 << 20, &object))
        continue;
    return region;
}

static void deleted(void)
{
    drasync_region_t region = NULL, large;
    void *object;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, 100, &object));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    for (int i = 0; i < 20; i++) {
        if (check_rank == 1) {
            OK(drasync_acquire(region, DRASYNC_WRITE));
            OK(drasync_release(region));
        }
        check_barrier();
        if (check_rank == 0 && i == 0) {
            large = use_up_memory();
            OK(drasync_delete(large));
        }
    }
    if (check_rank == 0) {
        large = use_up_memory();
        OK(drasync_delete(region));
        OK(drasync_delete(large));
    }
    check_barrier();
    /* Rank 1's node may have forgotten it by now. */
    if (check_rank == 1) {
        int err = drasync_acquire(region, DRASYNC_READ);

        CHECK(err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION);
    }
}

static void newer(void)
{
    drasync_region_t region = NULL;
    uint64_t version = 0, before;
    void *object;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, LARGE_BYTES, &object));
        memset(object, 1, LARGE_BYTES);
        OK(drasync_get_version(region, &version));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_barrier();
    if (check_rank == 1) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        OK(drasync_release(region));
        OK(drasync_acquire(region, DRASYNC_READ));
    }
    check_barrier();
    before = version;
    /* Its split has no room beside what rank 1 reads. */
    if (check_rank == 0)
        CODE(drasync_acquire_newer(region, DRASYNC_WRITE, &version, 5000000),
             DRASYNC_ENOMEM);
    CHECK(version == before);
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(region));
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_acquire_newer(region, DRASYNC_WRITE, &version, 5000000));
        CHECK(version > before);
        OK(drasync_delete(region));
    }
}

#define SMALL_BYTES ((size_t)1 << 20)
#define SMALL       256
#define DELETED     4

static void checked(void)
{
    drasync_region_t region = NULL, small[SMALL];
    void *object;
    int count = 0;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, 2 * SMALL_BYTES, &object));
        memset(object, 1, 2 * SMALL_BYTES);
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    if (check_rank == 1) {
        while (count < SMALL && !drasync_new_region(&small[count])) {
            if (drasync_alloc(small[count++], SMALL_BYTES, &object))
                break;
            memset(object, 2, SMALL_BYTES);
        }
        CHECK(count > 2 * DELETED && count < SMALL);
        for (int i = 0; i < DELETED; i++)
            OK(drasync_delete(small[--count]));
        OK(drasync_acquire(region, DRASYNC_READ));
        OK(drasync_release(region));
        while (count)
            OK(drasync_delete(small[--count]));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    check_start(&argc, &argv);
    if (!strcmp(what, "deleted"))
        deleted();
    else if (!strcmp(what, "checked"))
        checked();
    else
        newer();
    return check_end("evicted");
}
