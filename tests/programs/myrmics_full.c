/*
 * A worker sends another one more small versions of a region than that has memory
 * for, before it receives the first: the job ends with a line, or all come. With
 * DRASYNC_MEMORY=128M the sender could keep all versions, and the receiver, which
 * has an object of 96 MiB of its own, a third of them.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "myrmics.h"

enum { VERSIONS = 1500, BYTES = 64 << 10, OF_RECEIVER = 96 << 20 };

int main(int argc, char **argv)
{
    struct {
        rid_t region;
        unsigned *object;
    } it = {0};
    int rank, bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!rank) {
        it.region = sys_ralloc(0, 0);
        it.object = sys_alloc(BYTES, it.region);
    }
    if (rank == 1 && !sys_alloc(OF_RECEIVER, sys_ralloc(0, 0)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&it, sizeof(it), MPI_BYTE, 0, MPI_COMM_WORLD);
    for (unsigned i = 0; i < VERSIONS && !rank; i++) {
        for (int n = 0; n < BYTES / (int)sizeof(*it.object); n++)
            it.object[n] = i;
        sys_send(it.region, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; i < VERSIONS && rank == 1; i++) {
        sys_recv(it.region, 0);
        bad += it.object[7] != i;
    }
    printf("rank %d: %d wrong\n", rank, bad);
    MPI_Finalize();
    return 0;
}
