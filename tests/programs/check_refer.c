/*
 * References to what is not managed, or to what there is none; names and files of
 * no region: each wrong, for checked mode to say so.
 */
#include <mpi.h>
#include <stdio.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))
/* So that the call before it is none in tail position. */
#define KEEP __asm__ volatile("")

NOINLINE static void refer_wrongly(void)
{
    drasync_region_t below, plain, managed;
    drasync_weak_t weak;

    drasync_new_region(&managed);
    drasync_new_subregion(managed, &below);
    drasync_manage(below);
    drasync_manage(managed);
    drasync_manage(managed);
    drasync_delete(managed);
    drasync_new_region(&plain);
    drasync_ref(plain);
    drasync_weak(plain, &weak);
    drasync_link(managed, plain);
    drasync_unlink(managed, plain);
    drasync_release(plain);
    drasync_ref(plain);
    drasync_link(managed, plain);
    drasync_link(plain, managed);
    drasync_release(managed);
    drasync_unref(managed);
    drasync_unref(plain);
    drasync_ref_give(plain, 1);
    drasync_unref(NULL);
    drasync_publish("nothing", NULL);
    drasync_save(NULL, "nothing.dras");
    KEEP;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        refer_wrongly();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("over\n");
    MPI_Finalize();
    return 0;
}
