/*
 * native_check.h - for test programs of the native API: checks that say where
 * they failed and end the job, and the few MPI calls that such programs need.
 *
 * Callers call check_start() first and check_end() last.
 */
#ifndef DRASYNC_TESTS_NATIVE_CHECK_H
#define DRASYNC_TESTS_NATIVE_CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"
#include "nap.h"

static int check_rank, check_ranks;

/* For programs with threads. */
static inline void check_start_threads(int *argc, char ***argv)
{
    int level;

    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
}

static inline void check_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &check_ranks);
}

/* Who is early leaves the processor to others, which MPI_Barrier() does not where
 * there is one for each rank; at last that lets all go on at the same time. */
static inline void check_barrier(void)
{
    nap_barrier();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 prints @what once every rank came here. */
static inline int check_end(const char *what)
{
    check_barrier();
    if (check_rank == 0)
        printf("%s ok ranks=%d\n", what, check_ranks);
    MPI_Finalize();
    return 0;
}

static inline void check_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "rank %d: %s:%d: failed: %s\n", check_rank, file, line,
            what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static inline void check_code(const char *file, int line, const char *what,
                              int got, int wanted)
{
    if (got == wanted)
        return;
    fprintf(stderr, "rank %d: %s:%d: %s gave %s, not %s\n", check_rank, file,
            line, what, drasync_errname(got), drasync_errname(wanted));
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

#define CHECK(c)           ((c) ? (void)0 : check_fail(__FILE__, __LINE__, #c))
#define CODE(call, wanted) check_code(__FILE__, __LINE__, #call, call, wanted)
#define OK(call)           CODE(call, DRASYNC_OK)

/* Give a handle or a pointer of rank @from to all. */
static inline void check_share(void *handle, int from)
{
    MPI_Bcast(handle, sizeof(void *), MPI_BYTE, from, MPI_COMM_WORLD);
}

#endif /* DRASYNC_TESTS_NATIVE_CHECK_H */
