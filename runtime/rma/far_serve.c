/* Answering transfers of other nodes, and taking their answers: see far.h.
 * Handlers, so all on whoever does the progress thread's work. */
#include <stdlib.h>
#include <string.h>

#include "memory/passed.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "runtime/no_memory.h"
#include "runtime/process.h"
#include "runtime/rma/far_runs.h"
#include "runtime/say.h"

void far_answer_put(int rank, rma_ticket ticket, int err)
{
    const struct far_answer a = {ticket, err};
    const struct transport_message m = {
        .kind = FAR_DONE,
        .header = &a,
        .header_bytes = sizeof(a),
    };

    if (!ticket && err)
        runtime_broken("rank %d put into memory that this node does not have",
                       rank);
    else if (ticket && progress_answer(rank, &m))
        runtime_no_memory("answer rank %d", rank);
}

/* False: the job is over. */
static bool read_head(int from, const void *header, size_t bytes,
                      struct far_head *head)
{
    if (bytes >= sizeof(*head)) {
        memcpy(head, header, sizeof(*head));
        return true;
    }
    runtime_broken("rank %d sent a transfer that is cut short", from);
    return false;
}

static int put_place(int from, const void *header, size_t header_bytes,
                     uint64_t bulk_bytes, struct transport_sink *sink,
                     uint64_t *context_out)
{
    struct far_head head;
    void *address;
    int err;

    if (!bulk_bytes)
        return 0;
    if (!read_head(from, header, header_bytes, &head))
        return DRASYNC_EINVAL;
    *context_out = 1;
    address = head.bytes == bulk_bytes
                  ? space_window(&runtime.space, head.place, head.bytes)
                  : NULL;
    if (!address) {
        far_answer_put(from, head.ticket, DRASYNC_EINVAL);
        return DRASYNC_EINVAL;
    }
    err = transport_sink_add(sink, address, bulk_bytes);
    if (err)
        far_answer_put(from, head.ticket, err);
    return err;
}

static void put_arrived(int from, const void *header, size_t header_bytes,
                        uint64_t context)
{
    const char *data = (const char *)header + sizeof(struct far_head);
    struct far_head head;
    void *address;
    int err = 0;

    if (!read_head(from, header, header_bytes, &head))
        return;
    if (!context && head.bytes) {
        address = header_bytes - sizeof(head) == head.bytes
                      ? space_window(&runtime.space, head.place, head.bytes)
                      : NULL;
        passed_unseen_begin();
        if (address)
            memcpy(address, data, head.bytes);
        else
            err = DRASYNC_EINVAL;
        passed_unseen_end();
    }
    far_answer_put(from, head.ticket, err);
}

/* Our data has left. */
static void put_sent(int to, uint64_t context, int result)
{
    (void)result; /* told by an answer */
    far_op_answered(context, runtime.node_of[to], 0);
}

/* Only a node's leader answers for it. */
static bool answered(int from, rma_ticket ticket, int err)
{
    return runtime.local_of[from] == 0 &&
           far_op_answered(ticket, runtime.node_of[from], err);
}

static void done_arrived(int from, const void *header, size_t header_bytes,
                         uint64_t context)
{
    struct far_answer a = {0};

    (void)context;
    if (header_bytes >= sizeof(a))
        memcpy(&a, header, sizeof(a));
    if (!answered(from, a.ticket, (int)a.err))
        runtime_broken("rank %d answered a transfer that was not made", from);
}

static void get_arrived(int from, const void *header, size_t header_bytes,
                        uint64_t context)
{
    char small[sizeof(struct far_answer) + FAR_SMALL_BYTES];
    struct transport_piece piece = {0};
    struct far_answer a = {0};
    struct transport_message m = {
        .kind = FAR_DATA,
        .header = small,
        .header_bytes = sizeof(a),
    };
    struct far_head head;

    (void)context;
    if (!read_head(from, header, header_bytes, &head))
        return;
    piece.ptr = space_window(&runtime.space, head.place, head.bytes);
    piece.bytes = head.bytes;
    a.ticket = head.ticket;
    a.err = piece.ptr ? 0 : DRASYNC_EINVAL;
    memcpy(small, &a, sizeof(a));
    if (!a.err && head.bytes <= FAR_SMALL_BYTES) {
        passed_unseen_begin();
        memcpy(small + sizeof(a), piece.ptr, head.bytes);
        passed_unseen_end();
        m.header_bytes += head.bytes;
    } else if (!a.err) {
        m.pieces = &piece;
        m.pieces_count = 1;
    }
    if (progress_answer(from, &m))
        runtime_no_memory("answer rank %d", from);
}

/* Where the data that belongs to a header goes. */
static void *data_to(int from, const void *header, size_t header_bytes,
                     uint64_t bytes)
{
    struct far_answer a;

    if (header_bytes < sizeof(a) || runtime.local_of[from] != 0)
        return NULL;
    memcpy(&a, header, sizeof(a));
    return far_op_to(a.ticket, runtime.node_of[from], bytes);
}

static int data_place(int from, const void *header, size_t header_bytes,
                      uint64_t bulk_bytes, struct transport_sink *sink,
                      uint64_t *context_out)
{
    void *to;

    if (!bulk_bytes)
        return 0;
    *context_out = 1;
    to = data_to(from, header, header_bytes, bulk_bytes);
    if (to)
        return transport_sink_add(sink, to, bulk_bytes);
    runtime_broken("rank %d sent data that nobody asked for", from);
    return DRASYNC_EINVAL;
}

/* Of a get in a shape.  False: it was another. */
static bool piece_arrived(int from, const void *header, const char *data,
                          size_t bytes)
{
    struct far_piece *piece;
    struct far_answer a;

    memcpy(&a, header, sizeof(a));
    piece = runtime.local_of[from] == 0
                ? far_op_piece(a.ticket, runtime.node_of[from])
                : NULL;
    if (!piece)
        return false;
    passed_unseen_begin();
    if (piece->bytes == bytes)
        far_piece_unpack(piece, data);
    else if (!a.err)
        runtime_broken("rank %d sent %zu bytes where %zu were asked for", from,
                       bytes, (size_t)piece->bytes);
    passed_unseen_end();
    free(piece);
    return true;
}

static void data_arrived(int from, const void *header, size_t header_bytes,
                         uint64_t context)
{
    const char *data = (const char *)header + sizeof(struct far_answer);
    size_t bytes = header_bytes - sizeof(struct far_answer);

    if (!context && header_bytes >= sizeof(struct far_answer) &&
        !piece_arrived(from, header, data, bytes) && bytes) {
        void *to = data_to(from, header, header_bytes, bytes);

        passed_unseen_begin();
        if (to)
            memcpy(to, data, bytes);
        passed_unseen_end();
    }
    done_arrived(from, header, header_bytes, 0);
}

static const struct runtime_handler put_handler = {
    .by_rank = true,
    .place = put_place,
    .arrived = put_arrived,
    .sent = put_sent,
};

static const struct runtime_handler done_handler = {
    .by_rank = true,
    .arrived = done_arrived,
};

static const struct runtime_handler data_handler = {
    .by_rank = true,
    .place = data_place,
    .arrived = data_arrived,
};

void far_serve_start(void)
{
    static const struct runtime_handler get = {
        .by_rank = true,
        .arrived = get_arrived,
    };

    runtime_handle(FAR_PUT, &put_handler);
    runtime_handle(FAR_DONE, &done_handler);
    runtime_handle(FAR_GET, &get);
    runtime_handle(FAR_DATA, &data_handler);
    far_runs_serve_start();
}
