/* Each collective call that is recorded, once by all ranks and once by each rank
 * for itself. */
#include <mpi.h>
#include <stdlib.h>

#include "drasync.h"

static void all_of(MPI_Comm comm)
{
    int size, one[1] = {1};
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    int *in = calloc((size_t)size, sizeof(*in));
    int *out = calloc((size_t)size, sizeof(*out));
    int *counts = calloc((size_t)size, sizeof(*counts));
    int *places = calloc((size_t)size, sizeof(*places));
    if (!in || !out || !counts || !places)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Barrier(comm);
    MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(one, 1, MPI_INT, 0, comm);
    MPI_Reduce(one, out, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(one, out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Scan(one, out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Exscan(one, out, 1, MPI_INT, MPI_SUM, comm);
    MPI_Gather(one, 1, MPI_INT, out, 1, MPI_INT, 0, comm);
    MPI_Gatherv(one, 1, MPI_INT, out, counts, places, MPI_INT, 0, comm);
    MPI_Scatter(in, 1, MPI_INT, one, 1, MPI_INT, 0, comm);
    MPI_Scatterv(in, counts, places, MPI_INT, one, 1, MPI_INT, 0, comm);
    MPI_Allgather(one, 1, MPI_INT, out, 1, MPI_INT, comm);
    MPI_Allgatherv(one, 1, MPI_INT, out, counts, places, MPI_INT, comm);
    MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, comm);
    MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT,
                  comm);
    free(in);
    free(out);
    free(counts);
    free(places);
}

int main(int argc, char **argv)
{
    if (!drasync_version())
        return 1;
    MPI_Init(&argc, &argv);
    all_of(MPI_COMM_WORLD);
    all_of(MPI_COMM_SELF);
    MPI_Finalize();
    return 0;
}
