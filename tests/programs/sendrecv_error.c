/* MPI_Sendrecv to a rank that is not there returns its error, waits for no
 * message and takes none that has come.  With each rank a node, as then it is
 * ours. */
#include <mpi.h>
#include <stdio.h>

#include "drasync.h"

int main(int argc, char **argv)
{
    int sent, out = 0, in = -1, rank, err;
    MPI_Request q;

    MPI_Init(&argc, &argv);
    if (drasync_init())
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    sent = rank;
    MPI_Isend(&sent, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &q);
    MPI_Probe(1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    err = MPI_Sendrecv(&out, 1, MPI_INT, 99, 0, &in, 1, MPI_INT, 1 - rank, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", rank, err ? "error" : "none");
    MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    /* And a right call after it exchanges what it should. */
    out = 10 + rank;
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, 0, &err, 1, MPI_INT, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != 1 - rank || err != 11 - rank)
        return 1;
    MPI_Finalize();
    return 0;
}
