/*
 * The first call on managed regions of a rank that was given a reference, which
 * is FORM: unref, ref, weak, give, on_end, link, stats or delete.  It knows what
 * ranks of its node did before.  The region ends when rank 1 has given the
 * reference back.  With "handle FILE" it tries the weak handle in FILE, of an
 * earlier job, and then leaves its own there.
 */
#include <stdio.h>

#include "native_check.h"

static int ended;

static void count_end(drasync_region_t region, void *arg)
{
    (void)region;
    (void)arg;
    ended++;
}

/* The job before had a region at this address, too. */
static void handle(const char *path, drasync_region_t region)
{
    drasync_weak_t mine, before;
    drasync_region_t got;
    FILE *file = fopen(path, "rb");

    OK(drasync_weak(region, &mine));
    if (file) {
        CHECK(fread(&before, sizeof(before), 1, file) == 1);
        CHECK(!((before.word[0] ^ mine.word[0]) & 0x7ffffffff000));
        CODE(drasync_weak_lock(&before, &got), DRASYNC_EINVAL);
        fclose(file);
    }
    file = fopen(path, "wb");
    CHECK(file && fwrite(&mine, sizeof(mine), 1, file) == 1 && !fclose(file));
}

static void first_call(const char *form, drasync_region_t region)
{
    struct drasync_managed_stats stats;
    drasync_weak_t weak;
    drasync_region_t other;

    if (!strcmp(form, "ref")) {
        OK(drasync_ref(region));
        OK(drasync_unref(region));
    } else if (!strcmp(form, "weak")) {
        OK(drasync_weak(region, &weak));
    } else if (!strcmp(form, "give")) {
        OK(drasync_ref_give(region, check_rank));
    } else if (!strcmp(form, "on_end")) {
        OK(drasync_on_end(region, count_end, NULL));
    } else if (!strcmp(form, "link")) {
        OK(drasync_new_region(&other));
        CODE(drasync_link(other, region), DRASYNC_EINVAL); /* unmanaged */
        OK(drasync_release(other));
        OK(drasync_delete(other));
    } else if (!strcmp(form, "stats")) {
        OK(drasync_get_managed_stats(&stats));
        CHECK(stats.managed == (getenv("DRASYNC_NODE") ? 0 : 1));
    } else if (!strcmp(form, "delete")) {
        CODE(drasync_delete(region), DRASYNC_EMANAGED);
    }
    OK(drasync_unref(region));
}

int main(int argc, char **argv)
{
    const char *form = argc > 1 ? argv[1] : "unref";
    struct drasync_managed_stats stats;
    drasync_region_t region;

    check_start(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_manage(region));
        OK(drasync_ref_give(region, 1));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    if (check_rank == 1 && argc > 2)
        handle(argv[2], region);
    if (check_rank == 1)
        first_call(form, region);
    check_barrier();
    do {
        OK(drasync_collect());
        OK(drasync_get_managed_stats(&stats));
    } while (check_rank == 0 && stats.ended != 1);
    if (check_rank == 1 && !strcmp(form, "on_end"))
        while (!ended)
            OK(drasync_collect());
    return check_end(form);
}
