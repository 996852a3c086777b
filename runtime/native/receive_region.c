/* The data of a region that arrives: its extents, and frames for what comes. */
#include "runtime/native/frames.h"
#include "runtime/native/receive.h"

#include <inttypes.h>
#include <stdio.h>

#include "memory/frames.h"
#include "memory/grow.h"
#include "runtime/native/ahead.h"
#include "runtime/native/delta.h"
#include "runtime/native/diff.h"
#include "runtime/native/wire.h"
#include "runtime/process.h"
#include "runtime/say.h"

static void *take_bytes(struct native_arrival *a, size_t bytes)
{
    const char *at = a->at;

    if ((size_t)(a->end - at) < bytes)
        return NULL;
    a->at = at + bytes;
    return (void *)(uintptr_t)at;
}

void native_arrival_broken(struct native_arrival *a, const char *what)
{
    a->err = DRASYNC_EINVAL;
    runtime_broken("node %d sent a broken message: %s", a->from, what);
}

/* A run that cannot be @memory's: say whose it is. */
static void taken_already(struct native_arrival *a,
                          const struct native_memory *memory,
                          const struct wire_extent *w)
{
    struct extent_copy other = {0};
    const struct native_memory *owner;
    char what[200];

    for (uint64_t i = 0; i < w->pages && !other.owner; i++)
        if (extent_find(&runtime.space,
                        space_address(&runtime.space, w->first_page + i),
                        &other))
            other.owner = NULL;
    owner = other.owner;
    snprintf(what, sizeof(what),
             "an extent that is another region's: pages %" PRIu64 "+%" PRIu64
             " of %" PRIx64 ".%" PRIu64 ", here %" PRIu64 "+%" PRIu64
             " of %" PRIx64 ".%" PRIu64,
             w->first_page, w->pages, atomic_load(&memory->address),
             memory->incarnation, other.first_page, other.pages,
             owner ? atomic_load(&owner->address) : 0, other.incarnation);
    native_arrival_broken(a, what);
}

/* The extent of @memory that @w describes: there, or new. */
static struct extent *place_extent(struct native_arrival *a,
                                   struct native_memory *memory,
                                   struct extent *last,
                                   const struct wire_extent *w)
{
    struct extent *e = last ? last->next : memory->first;

    if (w->pages > EXTENT_PAGES_MAX || w->used_bytes > w->pages << PAGE_SHIFT) {
        native_arrival_broken(a, "an extent that cannot be");
        return NULL;
    }
    if (e) {
        if (atomic_load(&e->first_page) == w->first_page &&
            atomic_load(&e->pages) == w->pages)
            return e;
        native_arrival_broken(a, "an extent that does not fit what is known");
        return NULL;
    }
    a->err = extent_adopt(&runtime.space, w->first_page, w->pages, memory,
                          memory->incarnation, &e);
    if (a->err == DRASYNC_EINVAL || a->err == DRASYNC_EEXIST)
        taken_already(a, memory, w);
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

    for (uint64_t i = 0; i < count && !a->err; i++)
        e = place_extent(a, memory, e, &list[i]);
    return a->err;
}

static int note_placed(struct native_arrival *a, struct proto_copy *copy,
                       struct native_frames *frames,
                       struct native_memory *memory)
{
    struct native_placed *grown;

    grown = room_for_one(a->placed, a->placed_count, &a->placed_room,
                         sizeof(*grown));
    if (!grown)
        return DRASYNC_ENOMEM;
    a->placed = grown;
    a->placed[a->placed_count++] = (struct native_placed){copy, frames, memory};
    copy->frames = frames;
    return 0;
}

/* What comes for one region. */
struct incoming {
    const struct wire_region *region;
    const struct wire_extent *extent;
    const struct delta_run *run;
    const uint32_t *diff; /* runs of words, and these: */
    const uint64_t *words;
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
    if (in->region->diff_runs &&
        (in->region->later || in->region->runs || !in->region->base))
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
        native_arrival_broken(a,
                              "what changed since a version that is not here");
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

/* No copy of @region that is here has its heap changed any more. */
static void fix_copies(const struct proto_region *region)
{
    struct proto_copy *copy = proto_newest(region);

    for (; copy; copy = proto_older(region, copy)) {
        struct native_frames *frames = copy->frames;

        if (frames && !frames->fixed)
            native_frames_fix(frames);
    }
}

/* So much of @frames matters; more extents may be known here.  The extents are
 * told as well, for native_ahead_ended(): no frames here go by them now. */
static void fix_arriving(struct native_frames *frames,
                         const struct native_memory *memory,
                         const struct incoming *in)
{
    struct extent *e = memory->first;

    for (uint64_t i = 0; i < frames->set->runs; i++, e = e->next) {
        uint64_t used = i < in->region->extents ? in->extent[i].used_bytes : 0;

        frames->set->run[i].used_bytes = used;
        e->user[EXTENT_USED_BYTES] = used;
    }
    frames->fixed = true;
}

static int place_data(struct native_arrival *a, struct native_memory *memory,
                      const struct proto_effect *effect,
                      const struct incoming *in)
{
    struct native_frames *frames, *rest = NULL;
    int err;

    fix_copies(effect->region);
    err = frames_for(a, memory, effect, in, &frames, &rest);
    if (err)
        return err;
    fix_arriving(frames, memory, in);
    err = note_placed(a, effect->copy, frames, memory);
    if (err) {
        native_frames_free(frames);
        return err;
    }
    if (in->region->diff_runs) {
        native_diff_apply(frames->set, in->diff, in->region->diff_runs,
                          in->words);
        native_diff_follow(memory, frames, effect->copy->version,
                           in->region->base, in->diff, in->region->diff_runs,
                           in->words);
    }
    if (!in->region->later)
        return sink_data(a, in, frames->set);
    if (a->later) {
        native_arrival_broken(a, "two regions whose data follows");
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

/* Runs of words, and these behind them.  False: they do not fit. */
static bool take_diff(struct native_arrival *a, struct incoming *in)
{
    uint64_t runs = in->region->diff_runs, words;

    if (!runs)
        return true;
    in->diff = take_bytes(a, wire_diff_bytes(runs));
    if (!in->diff || !native_diff_fits(in->diff, runs, in->extent,
                                       in->region->extents, &words))
        return false;
    in->words = take_array(a, words, sizeof(*in->words));
    /* Relaxed: a count. */
    atomic_fetch_add_explicit(&runtime.shared->diff_bytes_received,
                              words * sizeof(*in->words), memory_order_relaxed);
    return in->words != NULL;
}

void native_wire_arriving(struct native_arrival *a,
                          const struct proto_effect *effect)
{
    struct proto_region *region = effect->region;
    struct native_memory *memory;
    struct incoming in = {0};

    if (!a || a->err || !effect->data)
        return;
    in.region = take_bytes(a, sizeof(*in.region));
    if (!in.region || in.region->item != effect->item) {
        native_arrival_broken(a, "data without its region");
        return;
    }
    in.extent = take_array(a, in.region->extents, sizeof(*in.extent));
    in.run = in.extent ? take_array(a, in.region->runs, sizeof(*in.run)) : NULL;
    if (!in.run || (!in.region->base && in.region->runs) || !runs_fit(&in) ||
        !take_diff(a, &in)) {
        native_arrival_broken(a, "data without its extents");
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
