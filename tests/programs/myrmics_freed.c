/*
 * A region is freed while its maker receives it back: what is then made of its
 * memory is nobody else's.
 *
 * myrmics_freed        3 workers of a node, with little memory
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "myrmics.h"

enum { BYTES = 24 << 20, ROUNDS = 40 };

int main(int argc, char **argv)
{
    rid_t region = 0, other = 0;
    char *object = NULL, *later = NULL;
    long wrong = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            region = sys_ralloc(0, 0);
            object = sys_alloc(BYTES, region);
            memset(object, 1, BYTES);
            sys_send(region, 1);
        }
        MPI_Bcast(&region, sizeof(region), MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Bcast(&object, sizeof(object), MPI_BYTE, 0, MPI_COMM_WORLD);
        if (rank == 1) {
            sys_recv(region, 0);
            memset(object, 2, BYTES);
            sys_send(region, 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            sys_recv(0, 1);
        if (rank == 2) {
            usleep(250u * (unsigned)round);
            sys_rfree(region);
            other = sys_ralloc(0, 0);
            later = sys_alloc(BYTES, other);
            memset(later, 3, BYTES);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2) {
            for (int i = 0; i < BYTES; i++)
                wrong += later[i] != 3;
            sys_rfree(other);
        }
    }
    printf("rank %d: %ld wrong\n", rank, wrong);
    MPI_Finalize();
    return wrong != 0;
}
