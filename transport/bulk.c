/* Data in segments: see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

/* --- Streams ------------------------------------------------------------- */

static size_t segment_bytes(const struct engine *engine, int from)
{
    if (engine_paged(engine))
        return SEGMENT_PAGED_BYTES;
    return engine->wire->ops->near(engine->wire, from) ? SEGMENT_NEAR_BYTES
                                                       : SEGMENT_BYTES;
}

/* Both sides know now how long segments are. */
static void cut_stream(const struct engine *engine, struct stream *s,
                       size_t bytes)
{
    s->segment_bytes = bytes;
    s->segments_max = bytes <= SEGMENT_NEAR_BYTES && !engine_paged(engine)
                          ? SEGMENTS_NEAR_MAX
                          : SEGMENTS_MAX;
}

/* Go on by @bytes, within the pieces. */
static void advance(const struct stream *s, struct cursor *at, size_t bytes)
{
    while (bytes > 0) {
        size_t left = s->pieces[at->piece].bytes - at->offset;
        if (bytes < left) {
            at->offset += bytes;
            return;
        }
        bytes -= left;
        at->piece++;
        at->offset = 0;
    }
}

/* Where @bytes > 0 at @at lie if nothing lies between them, else NULL. */
static char *straight(const struct stream *s, struct cursor *at, size_t bytes)
{
    while (at->offset == s->pieces[at->piece].bytes) {
        at->piece++; /* past pieces of no bytes too */
        at->offset = 0;
    }
    const struct transport_piece *p = &s->pieces[at->piece];
    char *start = (char *)p->ptr + at->offset, *end = (char *)p->ptr + p->bytes;

    while ((size_t)(end - start) < bytes && (char *)p[1].ptr == end) {
        p++;
        end += p->bytes;
    }
    return (size_t)(end - start) >= bytes ? start : NULL;
}

/* Between the pieces and a buffer, which is only read unless @gather. */
static void copy(const struct stream *s, struct cursor at, char *buffer,
                 size_t bytes, bool gather)
{
    while (bytes > 0) {
        const struct transport_piece *p = &s->pieces[at.piece];
        size_t now = p->bytes - at.offset;
        char *here = (char *)p->ptr + at.offset;
        if (now > bytes)
            now = bytes;
        if (now)
            memcpy(gather ? buffer : here, gather ? here : buffer, now);
        buffer += now;
        bytes -= now;
        at.piece++;
        at.offset = 0;
    }
}

/* What is left of the stretch that the next segment is in. */
static uint64_t stretch_left(const struct stream *s)
{
    return s->stretch < s->stretches_count
               ? s->stretches[s->stretch] - s->stretch_started
               : s->bytes_total - s->bytes_started;
}

/* @bytes of it have begun. */
static void advance_stretch(struct stream *s, size_t bytes)
{
    s->stretch_started += bytes;
    if (s->stretch < s->stretches_count &&
        s->stretch_started == s->stretches[s->stretch]) {
        s->stretch++;
        s->stretch_started = 0;
    }
}

/* Of the next segment; 0: wait.  @told: there is no more than we know of. */
static size_t next_bytes(const struct stream *s, bool told)
{
    uint64_t left = told ? s->bytes_told - s->bytes_started : stretch_left(s);

    return left < s->segment_bytes ? (size_t)left : s->segment_bytes;
}

/* The first of the paper's two messages. */
static int tell_page(struct engine *engine, const struct stream *s,
                     size_t bytes)
{
    engine->transport.counters.messages_sent += 2;
    return engine_answer(engine, s->peer, PACKET_PAGE, s->id, s->tag, bytes);
}

static char *take_buffer(struct engine *engine, size_t bytes)
{
    if (bytes <= SEGMENT_SMALL_BYTES)
        return malloc(bytes);
    return engine->spares > 0 ? engine->spare[--engine->spares]
                              : malloc(SEGMENT_BYTES);
}

static void give_buffer(struct engine *engine, char *buffer, size_t bytes)
{
    if (buffer && bytes > SEGMENT_SMALL_BYTES && engine->spares < SEGMENTS_MAX)
        engine->spare[engine->spares++] = buffer;
    else
        free(buffer);
}

/* Start the next segment, out or in; 0 without memory: try again at the next
 * poll. */
static int start_segment(struct engine *engine, struct stream *s, bool out)
{
    struct wire *wire = engine->wire;
    size_t bytes = next_bytes(s, engine_paged(engine) && !out);
    int err = 0;

    if (!s->segments)
        s->segments = calloc((size_t)s->segments_max, sizeof(*s->segments));
    if (!bytes || !s->segments)
        return 0;
    struct segment *g = &s->segments[(s->first + s->count) % s->segments_max];
    memset(g, 0, sizeof(*g));
    g->bytes = bytes;
    char *data = straight(s, &s->at, g->bytes);
    g->at = s->at;
    if (!data) {
        data = g->buffer = take_buffer(engine, bytes);
        if (!data)
            return 0;
        if (out)
            copy(s, g->at, data, g->bytes, true);
    }
    if (out && engine_paged(engine))
        err = tell_page(engine, s, bytes);
    if (out && !err)
        err = wire->ops->send(wire, s->peer, WIRE_BULK, s->tag, data, bytes,
                              &g->request);
    else if (!err)
        err = wire->ops->receive(wire, s->peer, WIRE_BULK, s->tag, data, bytes,
                                 &g->request);
    if (err) {
        give_buffer(engine, g->buffer, bytes);
        return err;
    }
    advance(s, &s->at, g->bytes);
    advance_stretch(s, g->bytes);
    s->bytes_started += g->bytes;
    s->count++;
    return 1;
}

/* The oldest segment: 1 if it has moved. */
static int finish_segment(struct engine *engine, struct stream *s, bool out)
{
    struct segment *g = &s->segments[s->first];
    size_t bytes = g->bytes;
    bool done;
    int err = engine->wire->ops->test(engine->wire, &g->request, &done, NULL,
                                      out ? NULL : &bytes);

    if (err || !done)
        return err;
    if (bytes != g->bytes)
        return DRASYNC_EINTERNAL;
    if (g->buffer && !out)
        copy(s, g->at, g->buffer, g->bytes, false);
    give_buffer(engine, g->buffer, g->bytes);
    g->buffer = NULL;
    s->bytes_done += g->bytes;
    s->first = (s->first + 1) % s->segments_max;
    s->count--;
    return 1;
}

/* Move what can be moved; how many segments began or ended. */
static int move_stream(struct engine *engine, struct stream *s, bool out)
{
    int moved = 0, now = 1;

    while (s->count > 0 && now > 0) {
        now = finish_segment(engine, s, out);
        if (now < 0)
            return now;
        moved += now;
    }
    for (now = 1; now > 0 && s->count < s->segments_max &&
                  s->bytes_started < s->bytes_total;
         moved += now) {
        now = start_segment(engine, s, out);
        if (now < 0)
            return now;
    }
    return moved;
}

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
    o->id = (uint64_t)++engine->out_serial << 32 | slot;
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
    cut_stream(engine, &o->stream, (size_t)packet->bulk_bytes);
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
        int now = move_stream(engine, &o->stream, true);
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

void bulk_free_incoming(struct incoming *in)
{
    transport_sink_free(&in->sink);
    free(in->stream.segments);
    free(in->stretches);
    free(in->header);
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
    copy(s, s->at, (char *)(uintptr_t)data, bytes, false);
    advance(s, &s->at, bytes);
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
        cut_stream(engine, &in->stream, segment_bytes(engine, in->from));
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
        int now = move_stream(engine, &in->stream, false);
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
        bulk_free_incoming(in);
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

static void drop_stream(struct engine *engine, struct stream *s, bool in)
{
    for (int i = 0; i < s->count; i++) {
        struct segment *g = &s->segments[(s->first + i) % s->segments_max];
        if (in && g->request.active)
            engine->wire->ops->cancel(engine->wire, &g->request);
        else if (g->request.active)
            continue; /* the network still reads the buffer */
        free(g->buffer);
    }
}

void bulk_close(struct engine *engine)
{
    for (size_t i = 0; i < engine->out_capacity; i++) {
        if (!engine->out[i])
            continue;
        drop_stream(engine, &engine->out[i]->stream, false);
        bulk_forget(engine, engine->out[i]->id);
    }
    free(engine->out);
    for (int i = 0; i < SLOTS_MAX; i++) {
        if (!engine->slots[i])
            continue;
        drop_stream(engine, &engine->slots[i]->stream, true);
        bulk_free_incoming(engine->slots[i]);
    }
    while (engine->waiting_first) {
        struct incoming *in = engine->waiting_first;
        engine->waiting_first = in->next;
        bulk_free_incoming(in);
    }
    while (engine->spares > 0)
        free(engine->spare[--engine->spares]);
}
