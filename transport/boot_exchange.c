/*
 * What ranks tell each other at the start and end: exchanges of MPI that nobody
 * waits for by polling, since at the start all ranks of a host share its
 * processors.  MPI's blocking calls poll until the scheduler takes the core
 * away, so that each step of each exchange costs each rank a time slice: half a
 * second for 64 ranks on 2 cores.
 */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"

#include <time.h>

#include "drasync.h"

/* Between two looks at a request: a first nap, and the longest. */
#define NAP_NS     50000
#define NAP_NS_MAX 1000000

bool boot_await(struct boot *boot, const char *name, MPI_Request *request)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    int done = 0;

    for (;;) {
        if (boot_failed(name, mpi.Test(request, &done, MPI_STATUS_IGNORE)))
            return false;
        if (done)
            return true;
        nanosleep(&nap, NULL);
        if (nap.tv_nsec < NAP_NS_MAX)
            nap.tv_nsec *= 2;
        if (boot && boot->meanwhile)
            boot->meanwhile();
    }
}

int boot_gather(struct boot *boot, const void *in, void *out, size_t bytes_each)
{
    MPI_Request request;

    return boot_failed("Iallgather",
                       mpi.Iallgather(in, (int)bytes_each, MPI_BYTE, out,
                                      (int)bytes_each, MPI_BYTE, MPI_COMM_WORLD,
                                      &request)) ||
                   !boot_await(boot, "Iallgather", &request)
               ? DRASYNC_EPEER
               : 0;
}

/* Send @out to the leader of node @to, and receive what that of @from sends. */
static bool swap(struct boot *boot, int to, int64_t out, int from, int64_t *in)
{
    const int *leader_of = boot->places.leader_of;
    MPI_Request requests[2];

    return !boot_failed("Irecv",
                        mpi.Irecv(in, sizeof(*in), MPI_BYTE, leader_of[from],
                                  BOOT_TAG, boot->all, &requests[0])) &&
           !boot_failed("Isend",
                        mpi.Isend(&out, sizeof(out), MPI_BYTE, leader_of[to],
                                  BOOT_TAG, boot->all, &requests[1])) &&
           boot_await(boot, "Irecv", &requests[0]) &&
           boot_await(boot, "Isend", &requests[1]);
}

/*
 * In round k each hears of the 2^k before it: as often as one hears the same
 * number, the least stays the same, so any number of nodes does.  Between two
 * nodes messages come in order, and each round has other partners.
 */
int boot_min(struct boot *boot, int64_t *value)
{
    int nodes = boot->places.nodes, node = boot->places.node;

    for (int step = 1; step < nodes; step *= 2) {
        int64_t other;

        if (!swap(boot, (node + step) % nodes, *value,
                  (node + nodes - step) % nodes, &other))
            return DRASYNC_EPEER;
        if (other < *value)
            *value = other;
    }
    return 0;
}
