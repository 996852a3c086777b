/*
 * MPI's calls that send and post receives, as symbols, in both libraries as those
 * of blocking.c: passed on, and counted if DRASYNC_CHECK=deadlock.
 */
#include "shim/counts_next.h"

static int passed(int err)
{
    if (err)
        drasync_counts_unsure();
    return err;
}

/* --- Messages that are sent ----------------------------------------------- */

#define SENDS(name, declared, given)           \
    int name declared                          \
    {                                          \
        NEXT_CALL(name);                       \
        if (counted && comm == MPI_COMM_WORLD) \
            drasync_counts_send(to, tag);      \
        return next given;                     \
    }

#define BLOCKING                                                        \
    (const void *buffer, int count, MPI_Datatype type, int to, int tag, \
     MPI_Comm comm)
#define STARTED                                                         \
    (const void *buffer, int count, MPI_Datatype type, int to, int tag, \
     MPI_Comm comm, MPI_Request *request)

SENDS(MPI_Bsend, BLOCKING, (buffer, count, type, to, tag, comm))
SENDS(MPI_Rsend, BLOCKING, (buffer, count, type, to, tag, comm))
SENDS(MPI_Isend, STARTED, (buffer, count, type, to, tag, comm, request))
SENDS(MPI_Issend, STARTED, (buffer, count, type, to, tag, comm, request))
SENDS(MPI_Ibsend, STARTED, (buffer, count, type, to, tag, comm, request))
SENDS(MPI_Irsend, STARTED, (buffer, count, type, to, tag, comm, request))

/* --- Receives that are posted --------------------------------------------- */

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    NEXT_CALL(MPI_Irecv);
    struct waiting_need need;
    int err;

    if (!counted || comm != MPI_COMM_WORLD)
        return next(buffer, count, type, from, tag, comm, request);
    drasync_counts_post(from, tag, &need);
    err = next(buffer, count, type, from, tag, comm, request);
    if (!err && need.count)
        drasync_counts_request((uint64_t)(uintptr_t)*request, &need);
    return passed(err);
}

int MPI_Sendrecv_replace(void *buffer, int count, MPI_Datatype type, int to,
                         int tag, int from, int in_tag, MPI_Comm comm,
                         MPI_Status *status)
{
    NEXT_CALL(MPI_Sendrecv_replace);
    struct waiting_need need;

    if (counted && comm == MPI_COMM_WORLD) {
        drasync_counts_send(to, tag);
        drasync_counts_post(from, in_tag, &need);
    }
    return passed(
        next(buffer, count, type, to, tag, from, in_tag, comm, status));
}

/* Forget the request: its handle may be used again, and its message may not
 * have come. */
int MPI_Request_free(MPI_Request *request)
{
    NEXT_CALL(MPI_Request_free);
    const struct waiting_need none = {.count = 0};

    if (counted)
        drasync_counts_request((uint64_t)(uintptr_t)*request, &none);
    return next(request);
}

/* --- What is not counted -------------------------------------------------- */

#define INIT(name) \
    UNSURE(name, STARTED, (buffer, count, type, to, tag, comm, request))

INIT(MPI_Send_init)
INIT(MPI_Bsend_init)
INIT(MPI_Rsend_init)
INIT(MPI_Ssend_init)
UNSURE(MPI_Cancel, (MPI_Request * request), (request))
