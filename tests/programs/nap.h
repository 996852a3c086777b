/*
 * nap.h - for tests whose ranks ask again and again whether something is done:
 * who waits leaves the processor to the others, as there may be fewer processors
 * than ranks, and other tests beside them.
 */
#ifndef TESTS_NAP_H
#define TESTS_NAP_H

#include <mpi.h>
#include <sched.h>
#include <time.h>

#define NAP_AFTER 200 /* tries; what is done by then needs no sleep */
#define NAP_US    100

/* After the @tries-th time that it was not done. */
static inline void nap_after(int tries)
{
    const struct timespec nap = {0, NAP_US * 1000};

    if (tries > NAP_AFTER)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}

/* MPI_Barrier() that naps. */
static inline void nap_barrier(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (int tries = 1; !done; tries++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        nap_after(tries);
    }
}

#endif /* TESTS_NAP_H */
