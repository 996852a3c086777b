/* Handlers by kind of message, and counts of messages: see dispatch.h. */
#include "runtime/messages/dispatch.h"

#include "memory/frames.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

static const struct runtime_handler *handlers[RUNTIME_KINDS_MAX];
static runtime_server *servers[RUNTIME_KINDS_MAX];
static struct dispatch_counts counts;
static const struct transport_counters *counters; /* the node's, or NULL */
static uint64_t urgent; /* messages that somebody may wait for */

void runtime_handle(uint32_t kind, const struct runtime_handler *handler)
{
    if (kind < RUNTIME_KINDS_MAX)
        handlers[kind] = handler;
}

void runtime_serve(uint32_t kind, runtime_server *server)
{
    if (kind < RUNTIME_KINDS_MAX)
        servers[kind] = server;
}

/* Not those that may still be under way when all is over. */
static bool counted(int rank, uint32_t kind)
{
    return kind != RUNTIME_KIND_DONE && kind != RUNTIME_KIND_STOP &&
           kind != RUNTIME_KIND_POISON && runtime.local_of[rank] == 0;
}

int dispatch_answer(struct transport *transport, int rank,
                    const struct transport_message *message)
{
    int err = transport_send(transport, rank, message);

    if (!err && counted(rank, message->kind))
        counts.sent++;
    return err;
}

int dispatch_send(struct transport *transport, int node,
                  const struct transport_message *message)
{
    return dispatch_answer(transport, runtime.leader_of[node], message);
}

void dispatch_counters(const struct transport_counters *c)
{
    counters = c;
}

void dispatch_publish(void)
{
    const struct transport_counters *c = counters;
    struct runtime_shared *shared = runtime.shared;

    if (!c)
        return;
    atomic_store_explicit(&shared->messages_sent, c->messages_sent,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->messages_received, c->messages_received,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->bytes_sent, c->bytes_sent,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->bytes_received, c->bytes_received,
                          memory_order_relaxed);
}

struct dispatch_counts dispatch_get_counts(void)
{
    return counts;
}

static const struct runtime_handler *handler_of(uint32_t kind)
{
    return kind < RUNTIME_KINDS_MAX ? handlers[kind] : NULL;
}

void runtime_message_has_time(void)
{
    urgent--;
}

uint64_t dispatch_urgent(void)
{
    return urgent;
}

/* What a kind's handler knows @rank by; -1: it may not send such messages, or
 * not to this rank, which leads no node. */
static int name_of(int rank, uint32_t kind)
{
    const struct runtime_handler *handler = handler_of(kind);

    if (handler && handler->by_rank)
        return rank;
    return runtime.leader && runtime.local_of[rank] == 0 ? runtime.node_of[rank]
                                                         : -1;
}

static int on_place(void *user, int rank, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    const struct runtime_handler *handler = handler_of(kind);
    int err, from = name_of(rank, kind);

    (void)user;
    *context_out = 0;
    urgent++;
    if (from >= 0 && handler && handler->place)
        err = handler->place(from, header, header_bytes, bulk_bytes, sink,
                             context_out);
    else
        err = bulk_bytes ? DRASYNC_EINVAL : 0;
    if (err && counted(rank, kind))
        counts.received++; /* `arrived` will not come */
    return err;
}

static void on_arrived(void *user, int rank, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    int from = name_of(rank, kind);

    (void)user;
    if (from < 0) {
        runtime_broken("rank %d sent a message of kind %u, which only goes "
                       "from leader to leader",
                       rank, kind);
        return;
    }
    dispatch_publish();
    switch (kind) {
    case RUNTIME_KIND_REPLY:
        call_replied(from, header, header_bytes);
        break;
    case RUNTIME_KIND_POISON:
        runtime_poisoned_by(from, header, header_bytes);
        break;
    case RUNTIME_KIND_DONE:
        shutdown_done_arrived(from, header, header_bytes);
        break;
    case RUNTIME_KIND_STOP:
        shutdown_stop_arrived(from, header, header_bytes);
        break;
    default:
        if (kind < RUNTIME_KINDS_MAX && servers[kind])
            call_serve(servers[kind], from, header, header_bytes);
        else if (kind < RUNTIME_KINDS_MAX && handlers[kind])
            handlers[kind]->arrived(from, header, header_bytes, context);
        else
            runtime_broken("node %d sent a message of unknown kind %u", from,
                           kind);
    }
    if (counted(rank, kind))
        counts.received++;
}

static void on_sent(void *user, int rank, uint32_t kind, uint64_t context,
                    int result)
{
    const struct runtime_handler *handler = handler_of(kind);

    (void)user;
    if (handler && handler->sent)
        handler->sent(handler->by_rank ? rank : runtime.node_of[rank], context,
                      result);
}

static void on_exposes(void *user)
{
    (void)user;
    frames_catch_up(&runtime.space);
}

const struct transport_events dispatch_events = {
    .place = on_place,
    .arrived = on_arrived,
    .sent = on_sent,
    .exposes = on_exposes,
};
