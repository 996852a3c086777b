/*
 * Circles of managed regions some of which have subregions end in
 * drasync_collect(), with all that is below them: where only their maker has met
 * them, where another rank has, and where one of the subregions is held, as soon
 * as it is not.
 */
#include <stdbool.h>

#include "native_check.h"

#define LENGTH 3
#define BELOW  4

static drasync_region_t circle[LENGTH], below[BELOW];

/* The second one has subregions, each with one below it. */
static void make(void)
{
    for (int i = 0; i < LENGTH; i++)
        OK(drasync_new_region(&circle[i]));
    for (int i = 0; i < BELOW; i++) {
        drasync_region_t deeper;
        void *v;

        OK(drasync_new_subregion(circle[1], &below[i]));
        OK(drasync_new_subregion(below[i], &deeper));
        OK(drasync_alloc(deeper, 3000, &v));
        memset(v, i, 3000);
    }
    for (int i = 0; i < LENGTH; i++)
        OK(drasync_manage(circle[i]));
    for (int i = 0; i < LENGTH; i++)
        OK(drasync_link(circle[i], circle[(i + 1) % LENGTH]));
    for (int i = 0; i < LENGTH; i++)
        OK(drasync_release(circle[i]));
}

static void meet(drasync_region_t r, enum drasync_mode mode)
{
    OK(drasync_acquire(r, mode));
    OK(drasync_release(r));
}

static uint64_t collect(void)
{
    struct drasync_managed_stats stats;

    OK(drasync_collect());
    OK(drasync_get_managed_stats(&stats));
    return stats.ended;
}

/* @met: by the last rank too; @held: by its maker meanwhile. */
static void one(bool met, bool held)
{
    struct drasync_managed_stats before;

    if (check_rank == 0)
        make();
    for (int i = 0; i < BELOW; i++)
        check_share(&below[i], 0);
    if (met && check_rank == check_ranks - 1)
        meet(below[1], DRASYNC_WRITE);
    if (met && check_rank == check_ranks - 1)
        meet(below[2], DRASYNC_READ);
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_get_managed_stats(&before));
        if (held)
            OK(drasync_acquire(below[3], DRASYNC_WRITE));
        for (int i = 0; i < LENGTH; i++)
            OK(drasync_unref(circle[i]));
        if (held) {
            CHECK(collect() == before.ended);
            OK(drasync_release(below[3]));
        }
        for (int tries = 0; collect() < before.ended + LENGTH; tries++)
            CHECK(tries < 1000);
        CHECK(drasync_acquire(below[0], DRASYNC_READ) == DRASYNC_EDELETED ||
              drasync_acquire(below[0], DRASYNC_READ) == DRASYNC_ENOREGION);
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < 20; round++) {
        one(false, false);
        one(true, false);
        one(false, true);
        one(true, true);
    }
    return check_end("circle below");
}
