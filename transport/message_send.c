/* Messages leave, in packets, with what of their data travels there: see engine.h.
 */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

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
static int reserve_rest(struct engine *engine, int to, const struct source *src,
                        uint32_t here, uint32_t data, struct sending **list_out)
{
    struct source left = *src;
    struct sending **last = list_out;

    *list_out = NULL;
    left.header_left -= here;
    left.data_left -= data;
    while (left.header_left + left.data_left > 0) {
        *last = packet_room(engine, to, source_share(&left, &here, &data));
        if (!*last) {
            packets_free(engine, *list_out);
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
            packets_free(engine, list);
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

int message_send(struct transport *transport, int to,
                 const struct transport_message *message)
{
    struct engine *engine = (struct engine *)transport;
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
    bool eager = bulk_bytes && bulk_bytes <= eager_bytes_max(engine, to);
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
    if (!reserve_rest(engine, to, &src, here, data, &rest))
        p = how ? packet_late(engine, to, PACKET_MESSAGE, bytes, how,
                              message->soon > 0)
                : packet_new(engine, to, PACKET_MESSAGE, bytes, &s);
    if (!p) {
        packets_free(engine, rest);
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
    if (eager && bulk_bytes > EAGER_BYTES_MAX)
        engine->eager_bytes_left -= (size_t)bulk_bytes;
    if (message->soon && s->soons < UINT8_MAX)
        s->soons++;
    err = packet_send(engine, s);
    if (err)
        packets_free(engine, rest);
    else
        err = send_rest(engine, rest, &src);
    if (err)
        forget_data(engine, bulk_bytes, id);
    return err;
}

int message_poll_finished(struct engine *engine)
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

void message_drop_finished(struct engine *engine)
{
    while (engine->finished_first) {
        struct finished *f = engine->finished_first;
        engine->finished_first = f->next;
        free(f);
    }
}
