#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

static struct engine *engine_of(struct transport *transport)
{
    return (struct engine *)transport;
}

/* --- Sending -------------------------------------------------------------- */

/* The rest of a header that did not fit in the first packet. */
static int send_rest(struct engine *engine, int to, const char *rest,
                     size_t bytes)
{
    while (bytes > 0) {
        size_t now = bytes < PACKET_ROOM ? bytes : PACKET_ROOM;
        struct sending *s;
        struct packet *p = packet_new(engine, to, PACKET_MORE, now, &s);
        if (!p)
            return DRASYNC_ENOMEM;
        p->here_bytes = (uint32_t)now;
        memcpy(p->bytes, rest, now);
        int err = packet_send(engine, s);
        if (err)
            return err;
        rest += now;
        bytes -= now;
    }
    return 0;
}

/* `sent` comes from the next poll: our caller may hold locks that it takes. */
static int finish_later(struct engine *engine, int to,
                        const struct transport_message *message)
{
    struct finished *f = calloc(1, sizeof(*f));

    if (!f)
        return DRASYNC_ENOMEM;
    f->to = to;
    f->kind = message->kind;
    f->context = message->context;
    *engine->finished_last = f;
    engine->finished_last = &f->next;
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

static int engine_send(struct transport *transport, int to,
                       const struct transport_message *message)
{
    struct engine *engine = engine_of(transport);
    size_t header_bytes = message->header_bytes, here, inline_bytes = 0;
    uint64_t bulk_bytes, id = 0;
    int err = bulk_bytes_of(message, &bulk_bytes);

    if (err || to < 0 || to >= transport->nodes ||
        header_bytes > TRANSPORT_HEADER_BYTES_MAX)
        return DRASYNC_EINVAL;
    here = header_bytes < PACKET_ROOM ? header_bytes : PACKET_ROOM;
    if (header_bytes + bulk_bytes <= PACKET_ROOM && !engine->paged)
        inline_bytes = (size_t)bulk_bytes;
    if (bulk_bytes)
        err = inline_bytes
                  ? finish_later(engine, to, message)
                  : bulk_announce(engine, to, message, bulk_bytes, &id);
    if (err)
        return err;
    bool late = message->late && here == header_bytes && !bulk_bytes;
    struct sending *s = NULL;
    struct packet *p =
        late ? packet_late(engine, to, PACKET_MESSAGE, here)
             : packet_new(engine, to, PACKET_MESSAGE, here + inline_bytes, &s);
    if (!p) {
        if (id)
            bulk_forget(engine, id);
        return DRASYNC_ENOMEM;
    }

    p->kind = message->kind;
    p->id = id;
    p->header_bytes = header_bytes;
    p->bulk_bytes = bulk_bytes;
    p->here_bytes = (uint32_t)here;
    p->eager = inline_bytes > 0;
    if (here)
        memcpy(p->bytes, message->header, here);
    char *to_bytes = p->bytes + here;
    for (size_t i = 0; i < message->pieces_count && inline_bytes; i++) {
        if (message->pieces[i].bytes)
            memcpy(to_bytes, message->pieces[i].ptr, message->pieces[i].bytes);
        to_bytes += message->pieces[i].bytes;
    }
    transport->counters.messages_sent++;
    transport->counters.bytes_sent += bulk_bytes;
    if (late)
        return 0;
    err = packet_send(engine, s);
    if (!err && here < header_bytes)
        err = send_rest(engine, to, (const char *)message->header + here,
                        header_bytes - here);
    if (err && id)
        bulk_forget(engine, id);
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
        t->events.sent(t->user, f->to, f->kind, f->context, 0);
        free(f);
        moved++;
    }
    return moved;
}

/* --- Receiving ----------------------------------------------------------- */

static void scatter(const struct transport_sink *sink, const char *bytes)
{
    for (size_t i = 0; i < sink->count; i++) {
        memcpy(sink->pieces[i].ptr, bytes, sink->pieces[i].bytes);
        bytes += sink->pieces[i].bytes;
    }
}

/* Ask where the data of @in goes.  0, or why it is refused. */
static int place(struct engine *engine, struct incoming *in, const char *header)
{
    struct transport *t = &engine->transport;
    int err =
        t->events.place(t->user, in->from, in->kind, header, in->header_bytes,
                        in->bulk_bytes, &in->sink, &in->context);

    if (!err && in->sink.bytes != in->bulk_bytes)
        err = DRASYNC_EINTERNAL;
    return err;
}

static void arrived(struct engine *engine, struct incoming *in,
                    const char *header)
{
    struct transport *t = &engine->transport;

    t->counters.messages_received++;
    t->counters.bytes_received += in->bulk_bytes;
    t->events.arrived(t->user, in->from, in->kind, header, in->header_bytes,
                      in->context);
}

/* The header of @in is whole; it is ours. */
static int header_whole(struct engine *engine, struct incoming *in)
{
    int err = place(engine, in, in->header);

    if (!err && in->bulk_bytes) {
        bulk_expect(engine, in);
        return 0;
    }
    if (!err)
        arrived(engine, in, in->header);
    else if (in->bulk_bytes)
        err = engine_answer(engine, in->from, PACKET_REFUSE, in->id, err, 0);
    else
        err = 0;
    bulk_free_incoming(in);
    return err;
}

/* A message that is all in its packet. */
static void message_whole(struct engine *engine, int from,
                          const struct packet *p)
{
    struct incoming in = {
        .from = from,
        .kind = p->kind,
        .header_bytes = p->header_bytes,
        .bulk_bytes = p->bulk_bytes,
    };

    if (!place(engine, &in, p->bytes)) {
        scatter(&in.sink, p->bytes + p->here_bytes);
        arrived(engine, &in, p->bytes);
    }
    transport_sink_free(&in.sink);
}

/* The message of @from whose header is not whole. */
static struct incoming **partial_link(struct engine *engine, int from)
{
    struct incoming **link = &engine->partial;

    while (*link && (*link)->from != from)
        link = &(*link)->next;
    return link;
}

static int message_begun(struct engine *engine, int from,
                         const struct packet *p)
{
    struct incoming *in = calloc(1, sizeof(*in));

    if (in)
        in->header = malloc(p->header_bytes + 1);
    if (!in || !in->header) {
        free(in);
        return DRASYNC_ENOMEM;
    }
    in->from = from;
    in->kind = p->kind;
    in->id = p->id;
    in->header_bytes = p->header_bytes;
    in->header_got = p->here_bytes;
    in->bulk_bytes = p->bulk_bytes;
    memcpy(in->header, p->bytes, p->here_bytes);
    if (in->header_got == in->header_bytes)
        return header_whole(engine, in);
    in->next = engine->partial;
    engine->partial = in;
    return 0;
}

static int message_more(struct engine *engine, int from, const struct packet *p)
{
    struct incoming **link = partial_link(engine, from), *in = *link;

    if (!in || p->here_bytes > in->header_bytes - in->header_got)
        return DRASYNC_EINTERNAL;
    memcpy(in->header + in->header_got, p->bytes, p->here_bytes);
    in->header_got += p->here_bytes;
    if (in->header_got < in->header_bytes)
        return 0;
    *link = in->next;
    return header_whole(engine, in);
}

/* How long the packet at @p is, of which @bytes are here; 0: broken. */
static size_t packet_length(const struct packet *p, size_t bytes)
{
    size_t room = bytes - sizeof(*p), body;

    if (bytes < sizeof(*p) || p->here_bytes > room)
        return 0;
    body = p->here_bytes;
    if (p->type == PACKET_MESSAGE) {
        if (p->header_bytes > TRANSPORT_HEADER_BYTES_MAX ||
            p->here_bytes > p->header_bytes ||
            p->bulk_bytes > TRANSPORT_BULK_BYTES_MAX)
            return 0;
        if (p->eager && (p->here_bytes != p->header_bytes ||
                         p->bulk_bytes > room - p->here_bytes))
            return 0;
        if (p->eager)
            body += p->bulk_bytes;
    }
    return PACKET_PADDED(body) <= room ? sizeof(*p) + PACKET_PADDED(body) : 0;
}

static int packet_arrived(struct engine *engine, int from,
                          const struct packet *p)
{
    switch (p->type) {
    case PACKET_MESSAGE:
        if (*partial_link(engine, from))
            return DRASYNC_EINTERNAL;
        if (p->eager ||
            (p->bulk_bytes == 0 && p->here_bytes == p->header_bytes)) {
            message_whole(engine, from, p);
            return 0;
        }
        return message_begun(engine, from, p);
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

/* One packet, or several behind each other. */
static int packets_arrived(struct engine *engine, int from, const char *at,
                           size_t bytes)
{
    int err = bytes ? 0 : DRASYNC_EINTERNAL;

    while (bytes > 0 && !err) {
        const struct packet *p = (const void *)at;
        size_t length = packet_length(p, bytes);

        if (!length)
            return DRASYNC_EINTERNAL;
        err = packet_arrived(engine, from, p);
        at += length;
        bytes -= length;
    }
    return err;
}

static int post(struct engine *engine, int at)
{
    return engine->wire->ops->receive(engine->wire, WIRE_ANY, WIRE_CONTROL, 0,
                                      engine->posted[at], PACKET_BYTES_MAX,
                                      &engine->posted_requests[at]);
}

/* The receives match packets in the order in which they were posted, so looking
 * at the oldest alone keeps the order. */
static int poll_packets(struct engine *engine)
{
    int moved = 0;

    while (moved < PACKETS_A_POLL_MAX) {
        int at = engine->posted_first, from, err;
        size_t bytes;
        bool done;

        err = engine->wire->ops->test(
            engine->wire, &engine->posted_requests[at], &done, &from, &bytes);
        if (err)
            return err;
        if (!done)
            break;
        err = packets_arrived(engine, from, (const char *)engine->posted[at],
                              bytes);
        if (!err)
            err = post(engine, at);
        if (err)
            return err;
        engine->posted_first = (at + 1) % engine->posted_count;
        moved++;
    }
    return moved;
}

static int engine_poll(struct transport *transport)
{
    struct engine *engine = engine_of(transport);
    int (*const steps[])(struct engine *) = {poll_packets, packets_poll,
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

    return !engine->sending_first && !engine->finished_first &&
           !engine->out_count && !engine->waiting_first &&
           !engine->slots_used && !engine->partial;
}

static uint64_t engine_now_us(const struct transport *transport)
{
    const struct engine *engine = (const struct engine *)transport;

    return engine->wire->ops->now_us(engine->wire);
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
    engine->posted_count = wire->few ? PACKETS_POSTED_FEW : PACKETS_POSTED;
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
