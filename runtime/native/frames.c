/*
 * The frames of copies, and the extents of regions on this node.
 *
 * An extent's primary frames are used by one copy at a time; further copies at
 * the same time use alternate frames.  So a region whose readers come and go
 * moves between the two instead of taking new frames for each version.
 */
#include <stdlib.h>

#include "memory/control.h"
#include "memory/frames.h"
#include "memory/limit.h"
#include "memory/pages.h"
#include "runtime/check/check.h"
#include "runtime/native/delta.h"
#include "runtime/native/diff.h"
#include "runtime/native/frames.h"
#include "runtime/native/map.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/services/chunks.h"
#include "runtime/shared.h"

/* So much of a region is written when it goes. */
#define LINES_TAKEN_BYTES_MAX ((uint64_t)128 << 10)

/* The owner of an extent whose region is deleted, until its addresses may be
 * used again. */
static struct native_memory *orphan(void)
{
    return (struct native_memory *)(void *)native.shared;
}

static uint64_t extent_first(const struct extent *e)
{
    return atomic_load_explicit(&e->first_page, memory_order_relaxed);
}

static uint64_t extent_pages(const struct extent *e)
{
    return atomic_load_explicit(&e->pages, memory_order_relaxed);
}

static struct extent *extent_at(uint64_t page)
{
    return extent_of(&runtime.space, space_address(&runtime.space, page));
}

/* --- Frames --------------------------------------------------------------- */

static void mark_primary(const struct frameset *set, uint64_t used)
{
    for (uint64_t i = 0; i < set->runs; i++)
        if (!frames_alternate(&runtime.space, set->run[i].offset)) {
            struct extent *e = extent_at(set->run[i].first_page);

            if (e)
                e->user[EXTENT_PRIMARY_USED] = used;
        }
}

int native_frames_plan(const struct native_memory *memory,
                       struct native_plan *plan_out)
{
    struct frameset_extent *list = calloc(memory->extents, sizeof(*list));
    bool primary = true;
    uint64_t n = 0;

    if (!list)
        return DRASYNC_ENOMEM;
    for (struct extent *e = memory->first; e; e = e->next) {
        primary = primary && !e->user[EXTENT_PRIMARY_USED];
        list[n++] = (struct frameset_extent){
            .first_page = extent_first(e),
            .pages = extent_pages(e),
        };
    }
    *plan_out = (struct native_plan){list, n, primary};
    return 0;
}

int native_frames_make(struct native_plan *plan,
                       struct native_frames **frames_out)
{
    struct native_frames *frames;
    void *v;
    int err = control_alloc(&runtime.space, sizeof(*frames), &v);

    if (err)
        goto out;
    frames = v;
    frames->id = atomic_fetch_add(&native.shared->frames_id, 1) + 1;
    frames->fixed = false;
    err = (plan->primary ? frameset_new_primary : frameset_new)(
        &runtime.space, plan->list, plan->extents, &frames->set);
    if (err) {
        control_free(&runtime.space, frames);
        goto out;
    }
    mark_primary(frames->set, 1);
    *frames_out = frames;
out:
    native_plan_free(plan);
    return err;
}

void native_plan_free(struct native_plan *plan)
{
    free(plan->list);
    plan->list = NULL;
}

int native_frames_new(const struct native_memory *memory,
                      struct native_frames **frames_out)
{
    struct native_plan plan;
    int err = native_frames_plan(memory, &plan);

    return err ? err : native_frames_make(&plan, frames_out);
}

void native_frames_free(struct native_frames *frames)
{
    mark_primary(frames->set, 0);
    frameset_free(&runtime.space, frames->set);
    control_free(&runtime.space, frames);
}

uint64_t native_used_bytes(const struct native_frames *frames, uint64_t i)
{
    const struct frameset_run *run = &frames->set->run[i];
    const struct extent *e;

    if (frames->fixed)
        return run->used_bytes;
    e = extent_at(run->first_page);
    return e ? e->user[EXTENT_USED_BYTES] : 0;
}

void native_frames_fix(struct native_frames *frames)
{
    for (uint64_t i = 0; i < frames->set->runs; i++)
        frames->set->run[i].used_bytes = native_used_bytes(frames, i);
    frames->fixed = true;
}

void native_frames_loosen(struct native_frames *frames)
{
    for (uint64_t i = 0; frames->fixed && i < frames->set->runs; i++) {
        const struct frameset_run *run = &frames->set->run[i];
        struct extent *e = extent_at(run->first_page);

        if (e)
            e->user[EXTENT_USED_BYTES] = run->used_bytes;
    }
    frames->fixed = false;
}

int native_frames_copy(struct native_frames *to,
                       const struct native_frames *from)
{
    uint64_t bytes = 0, runs = from->set->runs;
    int err = frameset_copy(&runtime.space, to->set, from->set, &bytes);

    runtime_count(native.self, RUNTIME_COUNT_BYTES_COPIED, bytes);
    for (uint64_t i = 0; i < to->set->runs; i++)
        to->set->run[i].used_bytes =
            i < runs ? from->set->run[i].used_bytes : 0;
    to->fixed = true;
    return err;
}

int native_frames_grow(struct native_frames *frames, struct extent *extent)
{
    const struct frameset_extent e = {
        .first_page = extent_first(extent),
        .pages = extent_pages(extent),
    };
    int err;

    native_map_lock();
    err = frameset_add_primary(&runtime.space, &frames->set, &e);
    native_map_unlock();
    if (!err)
        extent->user[EXTENT_PRIMARY_USED] = 1;
    return err;
}

void native_frames_shrink(struct native_frames *frames)
{
    frames->id = atomic_fetch_add(&native.shared->frames_id, 1) + 1;
    frames->set->runs = 1;
    frames->fixed = false;
}

/* --- Extents -------------------------------------------------------------- */

int native_memory_new(uint64_t address, uint64_t incarnation,
                      struct native_memory **memory_out)
{
    struct native_memory *memory;
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(*memory), &v);

    if (err)
        return err;
    memory = v;
    atomic_store(&memory->address, address);
    memory->incarnation = incarnation;
    *memory_out = memory;
    return 0;
}

void native_memory_append(struct native_memory *memory, struct extent *extent)
{
    extent->next = NULL;
    if (memory->last)
        memory->last->next = extent;
    else
        memory->first = extent;
    memory->last = extent;
    memory->extents++;
    memory->pages += extent_pages(extent);
}

void native_memory_shrink(struct native_memory *memory)
{
    memory->last = memory->first;
    memory->first->next = NULL;
    memory->walk = NULL;
    memory->extents = 1;
    memory->pages = extent_pages(memory->first);
}

static int cut_here(const struct extent *e)
{
    const struct proto_env *env = &native.node.env;
    void *address = space_address(&runtime.space, extent_first(e));

    /* A chunk's home is known to the manager only; pages.h knows its own. */
    return runtime.nodes == 1 || e->user[EXTENT_CUT_HERE] ||
           env->home(env->ctx, (uint64_t)(uintptr_t)address) == runtime.node;
}

/* Its frames go; @dead: but addresses that were cut here come back by
 * native_extent_back(), and they go then. */
static void extent_goes(struct extent *e, bool dead)
{
    uint64_t first = extent_first(e), pages = extent_pages(e);

    if (native.check)
        check_allow(first, pages, 0);
    if (!cut_here(e)) {
        extent_forget(&runtime.space, e);
    } else if (dead) {
        atomic_store(&e->owner, (void *)orphan());
    } else {
        extent_remove(&runtime.space, e);
        frames_unreserve(&runtime.space, space_page_offset(first),
                         pages << PAGE_SHIFT);
    }
}

/*
 * What another rank wrote and this one read is in the caches of both cores.  The
 * first takes 8 to 55 us to write 72 KiB of such lines again, and 4.5 to 9 if this
 * one wrote to them meanwhile (AMD EPYC, by how far the cores are apart).  The
 * memory is often its next region's, so write to each line here.  A large region
 * may be in no cache, and would be read from memory for it.
 */
static void take_lines(const struct native_memory *memory)
{
    uint64_t left = LINES_TAKEN_BYTES_MAX;

    for (const struct extent *e = memory->first; e; e = e->next) {
        volatile char *at = space_address(&runtime.space, extent_first(e));
        uint64_t bytes = e->user[EXTENT_USED_BYTES];

        if (bytes > left)
            return;
        left -= bytes;
        for (uint64_t i = 0; i < bytes; i += RUNTIME_CACHE_LINE)
            at[i] = 0;
    }
}

static void extents_go(struct native_memory *memory, bool dead)
{
    struct extent *e = memory->first, *next;

    /* Which may be another process than the one that began to delete it. */
    if (dead && memory->reader == 1 + runtime.local && native_mapping_primary())
        take_lines(memory);
    memory->first = memory->last = memory->walk = NULL;
    memory->extents = memory->pages = 0;
    for (; e; e = next) {
        next = e->next;
        extent_goes(e, dead);
    }
    native_delta_free(memory);
    native_diff_free(memory);
}

void native_memory_empty(struct native_memory *memory)
{
    extents_go(memory, false);
}

void native_memory_free(struct native_memory *memory, bool dead)
{
    extents_go(memory, dead);
    atomic_store(&memory->address, 0);
    control_free(&runtime.space, memory);
}

/* The record is not gone yet, but @e goes. */
static void memory_unlink(struct native_memory *memory, struct extent *e)
{
    struct extent **p = &memory->first, *before = NULL;

    while (*p && *p != e) {
        before = *p;
        p = &before->next;
    }
    if (!*p)
        return;
    memory->walk = NULL;
    *p = e->next;
    if (memory->last == e)
        memory->last = before;
    memory->extents--;
    memory->pages -= extent_pages(e);
}

void native_extent_back(uint64_t address, uint64_t pages)
{
    struct extent *e = extent_of(&runtime.space, (void *)(uintptr_t)address);
    void *owner = e ? atomic_load(&e->owner) : NULL;

    if (!native.shared->quarantine) {
        native_extent_back_now(address, pages);
        return;
    }
    if (e && extent_first(e) << PAGE_SHIFT ==
                 address - (uint64_t)(uintptr_t)runtime.space.base) {
        if (owner && owner != (void *)orphan())
            memory_unlink(owner, e);
        atomic_store(&e->owner, (void *)orphan());
    }
    native_quarantine_put(native.shared->quarantine, address, pages);
}

void native_extent_back_now(uint64_t address, uint64_t pages)
{
    uint64_t first = space_page(&runtime.space, (void *)(uintptr_t)address);
    struct extent *e;
    int err;

    if (first == SPACE_NO_PAGE)
        return;
    e = extent_at(first);
    if (e && extent_first(e) == first && extent_pages(e) == pages) {
        void *owner = atomic_load(&e->owner);

        if (owner != (void *)orphan())
            memory_unlink(owner, e);
        err = extent_delete(&runtime.space, e);
    } else {
        err = pages_give(&runtime.space, first, pages, PAGES_ADDRESSES);
    }
    if (err)
        runtime_broken("pages %llu+%llu came back that were not given out",
                       (unsigned long long)first, (unsigned long long)pages);
}

static int extent_try(struct native_memory *memory, uint64_t pages,
                      struct extent **extent_out)
{
    int err = extent_new(&runtime.space, pages, memory, memory->incarnation,
                         extent_out);

    /* Who serves other nodes may not wait for one. */
    if (err == DRASYNC_ENOSPACE && runtime.nodes > 1 &&
        !native_running.server) {
        err = chunks_ask(pages);
        if (!err)
            err = extent_new(&runtime.space, pages, memory, memory->incarnation,
                             extent_out);
    }
    return err;
}

static bool is_short(int err)
{
    return err == DRASYNC_ENOMEM || err == DRASYNC_ENOSPACE;
}

/* So many pages, a power of two, leave the most of what there is to others. */
static uint64_t part_of_room(void)
{
    uint64_t pages = limit_room_bytes(&runtime.space) >> (PAGE_SHIFT + 3);

    return pages ? (uint64_t)1 << (63 - __builtin_clzll(pages)) : 0;
}

/* From @pages_min to @pages of them.  A heap wants a part of what it has, and
 * that may be more than is left: then it gets a part of what is left.  A page at
 * a time would be a million extents in 4 GiB. */
static int extent_try_less(struct native_memory *memory, uint64_t pages_min,
                           uint64_t pages, struct extent **extent_out)
{
    int err = extent_try(memory, pages, extent_out);

    if (err == DRASYNC_ENOMEM && pages > pages_min) {
        uint64_t part = part_of_room();

        if (part < pages_min)
            part = pages_min;
        if (pages / 2 > part)
            pages = 2 * part;
    }
    while (is_short(err) && pages > pages_min) {
        pages = pages / 2 > pages_min ? pages / 2 : pages_min;
        err = extent_try(memory, pages, extent_out);
    }
    return err;
}

int native_extent_new(struct native_memory *memory, uint64_t pages_min,
                      uint64_t pages, struct extent **extent_out)
{
    int err = extent_try_less(memory, pages_min, pages, extent_out);

    if (is_short(err) && native.shared->quarantine) {
        native_quarantine_clear(native.shared->quarantine);
        err = extent_try_less(memory, pages_min, pages, extent_out);
    }
    if (err == DRASYNC_ENOMEM) {
        native_evict();
        err = extent_try_less(memory, pages_min, pages, extent_out);
    }
    if (is_short(err) && native_trim())
        err = extent_try_less(memory, pages_min, pages, extent_out);
    if (err)
        return err;
    (*extent_out)->user[EXTENT_CUT_HERE] = 1;
    err = native_map_primary(extent_first(*extent_out),
                             extent_pages(*extent_out));
    if (err) {
        extent_delete(&runtime.space, *extent_out);
        *extent_out = NULL;
        return err;
    }
    if (native.check)
        check_allow(extent_first(*extent_out), extent_pages(*extent_out),
                    DRASYNC_WRITE);
    frames_enter(&runtime.space, extent_first(*extent_out),
                 extent_pages(*extent_out));
    return 0;
}
