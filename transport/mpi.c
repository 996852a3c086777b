/*
 * The wire over MPI: between ranks, on the private communicator of all of them,
 * which nothing else sends on but the start.  So who opens it needs nobody
 * else, and it costs no context of MPI's.
 */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"
#include "transport/wire.h"

#include <stdlib.h>
#include <time.h>

#include "drasync.h"

struct mpi_wire {
    struct wire wire;
    MPI_Comm comm;
    const int *host_of; /* the boot's */
};

static MPI_Comm comm_of(const struct wire *wire)
{
    return ((const struct mpi_wire *)wire)->comm;
}

/* Channels share the communicator; BOOT_TAG is between them. */
static int tag_of(enum wire_channel channel, int tag)
{
    return tag * WIRE_CHANNELS + (int)channel;
}

static int mpi_wire_send(struct wire *wire, int to, enum wire_channel channel,
                         int tag, const void *data, size_t bytes,
                         struct wire_request *request)
{
    MPI_Request handle;

    if (boot_failed("Isend",
                    mpi.Isend(data, (int)bytes, MPI_BYTE, to,
                              tag_of(channel, tag), comm_of(wire), &handle)))
        return DRASYNC_EPEER;
    request->handle = (uint32_t)handle;
    request->active = true;
    return 0;
}

static int mpi_wire_receive(struct wire *wire, int from,
                            enum wire_channel channel, int tag, void *data,
                            size_t bytes_max, struct wire_request *request)
{
    MPI_Request handle;

    if (boot_failed("Irecv",
                    mpi.Irecv(data, (int)bytes_max, MPI_BYTE,
                              from == WIRE_ANY ? MPI_ANY_SOURCE : from,
                              tag_of(channel, tag), comm_of(wire), &handle)))
        return DRASYNC_EPEER;
    request->handle = (uint32_t)handle;
    request->active = true;
    return 0;
}

/*
 * MPI_Test() moves all that MPI has to move even if the request is done, which is
 * a system call for sockets; MPI_Request_get_status() only if it is not (MPICH,
 * src/mpi/request/request_impl.c).  MPI_Wait() frees one that is done, and
 * does not look either; MPI_Request_free() does.
 */
static int mpi_wire_test(struct wire *wire, struct wire_request *request,
                         bool *done_out, int *from_out, size_t *bytes_out)
{
    MPI_Request handle = (MPI_Request)request->handle;
    MPI_Status status;
    int flag = 0;

    (void)wire;
    *done_out = false;
    if (boot_failed("Request_get_status",
                    mpi.Request_get_status(handle, &flag, &status)))
        return DRASYNC_EPEER;
    if (!flag)
        return 0;
    request->active = false;
    if (boot_failed("Wait", mpi.Wait(&handle, MPI_STATUS_IGNORE)))
        return DRASYNC_EPEER;
    *done_out = true;
    if (from_out)
        *from_out = status.MPI_SOURCE;
    if (bytes_out) {
        int count = 0;
        mpi.Get_count(&status, MPI_BYTE, &count);
        *bytes_out = count > 0 ? (size_t)count : 0;
    }
    return 0;
}

static void mpi_wire_cancel(struct wire *wire, struct wire_request *request)
{
    MPI_Request handle = (MPI_Request)request->handle;

    (void)wire;
    if (!boot_finalized() && !mpi.Cancel(&handle))
        mpi.Wait(&handle, MPI_STATUS_IGNORE);
    request->active = false;
}

static bool mpi_wire_near(const struct wire *wire, int peer)
{
    const int *host_of = ((const struct mpi_wire *)wire)->host_of;

    return host_of && host_of[peer] == host_of[wire->node];
}

static uint64_t mpi_wire_now_us(const struct wire *wire)
{
    struct timespec now;

    (void)wire;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

static void mpi_wire_close(struct wire *wire)
{
    free(wire);
}

static const struct wire_ops mpi_wire_ops = {
    .send = mpi_wire_send,
    .receive = mpi_wire_receive,
    .test = mpi_wire_test,
    .cancel = mpi_wire_cancel,
    .near = mpi_wire_near,
    .now_us = mpi_wire_now_us,
    .close = mpi_wire_close,
};

int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user, bool few,
                   struct transport **out)
{
    struct mpi_wire *w = calloc(1, sizeof(*w));

    if (!w)
        return DRASYNC_ENOMEM;
    w->wire.ops = &mpi_wire_ops;
    w->wire.node = boot->rank;
    w->wire.nodes = boot->ranks;
    w->wire.leaders = boot->places.nodes;
    w->wire.few = few;
    w->wire.at_once_bytes = boot_at_once();
    w->wire.on_tcp = !boot_has_rdma();
    w->comm = boot->all;
    w->host_of = boot->places.host_of;
    return engine_open(&w->wire, data, events, user, out);
}
