/* As stuck.c: programs that hang over what a rank gives to another one. */
#include <string.h>

#include "tests/programs/stuck.h"

/* The last rank takes what rank 0 gives in the end. */
static void not_given(void)
{
    drasync_region_t r;

    if (rank == 0) {
        until_over();
        r = new_region();
        must(drasync_give(r, ranks - 1, 7), "give");
    }
    if (rank == ranks - 1) {
        must(drasync_take(0, 7, DRASYNC_FOREVER, &r, NULL), "take");
        must(drasync_delete(r), "delete");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The same, with a tag that nobody waits for. */
static void other_tag(void)
{
    drasync_region_t r;

    if (rank == 0) {
        r = new_region();
        must(drasync_give(r, ranks - 1, 8), "give");
        until_over();
        r = new_region();
        must(drasync_give(r, ranks - 1, 7), "give");
    }
    for (int tag = 7; rank == ranks - 1 && tag <= 8; tag++) {
        must(drasync_take(0, tag, DRASYNC_FOREVER, &r, NULL), "take");
        must(drasync_delete(r), "delete");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 keeps what rank 1 gave it, and wants again. */
static void kept(void)
{
    region tree = shared_region("tree", 1);

    if (rank == 1) {
        acquire_region(tree, WRITE);
        must(drasync_give(tree, 0, 5), "give");
    }
    if (rank == 0)
        must(drasync_take(1, 5, DRASYNC_FOREVER, &tree, NULL), "take");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        acquire_region(tree, WRITE);
    if (rank == 0)
        until_over();
    if (rank < 2)
        release_region(tree);
}

int main(int argc, char **argv)
{
    const char *what = started(&argc, &argv);

    if (!strcmp(what, "give"))
        not_given();
    else if (!strcmp(what, "tag"))
        other_tag();
    else if (!strcmp(what, "kept"))
        kept();
    else
        return 2;
    MPI_Finalize();
    return 0;
}
