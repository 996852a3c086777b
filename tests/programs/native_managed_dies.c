/*
 * The home of a managed region dies while another rank takes references to the
 * region and gives them back, all the time: that one's call says so.  2 ranks; run
 * by mpi_rank_dies().
 */
#include <signal.h>
#include <unistd.h>

#include "native_managed.h"

static void home(void)
{
    drasync_region_t region;
    drasync_weak_t weak;
    struct node *node;

    region = make(&node, 7);
    OK(drasync_weak(region, &weak));
    MPI_Send(&weak, sizeof(weak), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    raise(SIGKILL);
}

static void other(void)
{
    drasync_region_t got;
    drasync_weak_t weak;
    int err = 0;

    MPI_Recv(&weak, sizeof(weak), MPI_BYTE, 1, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    OK(drasync_weak_lock(&weak, &got));
    read_it(got, 7);
    OK(drasync_unref(got));
    MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    while (!err) {
        err = drasync_weak_lock(&weak, &got);
        if (!err)
            err = drasync_unref(got);
    }
    CHECK(err == DRASYNC_EPEER);
    CODE(drasync_weak_lock(&weak, &got), DRASYNC_EPEER);
    CODE(drasync_collect(), DRASYNC_EPEER);
    puts("managed dies ok");
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (check_rank == 1)
        home();
    else
        other();
    return 1;
}
