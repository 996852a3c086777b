/*
 * transport.h - messages between nodes: send, poll, now.  Over MPI every rank
 * may have an end of its own: "node" then means that, and is the rank's number.
 *
 * A message is a kind, a header (copied) and bulk data (a list of pieces of
 * memory, not copied).  Between two nodes headers arrive in the order they were
 * sent.  Small messages carry their data along; of a larger one the header
 * arrives first, the receiver says where the data goes, and the data then moves
 * straight from the sender's pieces into the receiver's.  It may be complete
 * after messages that were sent later.
 *
 * A transport does not know what the bytes mean.  Callers guarantee:
 *   - one thread at a time uses a transport;
 *   - pieces stay, and do not change, until `sent`; the memory named in a sink
 *     stays until `arrived`;
 *   - callbacks, which run inside transport_poll(), do not call
 *     transport_poll(); they may call transport_send().
 */
#ifndef DRASYNC_TRANSPORT_TRANSPORT_H
#define DRASYNC_TRANSPORT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of memory that data comes from or goes to. */
struct transport_piece {
    void *ptr;
    size_t bytes;
};

/* A list of pieces that grows; adjacent pieces become one, but for long ones: the
 * other side may have others there (stretches.h). */
struct transport_sink {
    struct transport_piece *pieces;
    size_t count, capacity;
    uint64_t bytes;
};

/* Add @bytes at @ptr to the places the data of a message goes to, or comes from,
 * in order.
 * DRASYNC_ENOMEM. */
int transport_sink_add(struct transport_sink *sink, void *ptr, size_t bytes);
void transport_sink_free(struct transport_sink *sink);

struct transport_message {
    uint32_t kind;
    const void *header;
    size_t header_bytes;
    const struct transport_piece *pieces;
    size_t pieces_count;
    uint64_t context; /* given to `sent` */
    /* If it is short and has no data it may wait for the next message to that
     * node, and go with that, or for transport_flush(). */
    bool late;
    /* Not 0: nobody waits for it yet.  If as many such messages have gone to
     * that node, and nothing has come from there since, it waits for more to go
     * with: until something comes, or for transport_flush_soon().  So many of
     * them take few packets, and the first are not delayed (Nagle's algorithm
     * has 1).  TRANSPORT_PATIENT: it waits if the last such messages were followed
     * at once by another to that node (patience.h). */
    uint8_t soon;
};

#define TRANSPORT_PATIENT UINT8_MAX

/* Limits: a message past them is refused by transport_send(). */
#define TRANSPORT_HEADER_BYTES_MAX ((size_t)1 << 30)
#define TRANSPORT_BULK_BYTES_MAX   ((uint64_t)1 << 46)

/* What the owner of a transport wants to hear.  @user is his. */
struct transport_events {
    /*
     * A message from @from, in order.  @bulk_bytes of data belong to it: add
     * exactly as many to @sink, or return a negative code to refuse them;
     * `arrived` is not called then.  @header stays
     * valid until `arrived` returns.  *context_out goes to `arrived`.
     */
    int (*place)(void *user, int from, uint32_t kind, const void *header,
                 size_t header_bytes, uint64_t bulk_bytes,
                 struct transport_sink *sink, uint64_t *context_out);
    /* Its data is in place.  Follows `place` at once if there is none. */
    void (*arrived)(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t context);
    /*
     * The pieces of a message with data, sent to @to, are free again: @result
     * is 0, or what the receiver's `place` refused it with.  A small message's
     * are free before the receiver has seen it, so that is 0 even if it is
     * refused: who refuses tells by a message of his own if it matters.
     */
    void (*sent)(void *user, int to, uint32_t kind, uint64_t context,
                 int result);
    /* Memory of pieces or a sink is given to the network, which may have made
     * arrangements for other memory that was at its address before (an adapter's
     * registration).  NULL: it never was. */
    void (*exposes)(void *user);
};

struct transport_counters {
    uint64_t messages_sent, messages_received;
    uint64_t bytes_sent, bytes_received; /* bulk data */
};

struct transport;

struct transport_ops {
    int (*send)(struct transport *transport, int to,
                const struct transport_message *message);
    int (*poll)(struct transport *transport);
    int (*flush)(struct transport *transport, bool all);
    bool (*still)(const struct transport *transport);
    uint64_t (*now_us)(const struct transport *transport);
    void (*close)(struct transport *transport);
};

/* What every implementation begins with. */
struct transport {
    const struct transport_ops *ops;
    struct transport_events events;
    void *user;
    int node, nodes;
    bool corked; /* transport_cork() */
    int late;    /* nodes that messages wait to be sent to */
    int soon;    /* those of them to which one should not wait long */
    int sent;    /* what has left, and the next poll says so */
    struct transport_counters counters;
};

/*
 * Send to node @to, which may be this one.  Never waits.
 *   DRASYNC_EINVAL (no such node, a limit), DRASYNC_ENOMEM, DRASYNC_EPEER
 */
static inline int transport_send(struct transport *transport, int to,
                                 const struct transport_message *message)
{
    return transport->ops->send(transport, to, message);
}

/*
 * Move what can be moved and call back for what has happened; never waits.
 * Returns how many things moved (0: nothing), or DRASYNC_EPEER when the network
 * reports an error, DRASYNC_ENOMEM, DRASYNC_EINTERNAL.
 */
static inline int transport_poll(struct transport *transport)
{
    return transport->ops->poll(transport);
}

/* Send what waits because it may be late.  What moved, or an error. */
static inline int transport_flush(struct transport *transport)
{
    return transport->late ? transport->ops->flush(transport, true) : 0;
}

/* The same, but what is only `late` waits on, if nothing that is `soon` waits
 * for the same node. */
static inline int transport_flush_soon(struct transport *transport)
{
    return transport->soon ? transport->ops->flush(transport, false) : 0;
}

/* From here on short messages wait for each other, until transport_uncork()
 * sends them: for who has several to send at once.  Those that may be late wait
 * on, if there are no others. */
static inline void transport_cork(struct transport *transport)
{
    transport->corked = true;
}

static inline int transport_uncork(struct transport *transport)
{
    transport->corked = false;
    return transport_flush_soon(transport);
}

/* Has all that was sent left, or been announced and completed, so that nobody
 * need push it?  What is late does not count. */
static inline bool transport_pushed(const struct transport *transport)
{
    return transport->ops->still(transport);
}

/* Is nothing of this node's in flight: sent, or announced and not complete?
 * What is late does not count. */
static inline bool transport_still(const struct transport *transport)
{
    return !transport->sent && transport_pushed(transport);
}

/* The same, and nothing is late. */
static inline bool transport_idle(const struct transport *transport)
{
    return !transport->late && transport_still(transport);
}

/* Microseconds on the transport's clock. */
static inline uint64_t transport_now_us(const struct transport *transport)
{
    return transport->ops->now_us(transport);
}

/* Close; waits for nothing.  Call when it is idle on all nodes. */
static inline void transport_close(struct transport *transport)
{
    if (transport)
        transport->ops->close(transport);
}

/* How data moves that does not fit in a packet. */
enum transport_data {
    TRANSPORT_BULK, /* long segments, many under way */
    /* As in the DRASync paper, to compare with: a page of 4 KiB at a time, each
     * as two messages, its size and its contents.  The same as TRANSPORT_BULK
     * in a build without --enable-wire-paged. */
    TRANSPORT_PAGED,
};

#endif /* DRASYNC_TRANSPORT_TRANSPORT_H */
