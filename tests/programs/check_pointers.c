/*
 * Pointers out of a region: what checked mode says of them is compared with
 * golden text.
 *
 *   check_pointers WHAT     see tests/bats/check_pointers.bats
 *
 * Rank 0 makes a list in a region, with names that lie elsewhere, if WHAT is not
 * "right", and lets the others read it.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))

/* The last call of a function leaves its frame. */
#define KEEP __asm__ volatile("")

#define ITEMS 3

struct item {
    struct item *next;
    double weight;
    const void *name;
    uint64_t number;
};

static const char *what;
static void *mine[ITEMS]; /* what malloc() gave, to be freed */
static int mine_count;
static char global[] = "of the program", zero[64];

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void function(void)
{
}

/* Where a name is; @local is on the stack. */
static const void *name_of(region r, char *local)
{
    char *copy;

    if (is("heap") || is("give"))
        return mine[mine_count++] = malloc(100);
    if (is("stack"))
        return local;
    if (is("variable"))
        return global;
    if (is("zero"))
        return zero;
    if (is("function"))
        return (const void *)(uintptr_t)function;
    copy = ralloc(r, sizeof(global));
    return memcpy(copy, global, sizeof(global));
}

NOINLINE static struct item *make_item(region r)
{
    struct item *made = ralloc(r, sizeof(*made));

    KEEP;
    return made;
}

NOINLINE static void set_root(region r, void *root)
{
    drasync_set_root(r, root);
    KEEP;
}

NOINLINE static void give(region r)
{
    if (is("give"))
        drasync_give(r, 1, 0);
    else
        release_region(r);
    KEEP;
}

/* Numbers that are no addresses, though some of their bytes might be. */
static void make(region r)
{
    static const double weights[ITEMS] = {1e300, -0.0, 3.25};
    static const uint64_t numbers[ITEMS] = {UINT64_MAX, UINT64_C(1) << 46, 7};
    char local[] = "of this call";
    struct item *first = NULL;

    for (int i = 0; i < ITEMS; i++) {
        struct item *item = make_item(r);

        item->next = first;
        item->weight = weights[i];
        item->name = name_of(r, local);
        item->number = numbers[i];
        first = item;
    }
    set_root(r, is("root") ? (void *)zero : first);
    give(r);
}

/* Again, and nothing more is said. */
static void change(region r)
{
    void *first;

    acquire_region(r, WRITE);
    drasync_get_root(r, &first);
    ((struct item *)first)->number++;
    give(r);
}

int main(int argc, char **argv)
{
    region r = NULL;
    int rank;

    what = argc > 1 ? argv[1] : "right";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        r = new_region();
        make(r);
        if (is("give"))
            drasync_take(1, 0, DRASYNC_FOREVER, &r, NULL);
        else
            change(r);
    } else if (is("give")) {
        drasync_take(0, 0, DRASYNC_FOREVER, &r, NULL);
        drasync_give(r, 0, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        if (!is("give"))
            acquire_region(r, WRITE);
        delete_region(r);
        while (mine_count)
            free(mine[--mine_count]);
        puts("over");
    }
    MPI_Finalize();
    return 0;
}
