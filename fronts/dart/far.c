/* Put and get to other nodes, by messages: see far.h. */
#include "fronts/dart/far.h"

#include <limits.h>
#include <stdlib.h>

#include "fronts/dart/shape.h"
#include "fronts/dart/window.h"

/* One operation of MPI, whose counts are ints. */
#define PIECE_BYTES_MAX ((size_t)1 << 30)

/* --- MPI's window ------------------------------------------------------------- */

/* @bytes in one piece; @request NULL: a flush tells. */
static int piece(const struct far *far, size_t there, size_t here, size_t bytes,
                 MPI_Request *request)
{
    int target = window_target(far->target.node), count = (int)bytes;
    MPI_Aint at = (MPI_Aint)(far->target.place + there);
    char *buffer = (char *)far->buffer + here;

    if (far->put)
        return request ? MPI_Rput(buffer, count, MPI_BYTE, target, at, count,
                                  MPI_BYTE, window_mpi, request)
                       : MPI_Put(buffer, count, MPI_BYTE, target, at, count,
                                 MPI_BYTE, window_mpi);
    return request ? MPI_Rget(buffer, count, MPI_BYTE, target, at, count,
                              MPI_BYTE, window_mpi, request)
                   : MPI_Get(buffer, count, MPI_BYTE, target, at, count,
                             MPI_BYTE, window_mpi);
}

/* Piece by piece as the shapes have it: for what MPI's counts cannot say. */
static int pieces(const struct far *far)
{
    size_t left = far->nelem * far->here->bytes;
    struct shape_cursor there, here;
    int err = 0;

    shape_begin(&there, far->there, far->nelem);
    shape_begin(&here, far->here, far->nelem);
    while (left && !err) {
        size_t bytes = there.bytes < here.bytes ? there.bytes : here.bytes;

        if (bytes > PIECE_BYTES_MAX)
            bytes = PIECE_BYTES_MAX;
        err = piece(far, there.at, here.at, bytes, NULL);
        left -= bytes;
        if (left) {
            shape_advance(&there, bytes);
            shape_advance(&here, bytes);
        }
    }
    return err;
}

/* A shape as MPI has it; false: its count is more than an int. */
static bool as_mpi(const struct type *type, size_t nelem, MPI_Datatype *mpi,
                   int *count)
{
    bool plain = type->kind == TYPE_BASIC;
    size_t n = plain ? nelem * type->bytes : nelem / type->elements;

    *mpi = plain ? MPI_BYTE : type->mpi;
    *count = (int)n;
    return n <= INT_MAX;
}

/* In one operation with MPI's types.  @request as above, but it is not set for a
 * get: MPICH 4.0.2 completes MPI_Rget with such a type too early. */
static int shaped(const struct far *far, MPI_Request *request)
{
    int target = window_target(far->target.node), there_count, here_count;
    MPI_Aint at = (MPI_Aint)far->target.place;
    MPI_Datatype there, here;

    if (!as_mpi(far->there, far->nelem, &there, &there_count) ||
        !as_mpi(far->here, far->nelem, &here, &here_count))
        return pieces(far);
    if (far->put)
        return request ? MPI_Rput(far->buffer, here_count, here, target, at,
                                  there_count, there, window_mpi, request)
                       : MPI_Put(far->buffer, here_count, here, target, at,
                                 there_count, there, window_mpi);
    return MPI_Get(far->buffer, here_count, here, target, at, there_count,
                   there, window_mpi);
}

static dart_ret_t transfer_failed(int node, int err)
{
    return front_fail(front_error(err), "a transfer to node %d: %s", node,
                      drasync_strerror(err));
}

static int send_piece(const struct far *far, size_t bytes, rma_ticket *ticket)
{
    int node = far->target.node;
    uint64_t place = far->target.place;

    return far->put ? rma_far_put(node, place, far->buffer, bytes, ticket)
                    : rma_far_get(node, place, far->buffer, bytes, ticket);
}

static int send_runs(const struct far *far, size_t bytes, rma_ticket *ticket)
{
    int node = far->target.node;
    uint64_t place = far->target.place;
    struct shape_runs there, here;

    shape_runs_begin(&there, far->there, far->nelem);
    shape_runs_begin(&here, far->here, far->nelem);
    return far->put ? rma_far_put_runs(node, place, &there.runs, far->buffer,
                                       &here.runs, bytes, ticket)
                    : rma_far_get_runs(node, place, &there.runs, far->buffer,
                                       &here.runs, bytes, ticket);
}

/* By messages of ours.  Puts of few bytes and in shapes are copied; @handle has a
 * ticket then only if it is to be done @soon. */
static dart_ret_t by_message(const struct far *far, dart_handle_t handle,
                             bool soon)
{
    size_t bytes = far->nelem * far->here->bytes;
    bool whole = shape_in_one_piece(far->there, far->nelem) &&
                 shape_in_one_piece(far->here, far->nelem);
    bool copied = far->put && (!whole || bytes <= RMA_FAR_COPIED_BYTES);
    rma_ticket *ticket = handle && (soon || !copied) ? &handle->ticket : NULL;
    int err =
        whole ? send_piece(far, bytes, ticket) : send_runs(far, bytes, ticket);

    if (handle)
        handle->copied = copied;
    return err ? transfer_failed(far->target.node, err) : DART_OK;
}

dart_ret_t far_begin(const struct far *far, dart_handle_t handle)
{
    bool plain =
        far->there->kind == TYPE_BASIC && far->here->kind == TYPE_BASIC;
    size_t bytes = far->nelem * far->here->bytes;
    MPI_Request *request = handle ? &handle->request : NULL;
    int node = far->target.node, err;

    if (handle) {
        handle->request = MPI_REQUEST_NULL;
        handle->ticket = 0;
        handle->copied = false;
        handle->node = node;
        handle->put = far->put;
        handle->by_flush = false;
    }
    if (window_by_messages)
        return by_message(far, handle, false);
    rma_awake(node);
    if (plain && bytes <= PIECE_BYTES_MAX)
        err = piece(far, 0, 0, bytes, request);
    else
        err = plain ? pieces(far) : shaped(far, request);
    window_use(node);
    if (request)
        handle->by_flush = *request == MPI_REQUEST_NULL;
    if (!err)
        return DART_OK;
    /* Pieces of it may be under way, from or into the program's buffer. */
    if (window_flush(node))
        return front_fail(DART_ERR_OTHER,
                          "MPI could not begin a transfer, nor end what of it "
                          "is under way: its buffer is still in use");
    return front_fail(DART_ERR_OTHER, "MPI could not begin a transfer");
}

dart_ret_t far_do(const struct far *far)
{
    struct dart_handle_struct handle;
    int node = far->target.node, err;
    dart_ret_t ret;

    handle.ticket = 0;
    ret = by_message(far, &handle, true);
    if (ret)
        return ret;
    err = rma_far_wait(node, handle.ticket);
    return err ? transfer_failed(node, err) : DART_OK;
}

/* --- Private memory ------------------------------------------------------------- */

/* The target's pieces from or into @packed. */
static int private_pieces(const struct far *far, char *packed)
{
    size_t left = far->nelem * far->there->bytes;
    struct rma_piece pieces[RMA_PIECES_MAX];
    struct shape_cursor there;
    int rank = far->target.rank, err = 0;

    shape_begin(&there, far->there, far->nelem);
    while (left && !err) {
        size_t count = 0, bytes = 0;

        while (count < RMA_PIECES_MAX && bytes < left) {
            pieces[count].place = far->target.place + there.at;
            pieces[count++].bytes = there.bytes;
            bytes += there.bytes;
            if (bytes < left)
                shape_advance(&there, there.bytes);
        }
        err = far->put ? rma_write_pieces(rank, pieces, count, packed)
                       : rma_read_pieces(rank, pieces, count, packed);
        packed += bytes;
        left -= bytes;
    }
    return err;
}

dart_ret_t far_private(const struct far *far)
{
    /* Its own type may have been destroyed. */
    const struct type element = {.kind = TYPE_BASIC,
                                 .bytes = far->here->bytes,
                                 .elements = 1,
                                 .extent_bytes = far->here->bytes};
    bool plain = far->here->kind == TYPE_BASIC;
    char *packed = far->buffer;
    int err;

    if (!plain) {
        packed = malloc(far->nelem * far->here->bytes);
        if (!packed)
            return front_fail(DART_ERR_NOMEM, "no memory to pack a transfer");
    }
    if (!plain && far->put)
        shape_copy(packed, &element, far->buffer, far->here, far->nelem);
    err = private_pieces(far, packed);
    if (!plain && !far->put && !err)
        shape_copy(far->buffer, far->here, packed, &element, far->nelem);
    if (!plain)
        free(packed);
    return err ? front_fail(front_error(err), "private memory of unit %d: %s",
                            far->target.rank, drasync_strerror(err))
               : DART_OK;
}
