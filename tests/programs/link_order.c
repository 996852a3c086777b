/*
 * A program linked with MPI before DRASync, so that MPI_Init is MPI's own; its
 * ranks make their first call one after the other.
 *
 *   link_order call|fig1|init|alone
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "drasync.h"

static int use(void)
{
    drasync_region_t region;
    void *object;
    int err = drasync_new_region(&region);

    if (!err)
        err = drasync_alloc(region, 100, &object);
    if (!err)
        err = drasync_release(region);
    return err;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "call";
    int rank, ranks, before = 0, err;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!strcmp(what, "fig1"))
        release_region(new_region());
    if (!strcmp(what, "init")) {
        err = drasync_init();
        printf("init: rank %d %s\n", rank, drasync_errname(err));
    }
    if (rank > 0)
        MPI_Recv(&before, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    err = use();
    if (err)
        err = use();
    printf("use: rank %d %s\n", rank, drasync_errname(err));
    fflush(stdout);
    if (rank + 1 < ranks)
        MPI_Send(&err, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return err != 0;
}
