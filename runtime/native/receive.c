/*
 * Messages of the protocol arrive: decoded, handled, and room made for the data
 * that comes with them.  All on the leader's progress thread.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/frames.h"
#include "memory/grow.h"
#include "memory/limit.h"
#include "runtime/messages/messages.h"
#include "runtime/native/ahead.h"
#include "runtime/native/delta.h"
#include "runtime/native/give.h"
#include "runtime/native/later.h"
#include "runtime/native/state.h"
#include "runtime/native/wire.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* A copy that waits for its data. */
struct placed {
    struct proto_copy *copy;
    struct native_frames *frames;
};

struct native_arrival {
    int from;
    const char *at, *end; /* what comes after the encoded message */
    struct transport_sink *sink;
    struct placed *placed;
    size_t placed_count, placed_room;
    struct later *later; /* comes with a message of its own; or NULL */
    int parts;           /* of the data, that are not here */
    int err;
    bool expected;
    uint64_t root, ticket;
};

static void *take_bytes(struct native_arrival *a, size_t bytes)
{
    const char *at = a->at;

    if ((size_t)(a->end - at) < bytes)
        return NULL;
    a->at = at + bytes;
    return (void *)(uintptr_t)at;
}

static void broken(struct native_arrival *a, const char *what)
{
    a->err = DRASYNC_EINVAL;
    runtime_broken("node %d sent a broken message: %s", a->from, what);
}

/* The extent of @memory that @w describes: there, or new. */
static struct extent *place_extent(struct native_arrival *a,
                                   struct native_memory *memory,
                                   struct extent *last,
                                   const struct wire_extent *w)
{
    struct extent *e = last ? last->next : memory->first;

    if (w->pages > EXTENT_PAGES_MAX || w->used_bytes > w->pages << PAGE_SHIFT) {
        broken(a, "an extent that cannot be");
        return NULL;
    }
    if (e) {
        if (atomic_load(&e->first_page) == w->first_page &&
            atomic_load(&e->pages) == w->pages)
            return e;
        broken(a, "an extent that does not fit what is known");
        return NULL;
    }
    a->err = extent_adopt(&runtime.space, w->first_page, w->pages, memory,
                          memory->incarnation, &e);
    if (a->err == DRASYNC_EINVAL || a->err == DRASYNC_EEXIST)
        broken(a, "an extent that is another region's");
    if (a->err)
        return NULL;
    native_memory_append(memory, e);
    return e;
}

/* All extents of one region, of which more may be known here: a copy may come
 * after a later one, or from a node that has no later one.  0, or a->err. */
static int place_extents(struct native_arrival *a, struct native_memory *memory,
                         const struct wire_extent *list, uint64_t count)
{
    struct extent *e = NULL;

    for (uint64_t i = 0; i < count && !a->err; i++) {
        e = place_extent(a, memory, e, &list[i]);
        if (e && e->user[EXTENT_USED_BYTES] < list[i].used_bytes)
            e->user[EXTENT_USED_BYTES] = list[i].used_bytes;
    }
    return a->err;
}

static int note_placed(struct native_arrival *a, struct proto_copy *copy,
                       struct native_frames *frames)
{
    struct placed *grown;

    grown = room_for_one(a->placed, a->placed_count, &a->placed_room,
                         sizeof(*grown));
    if (!grown)
        return DRASYNC_ENOMEM;
    a->placed = grown;
    a->placed[a->placed_count++] = (struct placed){copy, frames};
    copy->frames = frames;
    return 0;
}

/* What comes for one region. */
struct incoming {
    const struct wire_region *region;
    const struct wire_extent *extent;
    const struct delta_run *run;
};

static int sink_pages(struct native_arrival *a, const struct frameset_run *at,
                      uint64_t page, uint64_t bytes)
{
    uint64_t offset = at->offset + (page << PAGE_SHIFT);
    void *to = space_window(&runtime.space, offset, bytes);

    if (!bytes)
        return 0;
    frames_enter_window(&runtime.space, offset, bytes);
    return transport_sink_add(a->sink, to, bytes);
}

/* Where the data goes: into all that is used, or into some pages of it. */
static int sink_data(struct native_arrival *a, const struct incoming *in,
                     const struct frameset *set)
{
    int err = 0;

    if (!in->region->base) {
        for (uint64_t i = 0; i < in->region->extents && !err; i++)
            err = sink_pages(a, &set->run[i], 0,
                             wire_bytes(in->extent[i].used_bytes));
        return err;
    }
    for (uint64_t i = 0; i < in->region->runs && !err; i++) {
        const struct delta_run *w = &in->run[i];

        err = sink_pages(a, &set->run[w->extent], w->page,
                         delta_run_bytes(w, in->extent[w->extent].used_bytes));
    }
    return err;
}

bool native_run_fits(const struct delta_run *run,
                     const struct wire_extent *extents, uint64_t count)
{
    return run->extent < count && run->page < extents[run->extent].pages &&
           run->pages <= extents[run->extent].pages - run->page;
}

/* The runs are within the extents; and there are none where they follow. */
static bool runs_fit(const struct incoming *in)
{
    if (in->region->later && (in->region->runs || !in->region->base))
        return false;
    for (uint64_t i = 0; i < in->region->runs; i++)
        if (!native_run_fits(&in->run[i], in->extent, in->region->extents))
            return false;
    return true;
}

/* Only what changed comes: *old_out is what the rest is like, unless that is
 * lost. */
static int base_of(struct native_arrival *a, const struct proto_effect *effect,
                   const struct incoming *in, struct native_frames **old_out)
{
    struct native_frames *old = NULL;

    *old_out = NULL;
    if (!effect->base) {
        proto_base_lost(effect->region, effect->copy);
        return 0;
    }
    old = effect->base->frames;
    if (effect->base->version != in->region->base || !old) {
        broken(a, "what changed since a version that is not here");
        return a->err;
    }
    *old_out = old;
    return 0;
}

/*
 * The frames of the arriving copy: those of an older copy that nobody uses, so
 * that nothing is to be mapped or entered, if the region has not grown; or
 * others, and *rest_out is what the rest is like, to be copied later, or NULL.
 */
static int frames_for(struct native_arrival *a, struct native_memory *memory,
                      const struct proto_effect *effect,
                      const struct incoming *in,
                      struct native_frames **frames_out,
                      struct native_frames **rest_out)
{
    struct native_frames *base = NULL, *frames = NULL;
    int err = in->region->base ? base_of(a, effect, in, &base) : 0;

    if (err)
        return err;
    if (!base || base->set->runs == in->region->extents)
        frames = proto_take_frames(&native.node, effect->region, effect->copy,
                                   base ? effect->base : NULL);
    if (frames && frames->set->runs < in->region->extents) {
        native_frames_free(frames);
        frames = NULL;
    }
    if (!frames) {
        err = native_frames_new(memory, &frames);
        /* What does not come is as in the base. */
        if (!err && base && in->region->later)
            *rest_out = base;
        else if (!err && base)
            err = native_frames_copy(frames, base);
        if (err && frames)
            native_frames_free(frames);
    }
    *frames_out = frames;
    return err;
}

static int place_data(struct native_arrival *a, struct native_memory *memory,
                      const struct proto_effect *effect,
                      const struct incoming *in)
{
    struct native_frames *frames, *rest = NULL;
    int err = frames_for(a, memory, effect, in, &frames, &rest);

    if (err)
        return err;
    err = note_placed(a, effect->copy, frames);
    if (err) {
        native_frames_free(frames);
        return err;
    }
    if (!in->region->later)
        return sink_data(a, in, frames->set);
    if (a->later) {
        broken(a, "two regions whose data follows");
        return a->err;
    }
    return later_expect(a->from, in->region, in->extent, frames, rest,
                        &a->later);
}

static const void *take_array(struct native_arrival *a, uint64_t count,
                              size_t bytes)
{
    if (count > (size_t)(a->end - a->at) / bytes)
        return NULL;
    return take_bytes(a, count * bytes);
}

void native_wire_arriving(struct native_arrival *a,
                          const struct proto_effect *effect)
{
    struct proto_region *region = effect->region;
    struct native_memory *memory;
    struct incoming in;

    if (!a || a->err || !effect->data)
        return;
    in.region = take_bytes(a, sizeof(*in.region));
    if (!in.region || in.region->item != effect->item) {
        broken(a, "data without its region");
        return;
    }
    in.extent = take_array(a, in.region->extents, sizeof(*in.extent));
    in.run = in.extent ? take_array(a, in.region->runs, sizeof(*in.run)) : NULL;
    if (!in.run || (!in.region->base && in.region->runs) || !runs_fit(&in)) {
        broken(a, "data without its extents");
        return;
    }
    if (!region->memory) {
        a->err =
            native_memory_new(region->address, region->incarnation, &memory);
        if (a->err)
            return;
        region->memory = memory;
    }
    memory = region->memory;
    if (effect->hint && !native_ahead_room()) {
        a->err = DRASYNC_ENOMEM;
        return;
    }
    if (!place_extents(a, memory, in.extent, in.region->extents))
        a->err = place_data(a, memory, effect, &in);
}

void native_wire_expect(struct native_arrival *a,
                        const struct proto_effect *effect)
{
    a->expected = true;
    a->root = effect->region->root->address;
    a->ticket = effect->ticket;
}

static void unplace(struct native_arrival *a)
{
    for (size_t i = 0; i < a->placed_count; i++) {
        a->placed[i].copy->frames = NULL;
        native_frames_free(a->placed[i].frames);
    }
    a->placed_count = 0;
}

/* The data is in place, or there is no room for it. */
static void data_done(struct native_arrival *a, int err)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (native_lock(a->root, &tree))
        return;
    if (err)
        unplace(a);
    if (tree.region) {
        effects = native_effects();
        proto_arrived(&native.node, tree.region->root, (uint32_t)a->from,
                      a->ticket, err, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
}

static void handle(struct native_arrival *a,
                   const struct proto_message *message)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (native_lock_message(message, &tree))
        return;
    effects = native_effects();
    proto_message(&native.node, (uint32_t)a->from, message, effects);
    native_do(effects, a);
    native_unlock(&tree);
}

/* Does nobody wait for @message?  Who asks ahead does not, nor for an answer if
 * no rank of this node waits for another one. */
static bool has_time(const struct proto_message *message)
{
    switch (message->type) {
    case PROTO_REQUEST:
        return message->flags & PROTO_AHEAD;
    case PROTO_TRANSFER:
    case PROTO_SETTLED:
    case PROTO_REFUSED:
    case PROTO_REVOKED:
    case PROTO_OWNER:
    case PROTO_FREED:
        /* Relaxed: advice. */
        return !atomic_load_explicit(&runtime.shared->outbox.remote_waits,
                                     memory_order_relaxed);
    default:
        return false;
    }
}

static int decode_and_handle(struct native_arrival *a, const char *header,
                             size_t bytes)
{
    struct proto_message message;
    struct proto_item few[8], *items = few;
    const char *why = "it is cut short";
    uint32_t count;
    uint64_t size;
    int err = DRASYNC_EINVAL;

    a->at = header;
    a->end = header + bytes;
    if (bytes < sizeof(struct wire_head))
        goto refuse;
    memcpy(&size, header, sizeof(size));
    a->at += sizeof(struct wire_head);
    if (size > bytes - sizeof(struct wire_head))
        goto refuse;
    header = a->at;
    count = proto_encoded_items(header, size);
    if (count > sizeof(few) / sizeof(few[0]))
        items = malloc(count * sizeof(*items));
    if (!items) {
        runtime_poison("no memory to read a message");
        return DRASYNC_ENOMEM;
    }
    err = proto_decode(&native.node.env, header, size, items, &message, &why);
    size = (size + 7) & ~UINT64_C(7);
    a->at =
        header + (size > (size_t)(a->end - header) ? (size_t)(a->end - header)
                                                   : (size_t)size);
    if (!err && message.type == PROTO_TRANSFER && message.flags & PROTO_GIVEN)
        give_arrives(a->from, &message);
    if (!err && has_time(&message))
        runtime_message_has_time();
    if (!err)
        handle(a, &message);
    if (items != few)
        free(items);
    if (!err)
        return 0;
refuse:
    runtime_broken("node %d sent a broken message: %s", a->from, why);
    return err;
}

/* Until all of it has arrived. */
static int arrival_keep(const struct native_arrival *a, uint64_t *context_out)
{
    struct native_arrival *kept = malloc(sizeof(*kept));

    if (!kept)
        return DRASYNC_ENOMEM;
    *kept = *a;
    kept->parts = 1 + (a->later != NULL);
    if (a->later)
        later_begin(a->later, kept);
    *context_out = (uint64_t)(uintptr_t)kept;
    return 0;
}

static int place(int from, const void *header, size_t header_bytes,
                 uint64_t bulk_bytes, struct transport_sink *sink,
                 uint64_t *context_out)
{
    struct native_arrival a = {.from = from, .sink = sink};
    int err;

    *context_out = 0;
    if (bulk_bytes > limit_room_bytes(&runtime.space))
        native_evict();
    err = decode_and_handle(&a, header, header_bytes);
    if (!err)
        err = a.err;
    if (!err && a.expected) {
        err = arrival_keep(&a, context_out);
        if (!err)
            return 0;
    }
    if (a.expected)
        data_done(&a, DRASYNC_ENOMEM);
    later_refuse(a.later);
    free(a.placed);
    /* Data that nobody waits for is refused. */
    return err ? err : bulk_bytes ? DRASYNC_EINVAL : 0;
}

void native_arrival_part(struct native_arrival *a, int err)
{
    if (!a->err)
        a->err = err;
    if (--a->parts > 0)
        return;
    data_done(a, a->err);
    free(a->placed);
    free(a);
}

static void arrived(int from, const void *header, size_t header_bytes,
                    uint64_t context)
{
    struct native_arrival *a = (struct native_arrival *)(uintptr_t)context;

    (void)from;
    (void)header;
    (void)header_bytes;
    if (a)
        native_arrival_part(a, 0);
}

void native_wire_start(void)
{
    static const struct runtime_handler handler = {
        .place = place,
        .arrived = arrived,
        .sent = native_wire_sent,
    };

    for (uint32_t type = 1; type < PROTO_MESSAGE_TYPES; type++)
        runtime_handle(RUNTIME_KIND_NATIVE + type, &handler);
    native_delta_start();
    native_later_send_start();
    native_later_receive_start();
}
