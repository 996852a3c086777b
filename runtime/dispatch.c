#include "runtime/dispatch.h"

#include "runtime/death.h"
#include "runtime/shared.h"

static const struct runtime_handler *handlers[RUNTIME_KINDS_MAX];
static runtime_server *servers[RUNTIME_KINDS_MAX];
static struct dispatch_counts counts;

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

/* Messages that may still be under way when all is over. */
static bool counted(uint32_t kind)
{
    return kind != RUNTIME_KIND_DONE && kind != RUNTIME_KIND_STOP &&
           kind != RUNTIME_KIND_POISON;
}

void dispatch_count_sent(uint32_t kind)
{
    if (counted(kind))
        counts.sent++;
}

void dispatch_publish(const struct transport_counters *c)
{
    struct runtime_shared *shared = runtime.shared;

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

static int on_place(void *user, int from, uint32_t kind, const void *header,
                    size_t header_bytes, uint64_t bulk_bytes,
                    struct transport_sink *sink, uint64_t *context_out)
{
    const struct runtime_handler *handler;
    int err;

    (void)user;
    *context_out = 0;
    handler = kind < RUNTIME_KINDS_MAX ? handlers[kind] : NULL;
    if (handler && handler->place)
        err = handler->place(from, header, header_bytes, bulk_bytes, sink,
                             context_out);
    else
        err = bulk_bytes ? DRASYNC_EINVAL : 0;
    if (err && counted(kind))
        counts.received++; /* `arrived` will not come */
    return err;
}

static void on_arrived(void *user, int from, uint32_t kind, const void *header,
                       size_t header_bytes, uint64_t context)
{
    (void)user;
    switch (kind) {
    case RUNTIME_KIND_REPLY:
        call_replied(from, header, header_bytes);
        break;
    case RUNTIME_KIND_POISON:
        death_poisoned_by(from, header, header_bytes);
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
            runtime_poison("node %d sent a message of unknown kind %u", from,
                           kind);
    }
    if (counted(kind))
        counts.received++;
}

static void on_sent(void *user, int to, uint32_t kind, uint64_t context,
                    int result)
{
    (void)user;
    if (kind < RUNTIME_KINDS_MAX && handlers[kind] && handlers[kind]->sent)
        handlers[kind]->sent(to, context, result);
}

const struct transport_events dispatch_events = {
    .place = on_place,
    .arrived = on_arrived,
    .sent = on_sent,
};
