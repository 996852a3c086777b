/*
 * Ranks of a node save one region at once, each to a file of its own; and one
 * loads and deletes what others use by its handle.
 *
 *   save_ranks at_once DIR   what a rank wrote and released is in its file,
 *                            though another one's save began before that
 *   save_ranks turns DIR     the last two ranks load a file and delete what it
 *                            has, in turns; rank 0 READs and saves it meanwhile,
 *                            and is told that it is there or that it is not
 */
#include <unistd.h>

#include "native_check.h"

#define BYTES  ((size_t)48 << 20)
#define ROUNDS 100

static char path[2][4096];
static drasync_region_t tree, part;
static long *value;

static void make(size_t bytes)
{
    uint32_t x = 1, *words;
    void *v;

    OK(drasync_new_region(&tree));
    OK(drasync_alloc(tree, bytes, &v));
    words = v;
    /* Nothing that compresses. */
    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        words[i] = x = x * 1664525 + 1013904223;
    OK(drasync_new_subregion(tree, &part));
    OK(drasync_alloc(part, sizeof(*value), &v));
    value = v;
    *value = 1;
    OK(drasync_set_root(tree, value));
    OK(drasync_release(tree));
}

static void tell(void)
{
    check_share(&tree, 0);
    check_share(&part, 0);
    MPI_Bcast(&value, sizeof(value), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* Others may still have the addresses. */
static drasync_region_t load(const char *from)
{
    drasync_region_t loaded;
    int err, tries = 0;

    while ((err = drasync_load(from, &loaded)) == DRASYNC_ETAKEN) {
        CHECK(tries++ < 20000);
        usleep(200);
    }
    OK(err);
    CHECK(loaded == tree);
    return loaded;
}

/* Rank 1 writes when rank 0's save has begun, as far as can be told, and saves. */
static void at_once(void)
{
    drasync_region_t loaded;

    if (check_rank == 0)
        make(BYTES);
    tell();
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_save(tree, path[0]));
    } else if (check_rank == 1) {
        usleep(20000);
        OK(drasync_acquire(part, DRASYNC_WRITE));
        *value = 2;
        OK(drasync_release(part));
        OK(drasync_save(tree, path[1]));
    }
    check_barrier();
    if (check_rank == 0) {
        OK(drasync_delete(tree));
        loaded = load(path[1]);
        CHECK(*value == 2);
        OK(drasync_delete(loaded));
    }
}

static void load_and_delete(void)
{
    drasync_region_t loaded = load(path[0]);
    int err;

    OK(drasync_release(loaded));
    while ((err = drasync_delete(loaded)) == DRASYNC_EBUSY)
        usleep(20);
    OK(err);
}

/* What is said of a region that may be there, or may not. */
static void check_there(int err)
{
    CHECK(!err || err == DRASYNC_EDELETED || err == DRASYNC_ENOREGION ||
          err == DRASYNC_EAGAIN);
}

static void use(void)
{
    int err = drasync_acquire_timed(tree, DRASYNC_READ, 500);

    if (!err)
        OK(drasync_release(tree));
    check_there(err);
    check_there(drasync_save(tree, path[1]));
}

static void turns(void)
{
    if (check_rank == 0) {
        make(30000);
        OK(drasync_save(tree, path[0]));
        OK(drasync_delete(tree));
    }
    tell();
    for (int round = 0; round < ROUNDS; round++) {
        int worker = check_ranks - 2 + round % 2, done = 0;
        MPI_Request request;

        if (check_rank == worker)
            load_and_delete();
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (!done) {
            if (check_rank == 0)
                use();
            else
                usleep(50);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "at_once";

    check_start(&argc, &argv);
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof(path[i]), "%s/ranks%d",
                 argc > 2 ? argv[2] : ".", i);
    if (!strcmp(what, "turns"))
        turns();
    else
        at_once();
    return check_end(what);
}
