/*
 * myrmics_check.h - who this worker is, and what must be true, for test programs
 * of one file.
 */
#ifndef TESTS_MYRMICS_CHECK_H
#define TESTS_MYRMICS_CHECK_H

#include <mpi.h>
#include <stdio.h>

#include "myrmics.h"

static int me, workers;

/* End the job, and say so, unless @c. */
#define CHECK(c)                                                  \
    do {                                                          \
        if (!(c)) {                                               \
            fprintf(stderr, "worker %d: not true: %s\n", me, #c); \
            MPI_Abort(MPI_COMM_WORLD, 2);                         \
        }                                                         \
    } while (0)

#endif
