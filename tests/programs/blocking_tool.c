/*
 * A tool like many: counts the program's calls of MPI_Recv and MPI_Barrier, and
 * goes on to PMPI.
 */
#include <mpi.h>
#include <stdio.h>

static int received, barriers;

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag,
             MPI_Comm comm, MPI_Status *status)
{
    received++;
    return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Barrier(MPI_Comm comm)
{
    barriers++;
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
    printf("tool: %d received, %d barriers\n", received, barriers);
    return PMPI_Finalize();
}
