/*
 * The job that benchmarks/start.c measures: MPI_Init, an object of 1 KiB,
 * MPI_Finalize; rank 0 prints how long they took, in ms.  With PLAIN the object
 * is malloc's, and nothing of DRASync is linked.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef PLAIN
#include "drasync.h"
#endif

#define OBJECT_BYTES 1024

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void use_object(void)
{
#ifdef PLAIN
    char *object = malloc(OBJECT_BYTES);

    if (!object)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(object, 1, OBJECT_BYTES);
    free(object);
#else
    region r = new_region();

    memset(ralloc(r, OBJECT_BYTES), 1, OBJECT_BYTES);
    release_region(r);
    delete_region(r);
#endif
}

int main(int argc, char **argv)
{
    double begin = now_ms();
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    use_object();
    MPI_Finalize();
    if (rank == 0)
        printf("calls=%.17g\n", now_ms() - begin);
    return 0;
}
