/* A transport over any way to send, and the packets that come: see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static struct engine *engine_of(struct transport *transport)
{
    return (struct engine *)transport;
}

/* --- Receiving ----------------------------------------------------------- */

static int packet_arrived(struct engine *engine, int from,
                          const struct packet *p)
{
    switch (p->type) {
    case PACKET_MESSAGE:
        return message_first(engine, from, p);
    case PACKET_MORE:
        return message_more(engine, from, p);
    case PACKET_GO:
    case PACKET_REFUSE:
        return bulk_answered(engine, from, p);
    case PACKET_PAGE:
        return bulk_page(engine, from, p);
    default:
        return DRASYNC_EINTERNAL;
    }
}

/* How long the packet at @p is, of which @bytes are here; 0: broken. */
static size_t packet_length(const struct packet *p, size_t bytes)
{
    size_t room = bytes - sizeof(*p), body;

    if (bytes < sizeof(*p) || p->here_bytes > room ||
        p->data_bytes > room - p->here_bytes)
        return 0;
    body = p->here_bytes + (size_t)p->data_bytes;
    return PACKET_PADDED(body) <= room ? sizeof(*p) + PACKET_PADDED(body) : 0;
}

/* One packet, or several behind each other: then what answers them goes together
 * too. */
static int packets_arrived(struct engine *engine, int from, const char *at,
                           size_t bytes)
{
    struct transport *t = &engine->transport;
    int err = bytes ? 0 : DRASYNC_EINTERNAL;

    engine->soons_left[from] = 0;
    while (bytes > 0 && !err) {
        const struct packet *p = (const void *)at;
        size_t length = packet_length(p, bytes);

        if (!length) {
            err = DRASYNC_EINTERNAL;
            break;
        }
        if (length < bytes)
            transport_cork(t);
        err = packet_arrived(engine, from, p);
        at += length;
        bytes -= length;
    }
    int flushed = transport_uncork(t);
    return flushed < 0 && !err ? flushed : err;
}

static int post(struct engine *engine, int at)
{
    return engine->wire->ops->receive(engine->wire, WIRE_ANY, WIRE_CONTROL, 0,
                                      engine->posted[at], PACKET_BYTES_MAX,
                                      &engine->posted_requests[at]);
}

/*
 * The receives match packets in the order in which they were posted, so looking
 * at the oldest alone keeps the order.  One packet in a poll: it may be what the
 * caller waits for, and to look for the next one is a system call.
 */
static int poll_packet(struct engine *engine)
{
    int at = engine->posted_first, from, err;
    size_t bytes;
    bool done;

    /* An error came after the last packet, and was told: no other one is taken. */
    if (!engine->posted_requests[at].active)
        return DRASYNC_EINTERNAL;
    err = engine->wire->ops->test(engine->wire, &engine->posted_requests[at],
                                  &done, &from, &bytes);
    if (err || !done)
        return err;
    err =
        packets_arrived(engine, from, (const char *)engine->posted[at], bytes);
    if (!err)
        err = post(engine, at);
    if (err)
        return err;
    engine->posted_first = (at + 1) % engine->posted_count;
    return 1;
}

static int engine_poll(struct transport *transport)
{
    struct engine *engine = engine_of(transport);
    engine->eager_bytes_left = eager_long_bytes(engine);
    int (*const steps[])(struct engine *) = {poll_packet, packets_poll,
                                             message_poll_finished, bulk_poll};
    int moved = 0, err = 0;

    /* After an error of one step the others go on: what tells other nodes of it
     * has still to leave. */
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int now = steps[i](engine);
        if (now >= 0)
            moved += now;
        else if (!err)
            err = now;
    }
    return err ? err : moved;
}

/* --- Open, close --------------------------------------------------------- */

static bool engine_still(const struct transport *transport)
{
    const struct engine *engine = (const struct engine *)transport;

    return !engine->sending_first && !engine->out_count &&
           !engine->waiting_first && !engine->slots_used && !engine->partial;
}

static uint64_t engine_now_us(const struct transport *transport)
{
    const struct engine *engine = (const struct engine *)transport;

    return now_us(engine);
}

static void engine_close(struct transport *transport)
{
    struct engine *engine = engine_of(transport);

    for (int i = 0; i < engine->posted_count; i++) {
        if (engine->posted_requests[i].active)
            engine->wire->ops->cancel(engine->wire,
                                      &engine->posted_requests[i]);
        free(engine->posted[i]);
    }
    bulk_close(engine);
    packets_close(engine);
    while (engine->partial) {
        struct incoming *in = engine->partial;
        engine->partial = in->next;
        bulk_free_incoming(engine, in);
    }
    message_drop_finished(engine);
    /* A packet that is still on its way belongs to the network: let it go. */
    engine->wire->ops->close(engine->wire);
    spares_free(&engine->segment_spares);
    spares_free(&engine->packet_spares);
    spares_free(&engine->header_spares);
    free(engine->late_to);
    free(engine->soons_left);
    free(engine->patience);
    free(engine);
}

static const struct transport_ops engine_ops = {
    .send = message_send,
    .poll = engine_poll,
    .flush = packets_flush,
    .still = engine_still,
    .now_us = engine_now_us,
    .close = engine_close,
};

/* MPI looks at each receive that waits for a packet, from any node, before it
 * finds that of a segment: where segments are short, there are few. */
static int packets_posted(const struct wire *wire)
{
    if (wire->few)
        return PACKETS_POSTED_FEW;
    for (int node = 0; node < wire->nodes; node++)
        if (!wire->ops->near(wire, node))
            return PACKETS_POSTED;
    return PACKETS_POSTED_FEW;
}

int engine_open(struct wire *wire, enum transport_data data,
                const struct transport_events *events, void *user,
                struct transport **out)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    int err = 0;

    if (!engine) {
        wire->ops->close(wire);
        return DRASYNC_ENOMEM;
    }
    engine->wire = wire;
    engine->paged = data == TRANSPORT_PAGED;
    engine->eager_bytes_left = eager_long_bytes(engine);
    engine->transport.ops = &engine_ops;
    engine->transport.events = *events;
    engine->transport.user = user;
    engine->transport.node = wire->node;
    engine->transport.nodes = wire->nodes;
    engine->segment_spares = (struct spares){
        .bytes_min = SEGMENT_SMALL_BYTES + 1, .bytes = SEGMENT_BYTES, .max = 4};
    engine->packet_spares =
        (struct spares){.bytes_min = PACKET_BYTES,
                        .bytes = sizeof(struct sending) + PACKET_BYTES_MAX,
                        .max = 2 + EAGER_LONG_MAX / PACKET_BYTES_MAX};
    engine->header_spares = (struct spares){
        .bytes_min = PACKET_BYTES_MAX, .bytes = HEADER_KEPT_BYTES, .max = 4};
    engine->sending_last = &engine->sending_first;
    engine->finished_last = &engine->finished_first;
    engine->waiting_last = &engine->waiting_first;
    engine->soons_left = calloc((size_t)wire->nodes, 1);
    engine->patience = calloc((size_t)wire->nodes, sizeof(*engine->patience));
    engine->late_to = calloc((size_t)wire->nodes, sizeof(*engine->late_to));
    if (!engine->soons_left || !engine->patience || !engine->late_to)
        err = DRASYNC_ENOMEM;
    engine->posted_count = packets_posted(wire);
    for (int i = 0; i < engine->posted_count && !err; i++) {
        engine->posted[i] = malloc(PACKET_BYTES_MAX);
        err = engine->posted[i] ? post(engine, i) : DRASYNC_ENOMEM;
    }
    if (err) {
        engine_close(&engine->transport);
        return err;
    }
    *out = &engine->transport;
    return 0;
}
