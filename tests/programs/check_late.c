/*
 * Rank 0 deletes what rank 1 holds: checked mode asks rank 1 where it took that.
 * The first time rank 1 is stopped, and cannot say so in time; the second time it
 * is asked again.
 */
#include <signal.h>
#include <unistd.h>

#include "native_check.h"

/* Wait until the process is stopped. */
static void await_stop(pid_t pid)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (state != 'T') {
        file = fopen(path, "r");
        CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
        usleep(1000);
    }
}

__attribute__((noinline)) static void take(drasync_region_t region)
{
    OK(drasync_acquire(region, DRASYNC_READ));
}

int main(int argc, char **argv)
{
    drasync_region_t region = NULL;
    pid_t pid = getpid();

    check_start(&argc, &argv);
    CHECK(check_ranks == 2);
    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    if (check_rank == 1)
        take(region);
    MPI_Bcast(&pid, sizeof(pid), MPI_BYTE, 1, MPI_COMM_WORLD);
    check_barrier();
    if (check_rank == 0) {
        await_stop(pid);
        CODE(drasync_delete(region), DRASYNC_EBUSY);
        CHECK(!kill(pid, SIGCONT));
        CODE(drasync_delete(region), DRASYNC_EBUSY);
    } else {
        raise(SIGSTOP);
    }
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(region));
    return check_end("late");
}
