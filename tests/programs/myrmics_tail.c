/*
 * Regions grow, shrink and are freed between two workers of a node: none keeps
 * pages in sight that are another's by now.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "myrmics.h"

enum { REGIONS = 8, FREED = 64, LAST = 24, OBJECTS = 480, BYTES = 1024 };

static char *object[LAST][OBJECTS];
static rid_t region[LAST];
static int rank;

static void fill(int r, int from, int to, int value)
{
    for (int i = from; i < to; i++) {
        object[r][i] = sys_alloc(BYTES, region[r]);
        memset(object[r][i], value, BYTES);
    }
}

static void go(int r, int from)
{
    if (rank == from)
        sys_send(region[r], !rank);
    else
        sys_recv(0, from);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The receiver maps @first objects' pages, and is then sent @more with them. */
static void live(int first, int more)
{
    rid_t freed[FREED];

    for (int r = 0; r < REGIONS && !rank; r++)
        region[r] = sys_ralloc(0, 0);
    for (int r = 0; r < REGIONS; r++) {
        if (!rank)
            fill(r, 0, first, 1);
        go(r, 0);
        if (!rank)
            fill(r, first, first + more, 1);
        if (more)
            go(r, 0);
    }
    for (int i = 0; i < FREED && more && !rank; i++)
        freed[i] = sys_ralloc(0, 0);
    for (int i = 0; i < FREED && more && !rank; i++)
        sys_rfree(freed[i]);
    for (int r = 0; r < REGIONS && !rank; r++)
        sys_rfree(region[r]);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int first = 200; first < 400; first += 10) {
        live(OBJECTS, 0);
        live(first, 90);
        if (rank)
            for (int r = 0; r < LAST; r++) {
                region[r] = sys_ralloc(0, 0);
                fill(r, 0, OBJECTS, 7);
            }
        MPI_Bcast(object, sizeof(object), MPI_BYTE, 1, MPI_COMM_WORLD);
        for (int r = 0; r < LAST; r++)
            go(r, 1);
        for (int r = 0; r < LAST && !rank; r++)
            for (int i = 0; i < OBJECTS; i++)
                bad += object[r][i][9] != 7;
        for (int r = 0; r < LAST && rank; r++)
            sys_rfree(region[r]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("rank %d: %d wrong\n", rank, bad);
    MPI_Finalize();
    return bad != 0;
}
