/*
 * A thread that works on many regions by turns knows the leases of most of
 * them (native/lease_inline.h), so that an acquire takes no step; also where it
 * allocates an object each time (native/magazine.h), and where all are parts of
 * one tree.
 *
 * Linked to the runtime's objects, as it looks at what the thread knows.
 */
#include "native_check.h"

#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"

#define REGIONS_MAX 256

static drasync_region_t regions[REGIONS_MAX];

static void make_parts(drasync_region_t *top_out)
{
    OK(drasync_new_region(top_out));
    for (int i = 0; i < REGIONS_MAX; i++)
        OK(drasync_new_subregion(*top_out, &regions[i]));
    OK(drasync_release(*top_out));
}

/* Regions lie as a program's do: some beside each other, some far apart. */
static void make_regions(void)
{
    void *object;

    for (int i = 0; i < REGIONS_MAX; i++) {
        OK(drasync_new_region(&regions[i]));
        OK(drasync_alloc(regions[i], (size_t)1024 << i % 9, &object));
        OK(drasync_release(regions[i]));
    }
}

/* Of how many of the first @count regions does this thread know a lease that
 * stands? */
static int standing(int count)
{
    int n = 0;

    for (int i = 0; i < count; i++) {
        const struct native_lease *l = native_lease_of((uintptr_t)regions[i]);

        n += l && word_same(atomic_load(&l->slot->word), l->word);
    }
    return n;
}

/* The same, after it has worked on them by turns. */
static int known(int count)
{
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < count; i++) {
            OK(drasync_acquire(regions[i], DRASYNC_WRITE));
            OK(drasync_release(regions[i]));
        }
    return standing(count);
}

/* An object in each of the first @count: how many leases go on? */
static int go_on(int count)
{
    void *object;
    int n = 0;

    for (int i = 0; i < count; i++) {
        const struct native_lease *l = native_lease_of((uintptr_t)regions[i]);
        uint64_t before = l ? l->word : 0;

        OK(drasync_acquire(regions[i], DRASYNC_WRITE));
        OK(drasync_alloc(regions[i], 16, &object));
        OK(drasync_release(regions[i]));
        n += l && word_same(atomic_load(&l->slot->word), before);
    }
    return n;
}

int main(int argc, char **argv)
{
    drasync_region_t top;

    check_start(&argc, &argv);
    make_regions();
    CHECK(known(1) == 1);
    CHECK(known(64) >= 56);
    CHECK(go_on(64) >= 48);
    CHECK(known(REGIONS_MAX) >= REGIONS_MAX * 2 / 3);
    make_parts(&top);
    CHECK(known(64) >= 56);
    CHECK(go_on(64) >= 48);
    /* Who takes the tree ends all leases in it, and has what is true. */
    OK(drasync_acquire(top, DRASYNC_WRITE));
    CHECK(standing(64) == 0);
    OK(drasync_acquire(regions[0], DRASYNC_WRITE));
    OK(drasync_release(regions[0]));
    OK(drasync_release(top));
    CHECK(known(64) >= 56);
    OK(drasync_acquire(top, DRASYNC_READ));
    CHECK(standing(64) == 0);
    OK(drasync_release(top));
    return check_end("known");
}
