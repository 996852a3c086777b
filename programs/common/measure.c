/*
 * Runs of an application's work, timed between barriers, and its result line.
 */
#include "measure.h"

#include <assert.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"

void measure_begin(struct measure *measure)
{
    assert(measure->runs < MEASURE_RUNS_MAX);
    MPI_Barrier(MPI_COMM_WORLD);
    measure->since = report_now_seconds();
}

void measure_end(struct measure *measure)
{
    double seconds;

    MPI_Barrier(MPI_COMM_WORLD);
    seconds = report_now_seconds() - measure->since;
    MPI_Reduce(&seconds, &measure->seconds[measure->runs++], 1, MPI_DOUBLE,
               MPI_MAX, 0, MPI_COMM_WORLD);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void measure_print(struct measure *measure, const char *name, uint64_t answer,
                   const char *details)
{
    double *counted = measure->seconds + 1;
    int count = measure->runs - 1, rank, ranks;
    uint64_t sum = 0;

    MPI_Reduce(&answer, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0)
        return;
    qsort(counted, (size_t)count, sizeof(*counted), compare_doubles);
    printf("%s answer=%016" PRIx64 " seconds=%.9f ranks=%d %s\n", name, sum,
           (counted[(count - 1) / 2] + counted[count / 2]) / 2, ranks, details);
    fflush(stdout);
}
