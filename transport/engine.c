/* Packets, messages and bulk data over any way to send: see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static struct engine *engine_of(struct transport *transport)
{
    return (struct engine *)transport;
}

/* --- Sending -------------------------------------------------------------- */

/* What is left of a message that goes in packets. */
struct source {
    const char *header;
    size_t header_left, data_left;
    size_t room; /* of a packet */
    const struct transport_piece *piece;
    size_t offset; /* in it */
};

/* Say how much of @src goes into the next packet; how many bytes that is. */
static size_t source_share(const struct source *src, uint32_t *here_out,
                           uint32_t *data_out)
{
    size_t here = src->header_left < src->room ? src->header_left : src->room;
    size_t left = src->room - here;
    size_t data = src->data_left < left ? src->data_left : left;

    *here_out = (uint32_t)here;
    *data_out = (uint32_t)data;
    return here + data;
}

/* Fill it with that. */
static void source_take(struct source *src, struct packet *p, uint32_t here,
                        uint32_t data)
{
    char *to = p->bytes;

    p->here_bytes = here;
    p->data_bytes = data;
    if (here)
        memcpy(to, src->header, here);
    to += here;
    src->header += here;
    src->header_left -= here;
    src->data_left -= data;
    while (data > 0) {
        size_t now = src->piece->bytes - src->offset;

        if (now > data)
            now = data;
        if (now)
            memcpy(to, (const char *)src->piece->ptr + src->offset, now);
        to += now;
        data -= (uint32_t)now;
        src->offset += now;
        if (src->offset == src->piece->bytes) {
            src->piece++;
            src->offset = 0;
        }
    }
}

/* Packets for what does not fit in the first one.  A message goes whole or not at
 * all: who gets some of its packets waits for the rest. */
static int reserve_rest(int to, const struct source *src, uint32_t here,
                        uint32_t data, struct sending **list_out)
{
    struct source left = *src;
    struct sending **last = list_out;

    *list_out = NULL;
    left.header_left -= here;
    left.data_left -= data;
    while (left.header_left + left.data_left > 0) {
        *last = packet_room(to, source_share(&left, &here, &data));
        if (!*last) {
            packets_free(*list_out);
            *list_out = NULL;
            return DRASYNC_ENOMEM;
        }
        left.header_left -= here;
        left.data_left -= data;
        last = &(*last)->next;
    }
    return 0;
}

static int send_rest(struct engine *engine, struct sending *list,
                     struct source *src)
{
    while (list) {
        uint32_t here, data;
        size_t bytes = source_share(src, &here, &data);
        struct sending *s = list;

        list = s->next;
        s->next = NULL;
        source_take(src, packet_in(s, PACKET_MORE, bytes), here, data);
        int err = packet_send(engine, s);
        if (err) {
            packets_free(list);
            return err;
        }
    }
    return 0;
}

/* `sent` comes from the next poll: our caller may hold locks that it takes. */
static int finish_later(struct engine *engine, int to,
                        const struct transport_message *message)
{
    struct finished *f = malloc(sizeof(*f));

    if (!f)
        return DRASYNC_ENOMEM;
    *f = (struct finished){
        .to = to, .kind = message->kind, .context = message->context};
    *engine->finished_last = f;
    engine->finished_last = &f->next;
    engine->transport.sent++;
    return 0;
}

static int bulk_bytes_of(const struct transport_message *message,
                         uint64_t *bytes_out)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < message->pieces_count; i++) {
        if (__builtin_add_overflow(bytes, message->pieces[i].bytes, &bytes) ||
            bytes > TRANSPORT_BULK_BYTES_MAX)
            return DRASYNC_EINVAL;
    }
    *bytes_out = bytes;
    return 0;
}

/* Promise the data, or what is to be said when it is gone. */
static int begin_data(struct engine *engine, int to,
                      const struct transport_message *message,
                      uint64_t bulk_bytes, bool eager, uint64_t *id_out)
{
    if (!bulk_bytes)
        return 0;
    return eager ? finish_later(engine, to, message)
                 : bulk_announce(engine, to, message, bulk_bytes, id_out);
}

/* The message is not sent after all. */
static void forget_data(struct engine *engine, uint64_t bulk_bytes, uint64_t id)
{
    struct finished **link = &engine->finished_first;

    if (id)
        bulk_forget(engine, id);
    if (id || !bulk_bytes)
        return;
    while ((*link)->next)
        link = &(*link)->next;
    free(*link);
    *link = NULL;
    engine->finished_last = link;
    engine->transport.sent--;
}

/* May @message, whose packet has all of it, wait for others? */
static enum waits waits_for(const struct engine *engine, int to,
                            const struct transport_message *message,
                            uint64_t bulk_bytes)
{
    uint8_t alone = message->soon;

    if (alone == TRANSPORT_PATIENT) {
        if (patience_pays(&engine->patience[to]))
            return WAITS_PATIENT;
        alone = PATIENT_ALONE;
    }
    if (alone && engine->soons_left[to] >= alone)
        return WAITS_SOON;
    if (message->late && !bulk_bytes)
        return WAITS_LATE;
    return engine->transport.corked ? WAITS_SOON : WAITS_NOT;
}

static int engine_send(struct transport *transport, int to,
                       const struct transport_message *message)
{
    struct engine *engine = engine_of(transport);
    struct source src = {.header = message->header,
                         .header_left = message->header_bytes,
                         .piece = message->pieces};
    struct transport_piece list = {NULL, 0};
    uint64_t bulk_bytes, id = 0;
    size_t stretches = 0;
    struct sending *s = NULL, *rest = NULL;
    uint32_t here, data;
    int err = bulk_bytes_of(message, &bulk_bytes);

    if (err || to < 0 || to >= transport->nodes ||
        message->header_bytes > TRANSPORT_HEADER_BYTES_MAX)
        return DRASYNC_EINVAL;
    src.room = packet_bytes_max(engine, to) - sizeof(struct packet);
    bool eager =
        bulk_bytes && bulk_bytes <= EAGER_BYTES_MAX && !engine_paged(engine);
    if (eager)
        src.data_left = (size_t)bulk_bytes;
    err = begin_data(engine, to, message, bulk_bytes, eager, &id);
    if (err)
        return err;
    if (id) {
        stretches = bulk_stretches(engine, id, &list);
        src.piece = &list;
        src.data_left = list.bytes;
    }
    /* What waits goes in the first packet, also if that would be full. */
    size_t along = packet_along(engine, to);
    src.room -= along;
    size_t bytes = source_share(&src, &here, &data);
    src.room += along;
    bool whole = here == src.header_left && data == bulk_bytes;
    enum waits how =
        whole ? waits_for(engine, to, message, bulk_bytes) : WAITS_NOT;
    struct packet *p = NULL;
    if (!reserve_rest(to, &src, here, data, &rest))
        p = how ? packet_late(engine, to, PACKET_MESSAGE, bytes, how,
                              message->soon > 0)
                : packet_new(engine, to, PACKET_MESSAGE, bytes, &s);
    if (!p) {
        packets_free(rest);
        forget_data(engine, bulk_bytes, id);
        return DRASYNC_ENOMEM;
    }
    if (message->soon == TRANSPORT_PATIENT)
        patience_begins(&engine->patience[to], now_us(engine));
    p->kind = message->kind;
    p->id = id;
    p->header_bytes = message->header_bytes;
    p->bulk_bytes = bulk_bytes;
    p->eager = eager;
    p->value = (int32_t)stretches;
    source_take(&src, p, here, data);
    transport->counters.messages_sent++;
    transport->counters.bytes_sent += bulk_bytes;
    if (how)
        return 0;
    if (message->soon && s->soons < UINT8_MAX)
        s->soons++;
    err = packet_send(engine, s);
    if (err)
        packets_free(rest);
    else
        err = send_rest(engine, rest, &src);
    if (err)
        forget_data(engine, bulk_bytes, id);
    return err;
}

static int poll_finished(struct engine *engine)
{
    struct transport *t = &engine->transport;
    int moved = 0;

    while (engine->finished_first) {
        struct finished *f = engine->finished_first;
        engine->finished_first = f->next;
        if (!f->next)
            engine->finished_last = &engine->finished_first;
        t->sent--;
        t->events.sent(t->user, f->to, f->kind, f->context, 0);
        free(f);
        moved++;
    }
    return moved;
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
    int (*const steps[])(struct engine *) = {poll_packet, packets_poll,
                                             poll_finished, bulk_poll};
    int moved = 0;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        int now = steps[i](engine);
        if (now < 0)
            return now;
        moved += now;
    }
    return moved;
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
        bulk_free_incoming(in);
    }
    while (engine->finished_first) {
        struct finished *f = engine->finished_first;
        engine->finished_first = f->next;
        free(f);
    }
    /* A packet that is still on its way belongs to the network: let it go. */
    engine->wire->ops->close(engine->wire);
    free(engine->late_to);
    free(engine->soons_left);
    free(engine->patience);
    free(engine);
}

static const struct transport_ops engine_ops = {
    .send = engine_send,
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
    engine->transport.ops = &engine_ops;
    engine->transport.events = *events;
    engine->transport.user = user;
    engine->transport.node = wire->node;
    engine->transport.nodes = wire->nodes;
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
