/*
 * An object written past its end, or after it was freed, or freed twice: what
 * checked mode says of it is compared with golden text.
 *
 *   check_objects WHAT     see tests/bats/check_objects.bats
 *
 * Rank 0 makes a region with objects; the last rank goes wrong, unless WHAT says
 * otherwise.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))

/* The last call of a function leaves its frame. */
#define KEEP __asm__ volatile("")

#define BYTES   100
#define LARGE   ((size_t)3 << 20)
#define OBJECTS 200

static const char *what;
static int rank, ranks;
static region top;
static char *objects[OBJECTS];

static int is(const char *name)
{
    return !strcmp(what, name);
}

static int is_last(void)
{
    return rank == ranks - 1;
}

NOINLINE static void *make_object(region r, size_t bytes)
{
    void *made = ralloc(r, bytes);

    KEEP;
    return made;
}

NOINLINE static void give(region r)
{
    release_region(r);
    KEEP;
}

NOINLINE static void free_object(void *object)
{
    int err = drasync_free(object);

    printf("free: %s\n", err ? drasync_errname(err) : "done");
    fflush(stdout);
    KEEP;
}

NOINLINE static void make(void)
{
    size_t bytes = is("large") ? LARGE : BYTES;

    top = new_region();
    drasync_publish("the objects", top);
    for (int i = 0; i < OBJECTS; i++) {
        objects[i] = make_object(top, i % 2 ? bytes : 40);
        memset(objects[i], i, i % 2 ? bytes : 40);
        if (is("large") && i == 1)
            break;
    }
    give(top);
}

NOINLINE static void find(void)
{
    drasync_lookup("the objects", DRASYNC_FOREVER, &top);
    MPI_Bcast(objects, sizeof(objects), MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* From @from bytes behind its start on. */
NOINLINE static void spoil(char *object, size_t from, size_t count)
{
    memset(object + from, 7, count);
    KEEP;
}

/* --- Wrong; the region is held for WRITE ---------------------------------- */

NOINLINE static void go_wrong(void)
{
    size_t bytes = is("large") ? LARGE : BYTES;

    if (is("past_free") || is("large")) {
        spoil(objects[1], bytes, 4);
        free_object(objects[1]);
    }
    if (is("past_release") || is("past_delete") || is("past_give") ||
        is("past_left"))
        spoil(objects[3], BYTES, 1);
    if (is("far_past"))
        spoil(objects[3], 0, 2 * BYTES);
    if (is("in_front"))
        spoil(objects[3] - 4, 0, 4);
    if (is("below") || is("below_left")) {
        region r = new_subregion(top);

        spoil(make_object(r, BYTES), BYTES + 2, 1);
    }
    if (is("freed_release") || is("freed_leaves")) {
        free_object(objects[5]);
        spoil(objects[5], 8, 2);
    }
    if (is("freed_leaves"))
        for (int i = 0; i < 10000; i++)
            drasync_free(ralloc(top, BYTES));
    if (is("twice")) {
        free_object(objects[7]);
        free_object(objects[7]);
    }
    if (is("all")) {
        spoil(objects[1], BYTES, 4);
        free_object(objects[1]);
        for (volatile int i = 0; i < 2; i = i + 1)
            free_object(objects[1]);
        spoil(objects[1], 0, 1);
        spoil(objects[3], BYTES, 1);
    }
    if (is("realloc")) {
        void *moved;

        drasync_realloc(objects[9], BYTES + 1, NULL, &moved);
        spoil(objects[9], 50, 1);
    }
    KEEP;
}

NOINLINE static void end(void)
{
    if (is("past_delete"))
        delete_region(top);
    else if (is("past_give"))
        drasync_give(top, 0, 0);
    else if (!is("past_left") && !is("below_left") && !is("tidy_left"))
        give(top);
    KEEP;
}

/* Nothing wrong: sizes of all kinds, freed here and there, in many holds. */
NOINLINE static void tidy(void)
{
    static char *mine[1000];
    unsigned seed = (unsigned)rank + 1;
    region r = new_region();

    for (int i = 0; i < 20000; i++) {
        unsigned at = (seed = seed * 1103515245 + 12345) >> 8, size;
        char **slot = &mine[at % 1000];

        size = (at >> 4) % ((at & 15) == 0 ? 600000 : 2000);
        if (*slot && at % 3)
            drasync_realloc(*slot, size, NULL, (void **)slot);
        else if (*slot)
            drasync_free(*slot), *slot = NULL;
        else
            *slot = ralloc(r, size);
        if (*slot)
            memset(*slot, i, size);
        if (i % 500 == 0) {
            give(r);
            acquire_region(r, WRITE);
        }
    }
    delete_region(r);
}

/* How much is said to be in use, with objects that were freed and without. */
NOINLINE static void use(void)
{
    struct drasync_info one, info;
    region r = new_region();
    void *object = ralloc(r, BYTES), *freed[3];

    drasync_get_info(r, &one);
    for (int i = 0; i < 3; i++)
        freed[i] = ralloc(r, BYTES);
    for (int i = 0; i < 3; i++)
        drasync_free(freed[i]);
    drasync_get_info(r, &info);
    printf("%s in use\n", info.used_bytes == one.used_bytes ? "one" : "more");
    drasync_free(object);
    drasync_get_info(r, &info);
    printf("%s in use\n", info.used_bytes ? "some" : "none");
    delete_region(r);
}

/* A region with what was freed, in a file; and then in another job. */
NOINLINE static void save(const char *path)
{
    make();
    acquire_region(top, WRITE);
    drasync_set_root(top, objects[1]);
    free_object(objects[3]);
    give(top);
    printf("%s\n", drasync_strerror(drasync_save(top, path)));
}

NOINLINE static void load(const char *path)
{
    void *root;

    if (drasync_load(path, &top) || drasync_get_root(top, &root))
        MPI_Abort(MPI_COMM_WORLD, 1);
    free_object(root);
    for (int i = 0; i < 1000; i++)
        drasync_free(ralloc(top, BYTES));
    give(top);
    acquire_region(top, WRITE);
    delete_region(top);
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (is("tidy")) {
        tidy();
    } else if (is("use")) {
        use();
    } else if (is("save")) {
        save(argv[2]);
    } else if (is("load")) {
        load(argv[2]);
    } else {
        if (rank == 0)
            make();
        find();
        if (is_last()) {
            acquire_region(top, WRITE);
            go_wrong();
            end();
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0)
        printf("over\n");
    return 0;
}
