/* Messages with data: announced, answered, and moved by streams (stream.c). */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

/* --- Out ----------------------------------------------------------------- */

static int out_slot(struct engine *engine, size_t *slot_out)
{
    for (size_t i = 0; i < engine->out_capacity; i++) {
        if (!engine->out[i]) {
            *slot_out = i;
            return 0;
        }
    }
    size_t capacity = engine->out_capacity ? 2 * engine->out_capacity : 64;
    struct outgoing **out =
        capacity < UINT32_MAX
            ? realloc(engine->out, capacity * sizeof(*engine->out))
            : NULL;
    if (!out)
        return DRASYNC_ENOMEM;
    memset(out + engine->out_capacity, 0,
           (capacity - engine->out_capacity) * sizeof(*out));
    *slot_out = engine->out_capacity;
    engine->out = out;
    engine->out_capacity = capacity;
    return 0;
}

int bulk_announce(struct engine *engine, int to,
                  const struct transport_message *message, uint64_t bulk_bytes,
                  uint64_t *id_out)
{
    size_t slot,
        pieces_bytes = message->pieces_count * sizeof(*message->pieces);
    struct outgoing *o =
        calloc(1, sizeof(*o) + pieces_bytes +
                      stretches_room(message->pieces_count) * sizeof(uint64_t));
    int err = o ? out_slot(engine, &slot) : DRASYNC_ENOMEM;

    if (err) {
        free(o);
        return err;
    }
    o->to = to;
    o->kind = message->kind;
    o->context = message->context;
    o->pieces_count = message->pieces_count;
    memcpy(o->pieces, message->pieces, pieces_bytes);
    o->stream.pieces = o->pieces;
    if (!engine_paged(engine)) {
        uint64_t *stretches = (void *)&o->pieces[o->pieces_count];

        o->stream.stretches_count =
            stretches_of(o->pieces, o->pieces_count, stretches);
        o->stream.stretches = stretches;
    }
    o->stream.bytes_total = bulk_bytes;
    /* 0 is none. */
    if (!++engine->out_serial)
        engine->out_serial = 1;
    o->id = (uint64_t)engine->out_serial << 32 | slot;
    engine->out[slot] = o;
    engine->out_count++;
    o->stream.peer = to;
    o->stream.id = o->id;
    *id_out = o->id;
    return 0;
}

size_t bulk_stretches(const struct engine *engine, uint64_t id,
                      struct transport_piece *list_out)
{
    const struct stream *s = &engine->out[(uint32_t)id]->stream;

    list_out->ptr = (void *)(uintptr_t)s->stretches;
    list_out->bytes = s->stretches_count * sizeof(*s->stretches);
    return s->stretches_count;
}

void bulk_forget(struct engine *engine, uint64_t id)
{
    free(engine->out[(uint32_t)id]->stream.segments);
    free(engine->out[(uint32_t)id]);
    engine->out[(uint32_t)id] = NULL;
    engine->out_count--;
}

static void outgoing_over(struct engine *engine, struct outgoing *o, int result)
{
    struct transport *t = &engine->transport;
    int to = o->to;
    uint32_t kind = o->kind;
    uint64_t context = o->context;

    bulk_forget(engine, o->id);
    t->events.sent(t->user, to, kind, context, result);
}

int bulk_answered(struct engine *engine, int from, const struct packet *packet)
{
    uint32_t slot = (uint32_t)packet->id;
    struct outgoing *o = slot < engine->out_capacity ? engine->out[slot] : NULL;

    if (!o || o->id != packet->id || o->to != from || o->going)
        return DRASYNC_EINTERNAL;
    if (packet->type == PACKET_REFUSE) {
        outgoing_over(engine, o,
                      packet->value < 0 ? packet->value : DRASYNC_EINTERNAL);
        return 0;
    }
    if (packet->value < 0 || packet->value >= SLOTS_MAX ||
        !packet->bulk_bytes || packet->bulk_bytes > SEGMENT_BYTES)
        return DRASYNC_EINTERNAL;
    o->going = true;
    stream_cut(engine, &o->stream, (size_t)packet->bulk_bytes);
    o->stream.tag = packet->value;
    o->next = engine->moving;
    engine->moving = o;
    return 0;
}

static int poll_out(struct engine *engine)
{
    struct outgoing *over = NULL, **link = &engine->moving;
    int moved = 0;

    while (*link) {
        struct outgoing *o = *link;
        int now = stream_move(engine, &o->stream, true);
        if (now < 0)
            return now;
        moved += now;
        if (o->stream.bytes_done < o->stream.bytes_total) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        o->next = over;
        over = o;
    }
    while (over) {
        struct outgoing *next = over->next;
        outgoing_over(engine, over, 0);
        over = next;
    }
    return moved;
}

/* --- In ------------------------------------------------------------------ */

void bulk_free_incoming(struct engine *engine, struct incoming *in)
{
    transport_sink_free(&in->sink);
    free(in->stream.segments);
    free(in->stretches);
    spares_give(&engine->header_spares, in->header, in->header_bytes + 1);
    free(in);
}

void bulk_expect(struct engine *engine, struct incoming *in)
{
    in->stream.pieces = in->sink.pieces;
    in->stream.bytes_total = in->bulk_bytes;
    in->stream.stretches = in->stretches;
    in->stream.stretches_count = in->stretches_count;
    in->stream.peer = in->from;
    in->stream.id = in->id;
    in->next = NULL;
    *engine->waiting_last = in;
    engine->waiting_last = &in->next;
}

void bulk_fill(struct incoming *in, const char *data, size_t bytes)
{
    struct stream *s = &in->stream;

    s->pieces = in->sink.pieces;
    stream_fill(s, data, bytes);
}

int bulk_page(struct engine *engine, int from, const struct packet *packet)
{
    int slot = packet->value;
    struct incoming *in =
        slot >= 0 && slot < SLOTS_MAX ? engine->slots[slot] : NULL;

    if (!engine_paged(engine) || !in || in->from != from ||
        in->id != packet->id || packet->bulk_bytes == 0 ||
        packet->bulk_bytes > SEGMENT_PAGED_BYTES ||
        packet->bulk_bytes > in->bulk_bytes - in->stream.bytes_told)
        return DRASYNC_EINTERNAL;
    in->stream.bytes_told += packet->bulk_bytes;
    engine->transport.counters.messages_received += 2;
    return 0;
}

/* Give slots to those that wait, in order. */
static int begin_waiting(struct engine *engine)
{
    int moved = 0;

    for (int i = 0; i < SLOTS_MAX && engine->waiting_first; i++) {
        struct incoming *in = engine->waiting_first;
        if (engine->slots[i])
            continue;
        engine->waiting_first = in->next;
        if (!in->next)
            engine->waiting_last = &engine->waiting_first;
        in->stream.tag = i;
        stream_cut(engine, &in->stream, stream_segment_bytes(engine, in->from));
        engine->slots[i] = in;
        engine->slots_used++;
        int err = engine_answer(engine, in->from, PACKET_GO, in->id, i,
                                in->stream.segment_bytes);
        if (err)
            return err;
        moved++;
    }
    return moved;
}

static int poll_in(struct engine *engine)
{
    struct transport *t = &engine->transport;
    int moved = 0, left = engine->slots_used;

    for (int i = 0; i < SLOTS_MAX && left > 0; i++) {
        struct incoming *in = engine->slots[i];
        if (!in)
            continue;
        left--;
        int now = stream_move(engine, &in->stream, false);
        if (now < 0)
            return now;
        moved += now;
        if (in->stream.bytes_done < in->stream.bytes_total)
            continue;
        engine->slots[i] = NULL;
        engine->slots_used--;
        t->counters.messages_received++;
        t->counters.bytes_received += in->bulk_bytes;
        t->events.arrived(t->user, in->from, in->kind, in->header,
                          in->header_bytes, in->context);
        bulk_free_incoming(engine, in);
    }
    return moved;
}

int bulk_poll(struct engine *engine)
{
    /* Who looks at a segment moves others along, for as long as the sockets
     * take them; so the answers that other nodes wait for go first. */
    int begun = begin_waiting(engine);
    int in = begun < 0 ? begun : poll_in(engine);
    int out = in < 0 ? in : poll_out(engine);

    return out < 0 ? out : begun + in + out;
}

void bulk_close(struct engine *engine)
{
    for (size_t i = 0; i < engine->out_capacity; i++) {
        if (!engine->out[i])
            continue;
        stream_drop(engine, &engine->out[i]->stream, false);
        bulk_forget(engine, engine->out[i]->id);
    }
    free(engine->out);
    for (int i = 0; i < SLOTS_MAX; i++) {
        if (!engine->slots[i])
            continue;
        stream_drop(engine, &engine->slots[i]->stream, true);
        bulk_free_incoming(engine, engine->slots[i]);
    }
    while (engine->waiting_first) {
        struct incoming *in = engine->waiting_first;
        engine->waiting_first = in->next;
        bulk_free_incoming(engine, in);
    }
}
