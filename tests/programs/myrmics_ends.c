/*
 * How jobs on the baseline begin and end:
 *   unreceived   data that nobody receives does not keep the job from ending
 *   uninitialised  without MPI_Init the first call starts MPI
 *   unused       without any region call every rank is the program's
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "myrmics.h"

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const size_t size = 8 << 20;
    int rank, i, next;
    rid_t region;
    char *bytes;

    if (strcmp(mode, "uninitialised") != 0)
        MPI_Init(&argc, &argv);
    if (strcmp(mode, "unused") == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        printf("rank %d\n", rank);
        return MPI_Finalize();
    }
    region = sys_ralloc(0, 0);
    bytes = sys_alloc(size, region);
    memset(bytes, 1, size);
    next = (sys_get_worker_id() + 1) % sys_get_num_workers();
    for (i = 0; i < 3 && strcmp(mode, "unreceived") == 0; i++)
        sys_send(region, next);
    sys_barrier();
    if (sys_get_worker_id() == 0)
        printf("%d workers\n", sys_get_num_workers());
    if (strcmp(mode, "unreceived") == 0)
        MPI_Finalize();
    return 0;
}
