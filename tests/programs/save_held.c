/*
 * Saving beside ranks that hold what is saved.
 *
 *   save_held by_time FILE   with DRASYNC_SAVE: rank 0 has the region for WRITE for
 *                            some seconds, in which nothing is saved; then it is
 *   save_held ring           rank 0 saves what rank 1 has, which waits for what
 *                            rank 0 has
 *   save_held pinned         the same, and what rank 1 waits for is rank 0's only
 *                            because it saves it, with what rank 1 has
 *   save_held beside         with DRASYNC_SAVE: a part is held, and another one
 *                            is taken meanwhile
 *   save_held turns FILE     with DRASYNC_SAVE: each rank has a part for half a
 *                            second, again and again, until all is saved
 *   save_held names FILE     a region with thousands of names
 *   save_held read FILE      rank 1 deletes what rank 0 saves
 */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "native_check.h"

#define LARGE_BYTES ((size_t)64 << 20)

static void by_time(const char *path)
{
    drasync_region_t region;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_publish("held", region));
        /* The first time to save comes after one second. */
        sleep(3);
        CHECK(access(path, F_OK) < 0);
        OK(drasync_release(region));
        while (access(path, F_OK) < 0)
            usleep(10000);
        OK(drasync_acquire(region, DRASYNC_WRITE));
    }
}

static void ring(void)
{
    drasync_region_t mine, all[2];

    CHECK(check_ranks == 2);
    OK(drasync_new_region(&mine));
    MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE,
                  MPI_COMM_WORLD);
    if (check_rank == 0)
        drasync_save(all[1], "/dev/null/none");
    else
        drasync_acquire(all[0], DRASYNC_WRITE);
}

static void pinned(void)
{
    drasync_region_t all[3] = {NULL, NULL, NULL};

    CHECK(check_ranks == 2);
    if (check_rank == 0) {
        OK(drasync_new_region(&all[0]));
        OK(drasync_new_subregion(all[0], &all[1]));
        OK(drasync_new_subregion(all[0], &all[2]));
        OK(drasync_release(all[0]));
    }
    MPI_Bcast(all, sizeof(all), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (check_rank == 1)
        OK(drasync_acquire(all[2], DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 0)
        drasync_save(all[0], "/dev/null/none");
    sleep(1); /* by then it waits */
    drasync_acquire(all[1], DRASYNC_WRITE);
}

static void beside(void)
{
    drasync_region_t top, parts[2];

    OK(drasync_new_region(&top));
    OK(drasync_publish("tree", top));
    OK(drasync_new_subregion(top, &parts[0]));
    OK(drasync_new_subregion(top, &parts[1]));
    OK(drasync_release(top));
    OK(drasync_acquire(parts[1], DRASYNC_WRITE));
    /* The first time to save comes after one second. */
    for (int i = 0; i < 2000; i++) {
        OK(drasync_acquire_timed(parts[0], DRASYNC_WRITE, 3000000));
        OK(drasync_release(parts[0]));
        usleep(1000);
    }
    OK(drasync_release(parts[1]));
}

static void turns(const char *path)
{
    drasync_region_t top, parts[4];
    int saved = 0;

    CHECK(check_ranks == 4);
    if (check_rank == 0) {
        OK(drasync_new_region(&top));
        OK(drasync_publish("tree", top));
        for (int i = 0; i < 4; i++)
            OK(drasync_new_subregion(top, &parts[i]));
        OK(drasync_release(top));
    }
    MPI_Bcast(parts, sizeof(parts), MPI_BYTE, 0, MPI_COMM_WORLD);
    while (!saved) {
        OK(drasync_acquire(parts[check_rank], DRASYNC_WRITE));
        usleep(400000 + 53000 * (unsigned)check_rank);
        OK(drasync_release(parts[check_rank]));
        saved = access(path, F_OK) == 0;
    }
}

/* More names than an answer of node 0 had room for. */
static void names(const char *path)
{
    drasync_region_t region;
    char name[32];

    if (check_rank == check_ranks - 1) {
        OK(drasync_new_region(&region));
        for (int i = 0; i < 16000; i++) {
            snprintf(name, sizeof(name), "name%d", i);
            OK(drasync_publish(name, region));
        }
        OK(drasync_save(region, path));
        OK(drasync_delete(region));
    }
    check_barrier();
}

/* Until it has been refused once, as the save READs it. */
static void read_beside(const char *path)
{
    drasync_region_t region = NULL;
    uint64_t x = 88172645463325252u;
    void *v;
    int err = 0;

    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, LARGE_BYTES, &v));
        for (size_t i = 0; i < LARGE_BYTES / 8; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            ((uint64_t *)v)[i] = x;
        }
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_barrier();
    if (check_rank == 0)
        OK(drasync_save(region, path));
    while (check_rank == 1 && err != DRASYNC_EBUSY) {
        OK(drasync_acquire(region, DRASYNC_READ));
        OK(drasync_release(region));
        usleep(5000);
        err = drasync_delete(region);
        CHECK(err == DRASYNC_EBUSY);
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *path = argc > 2 ? argv[2] : "";

    check_start(&argc, &argv);
    if (!strcmp(what, "by_time"))
        by_time(path);
    else if (!strcmp(what, "ring"))
        ring();
    else if (!strcmp(what, "pinned"))
        pinned();
    else if (!strcmp(what, "beside"))
        beside();
    else if (!strcmp(what, "turns"))
        turns(path);
    else if (!strcmp(what, "names"))
        names(path);
    else
        read_beside(path);
    return check_end("held");
}
