/*
 * A region is deleted for which a thread waits behind what another thread of its
 * rank asked for, above it: the wait ends, and is not for what is above.
 *
 * native_deleted_part        2 ranks of a node
 */
#include <pthread.h>
#include <unistd.h>

#include "native_check.h"

static drasync_region_t regions[2]; /* and its part */

static void *take_whole(void *unused)
{
    OK(drasync_acquire(regions[0], DRASYNC_WRITE));
    OK(drasync_release(regions[0]));
    return unused;
}

/* Until @count wait for the whole. */
static void await_queue(int count)
{
    struct drasync_info info = {0};

    while (info.waiting < count) {
        usleep(1000);
        OK(drasync_get_info(regions[0], &info));
    }
}

int main(int argc, char **argv)
{
    drasync_request_t request;
    pthread_t thread;
    int err;

    check_start_threads(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&regions[0]));
        OK(drasync_new_subregion(regions[0], &regions[1]));
    }
    MPI_Bcast(regions, sizeof(regions), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (check_rank == 1) {
        CHECK(!pthread_create(&thread, NULL, take_whole, NULL));
        MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        /* Behind the other thread's. */
        OK(drasync_iacquire(regions[1], DRASYNC_READ, &request));
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        err = drasync_wait(&request, DRASYNC_FOREVER);
        CHECK(err == DRASYNC_EDELETED);
        MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        CHECK(!pthread_join(thread, NULL));
    } else {
        await_queue(1);
        MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(drasync_delete(regions[1]));
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        OK(drasync_release(regions[0]));
    }
    return check_end("deleted_part");
}
