/*
 * dart_yield.h - for tests that make many collective calls with more units than
 * there are processors: MPI's waiting would keep the processor from those who are
 * waited for.  The test's and the library's calls both come here.
 */
#ifndef TESTS_DART_YIELD_H
#define TESTS_DART_YIELD_H

#include <mpi.h>

#include "nap.h"

static int reductions; /* so far */

static inline int yield_until_done(int err, MPI_Request *request)
{
    int done = 0;

    for (int tries = 1; !err && !done; tries++) {
        err = PMPI_Test(request, &done, MPI_STATUS_IGNORE);
        nap_after(tries);
    }
    return err;
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    reductions++;
    return yield_until_done(
        PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &request),
        &request);
}

int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request)
{
    reductions++;
    return PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm,
                           request);
}

int MPI_Barrier(MPI_Comm comm)
{
    MPI_Request request;

    return yield_until_done(PMPI_Ibarrier(comm, &request), &request);
}

#endif /* TESTS_DART_YIELD_H */
