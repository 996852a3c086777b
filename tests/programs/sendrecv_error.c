/* MPI_Sendrecv to a rank that is not there returns its error, and waits for no
 * message.  With each rank a node, as then it is ours. */
#include <mpi.h>
#include <stdio.h>

#include "drasync.h"

int main(int argc, char **argv)
{
    int out = 0, in, rank, err;

    MPI_Init(&argc, &argv);
    if (drasync_init())
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    err = MPI_Sendrecv(&out, 1, MPI_INT, 99, 0, &in, 1, MPI_INT, 1 - rank, 0,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("rank %d: %s\n", rank, err ? "error" : "none");
    /* What was posted for it takes no later message. */
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (in != 1 - rank)
        return 1;
    MPI_Finalize();
    return 0;
}
