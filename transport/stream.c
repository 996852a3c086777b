/* A stream: data that moves in segments, straight from where it lies or through
 * buffers; see engine.h. */
#include "transport/engine.h"

#include <stdlib.h>
#include <string.h>

#include "drasync.h"

size_t stream_segment_bytes(const struct engine *engine, int from)
{
    if (engine_paged(engine))
        return SEGMENT_PAGED_BYTES;
    return engine->wire->ops->near(engine->wire, from) ? SEGMENT_NEAR_BYTES
                                                       : SEGMENT_BYTES;
}

void stream_cut(const struct engine *engine, struct stream *s, size_t bytes)
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

/* Start the next segment, out or in; 0 without memory: try again at the next
 * poll. */
static int start_segment(struct engine *engine, struct stream *s, bool out)
{
    const struct transport *t = &engine->transport;
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
        data = g->buffer = spares_take(&engine->segment_spares, bytes);
        if (!data)
            return 0;
        if (out)
            copy(s, g->at, data, g->bytes, true);
    } else if (t->events.exposes) {
        t->events.exposes(t->user);
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
        spares_give(&engine->segment_spares, g->buffer, bytes);
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
    spares_give(&engine->segment_spares, g->buffer, g->bytes);
    g->buffer = NULL;
    s->bytes_done += g->bytes;
    s->first = (s->first + 1) % s->segments_max;
    s->count--;
    return 1;
}

int stream_move(struct engine *engine, struct stream *s, bool out)
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

void stream_fill(struct stream *s, const char *data, size_t bytes)
{
    copy(s, s->at, (char *)(uintptr_t)data, bytes, false);
    advance(s, &s->at, bytes);
}

void stream_drop(struct engine *engine, struct stream *s, bool in)
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
