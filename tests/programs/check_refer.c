/*
 * References to what is not managed, or to what there is none; names and files of
 * no region; with "given", a touch of what was given to another rank; with
 * "function", one of what nobody holds, by a function that another rank runs: each
 * wrong, for checked mode to say so.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

NOINLINE static void touch_given(void)
{
    drasync_region_t given;
    void *v, *root;

    drasync_new_region(&given);
    drasync_alloc(given, sizeof(int), &v);
    drasync_give(given, 1, 0);
    drasync_get_root(given, &root);
    *(volatile int *)v = 1;
    KEEP;
}

static int *unheld;

NOINLINE static int touch_unheld(drasync_region_t r, const void *arg,
                                 size_t arg_bytes, void *answer,
                                 size_t answer_bytes)
{
    (void)r, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    *(volatile int *)unheld = 1;
    return 0;
}

/* Rank 1 runs it, rank 0 computes meanwhile; the job ends with the report. */
static void touch_in_function(int rank)
{
    drasync_region_t region = NULL, other;
    drasync_function_t function;
    void *v;

    drasync_register("touch", touch_unheld, &function);
    if (rank == 0) {
        drasync_new_region(&region);
        drasync_release(region);
        drasync_new_region(&other);
        drasync_alloc(other, sizeof(int), &v);
        unheld = v;
        drasync_release(other);
    }
    MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1)
        drasync_run(region, function, DRASYNC_WRITE, NULL, 0, NULL, 0);
    for (int i = 0; i < 20 && rank == 0; i++)
        sleep(1);
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && !strcmp(argv[1], "function"))
        touch_in_function(rank);
    else if (rank == 0)
        argc > 1 ? touch_given() : refer_wrongly();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("over\n");
    MPI_Finalize();
    return 0;
}
