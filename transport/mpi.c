/* The wire over MPI: two private communicators between the leaders. */
#include "transport/boot.h"
#include "transport/boot_mpi.h"
#include "transport/mpi_table.h"
#include "transport/wire.h"

#include <stdlib.h>
#include <time.h>

#include "drasync.h"

struct mpi_wire {
    struct wire wire;
    MPI_Comm comms[WIRE_CHANNELS];
};

static MPI_Comm comm_of(struct wire *wire, enum wire_channel channel)
{
    return ((struct mpi_wire *)wire)->comms[channel];
}

static int mpi_wire_send(struct wire *wire, int to, enum wire_channel channel,
                         int tag, const void *data, size_t bytes,
                         struct wire_request *request)
{
    MPI_Request handle;

    if (mpi.Isend(data, (int)bytes, MPI_BYTE, to, tag, comm_of(wire, channel),
                  &handle))
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

    if (mpi.Irecv(data, (int)bytes_max, MPI_BYTE,
                  from == WIRE_ANY ? MPI_ANY_SOURCE : from, tag,
                  comm_of(wire, channel), &handle))
        return DRASYNC_EPEER;
    request->handle = (uint32_t)handle;
    request->active = true;
    return 0;
}

static int mpi_wire_test(struct wire *wire, struct wire_request *request,
                         bool *done_out, int *from_out, size_t *bytes_out)
{
    MPI_Request handle = (MPI_Request)request->handle;
    MPI_Status status;
    int flag = 0;

    (void)wire;
    *done_out = false;
    if (mpi.Test(&handle, &flag, &status))
        return DRASYNC_EPEER;
    request->handle = (uint32_t)handle;
    if (!flag)
        return 0;
    request->active = false;
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

static uint64_t mpi_wire_now_us(const struct wire *wire)
{
    struct timespec now;

    (void)wire;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Freeing a communicator is collective, but does not wait for those that never
 * will: its handle goes with the process when the job is broken. */
static void mpi_wire_close(struct wire *wire)
{
    struct mpi_wire *w = (struct mpi_wire *)wire;

    for (int i = 0; i < WIRE_CHANNELS; i++) {
        if (w->comms[i] != MPI_COMM_NULL && !boot_finalized())
            mpi.Comm_free(&w->comms[i]);
    }
    free(w);
}

static const struct wire_ops mpi_wire_ops = {
    .send = mpi_wire_send,
    .receive = mpi_wire_receive,
    .test = mpi_wire_test,
    .cancel = mpi_wire_cancel,
    .now_us = mpi_wire_now_us,
    .close = mpi_wire_close,
};

int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user,
                   struct transport **out)
{
    struct mpi_wire *w = calloc(1, sizeof(*w));

    if (!w)
        return DRASYNC_ENOMEM;
    w->wire.ops = &mpi_wire_ops;
    for (int i = 0; i < WIRE_CHANNELS; i++)
        w->comms[i] = MPI_COMM_NULL;
    for (int i = 0; i < WIRE_CHANNELS; i++) {
        if (mpi.Comm_dup(boot->leaders, &w->comms[i])) {
            mpi_wire_close(&w->wire);
            return DRASYNC_EPEER;
        }
        mpi.Comm_set_errhandler(w->comms[i], MPI_ERRORS_RETURN);
    }
    mpi.Comm_rank(boot->leaders, &w->wire.node);
    mpi.Comm_size(boot->leaders, &w->wire.nodes);
    return engine_open(&w->wire, data, events, user, out);
}
