/* Preloaded into a job: MPI_Abort ends its caller only, so that each rank has to
 * find out for itself that the job is over. */
#include <mpi.h>
#include <stdlib.h>

int MPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    (void)code;
    exit(9);
}
