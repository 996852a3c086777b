/*
 * Rank 1 exits without MPI_Finalize, which is no death as long as nobody waits for
 * it; then rank 2 dies, while rank 0, which watched rank 1, is inside MPI.
 */
#include <signal.h>
#include <unistd.h>

#include "native_check.h"

int main(int argc, char **argv)
{
    drasync_region_t region;
    int pid = (int)getpid(), never;

    check_start(&argc, &argv);
    OK(drasync_new_region(&region));
    MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
    check_barrier();
    if (check_rank == 1)
        exit(0);
    if (check_rank == 2) {
        while (!kill(pid, 0))
            usleep(1000);
        /* Rank 0 is told of that, as a rule, before this rank goes. */
        usleep(300000);
        raise(SIGKILL);
    }
    MPI_Recv(&never, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
