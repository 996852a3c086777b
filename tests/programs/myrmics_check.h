/*
 * myrmics_check.h - who this worker is, and what must be true, for test programs
 * of one file.
 */
#ifndef TESTS_MYRMICS_CHECK_H
#define TESTS_MYRMICS_CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

struct scenario {
    const char *name;
    void (*run)(void);
};

/* Who this worker is; MPI is up afterwards. */
static inline void started(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
}

/* A number, or a pointer, for another worker. */
static inline void tell(int worker, uint64_t what)
{
    MPI_Send(&what, 1, MPI_UINT64_T, worker, 2, MPI_COMM_WORLD);
}

static inline uint64_t told(int worker)
{
    uint64_t what;

    MPI_Recv(&what, 1, MPI_UINT64_T, worker, 2, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return what;
}

/* Run what the argument names of the @count at @s, and wait for the others. */
static inline void run_named(const struct scenario *s, size_t count, int argc,
                             char **argv)
{
    for (size_t i = 0; i < count; i++)
        if (argc > 1 && strcmp(argv[1], s[i].name) == 0)
            s[i].run();
    sys_barrier();
}

#endif
