/*
 * Making regions at given addresses: see image.h.
 *
 * The addresses are claimed first, all of them.  Then regions are made one after
 * the other, as native_new_region() and native_new_subregion() do, but with all
 * their extents and without heaps, which come with the data.
 */
#include "runtime/native/frames.h"
#include "runtime/native/image.h"

#include <stdlib.h>

#include "memory/control.h"
#include "memory/frames.h"
#include "memory/pages.h"
#include "runtime/check/check.h"
#include "runtime/native/claim.h"
#include "runtime/native/magazine.h"
#include "runtime/native/recycle.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

/* An image that is being made. */
struct making {
    const struct native_image *image;
    struct pages_run *runs; /* of extent[] */
    uint64_t used;          /* so many of them are extents */
    uint64_t made;          /* regions */
};

static uint64_t address_of(const struct pages_run *run)
{
    return (uint64_t)(uintptr_t)space_address(&runtime.space, run->first);
}

/* --- One region ----------------------------------------------------------- */

/* The next extent of @memory: with frames, seen by this process. */
static int extent_make(struct making *m, struct native_memory *memory,
                       uint64_t used_bytes)
{
    const struct pages_run *run = &m->runs[m->used];
    struct extent *extent;
    int err = extent_adopt(&runtime.space, run->first, run->pages, memory, 0,
                           &extent);

    if (err == DRASYNC_ENOMEM) {
        native_evict();
        err = extent_adopt(&runtime.space, run->first, run->pages, memory, 0,
                           &extent);
    }
    if (err)
        return err;
    extent->user[EXTENT_CUT_HERE] = 1;
    extent->user[EXTENT_USED_BYTES] = used_bytes;
    err = native_map_primary(run->first, run->pages);
    m->used++;
    native_memory_append(memory, extent);
    if (err)
        return err;
    if (native.check)
        check_allow(run->first, run->pages, DRASYNC_WRITE);
    frames_enter(&runtime.space, run->first, run->pages);
    return 0;
}

/* What was made of a region that has no record. */
static void memory_undo(struct native_memory *memory)
{
    struct extent *e, *next;

    for (e = memory->first; e; e = next) {
        next = e->next;
        if (native.check)
            check_allow(atomic_load(&e->first_page), atomic_load(&e->pages), 0);
        extent_delete(&runtime.space, e);
    }
    atomic_store(&memory->address, 0);
    control_free(&runtime.space, memory);
}

static int memory_make(struct making *m, const struct native_image_region *r,
                       struct native_memory **memory_out)
{
    const struct native_image_extent *extent = &m->image->extent[m->used];
    struct native_memory *memory;
    int err = native_memory_new(r->address, 0, &memory);

    if (err)
        return err;
    for (uint32_t i = 0; i < r->extents && !err; i++)
        err = extent_make(m, memory, extent[i].used_bytes);
    if (err)
        memory_undo(memory);
    else
        *memory_out = memory;
    return err;
}

/* Its record, under its parent's. */
static int record_make(const struct native_image *image,
                       const struct native_image_region *r,
                       struct native_memory *memory,
                       struct native_frames *frames)
{
    uint64_t above = r->parent == NATIVE_IMAGE_NO_PARENT
                         ? r->address
                         : image->region[r->parent].address;
    struct proto_effects *effects;
    struct proto_region *region = NULL;
    struct native_tree tree;
    int err = native_lock(above, &tree);

    if (err)
        return err;
    /* A rank here asks another node for what was there before, and has no answer
     * yet: an address has one record. */
    if (native_find(r->address)) {
        native_unlock(&tree);
        return DRASYNC_ETAKEN;
    }
    effects = native_effects();
    if (r->parent == NATIVE_IMAGE_NO_PARENT)
        err = proto_create_root(&native.node, native.rank, r->address, memory,
                                frames, &region, effects);
    else
        err = tree.region
                  ? proto_create_subregion(&native.node, native.rank,
                                           tree.region, r->address, memory,
                                           frames, &region, effects)
                  : DRASYNC_EINTERNAL;
    native_do(effects, NULL);
    if (!err) {
        memory->incarnation = region->incarnation;
        memory->home = true;
        /* Never recycled: a recycled region would keep an address that may be
         * loaded again. */
        memory->named = true;
        memory->touched = true;
    }
    native_unlock(&tree);
    return err;
}

static int region_make(struct making *m, const struct native_image_region *r)
{
    struct native_memory *memory;
    struct native_frames *frames;
    int err = memory_make(m, r, &memory);

    if (err)
        return err;
    err = native_frames_new(memory, &frames);
    if (err)
        goto undo_memory;
    err = record_make(m->image, r, memory, frames);
    if (err)
        goto free_frames;
    m->made++;
    if (native.check) {
        if (r->parent == NATIVE_IMAGE_NO_PARENT)
            native_taken_add(r->address, memory->incarnation, DRASYNC_WRITE);
        check_event(CHECK_MADE, r->address, memory->incarnation,
                    r->parent == NATIVE_IMAGE_NO_PARENT ? DRASYNC_WRITE
                                                        : DRASYNC_NONE);
    }
    return 0;

free_frames:
    native_frames_free(frames);
undo_memory:
    memory_undo(memory);
    return err;
}

/* --- All of them ---------------------------------------------------------- */

/* Where @image's extents are in this job's space. */
static int runs_fill(struct making *m, uint64_t *refused_out)
{
    const struct native_image *image = m->image;

    m->runs = malloc((image->extents + 1) * sizeof(m->runs[0]));
    if (!m->runs)
        return DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < image->extents; i++) {
        const struct native_image_extent *e = &image->extent[i];
        uint64_t first =
            space_page(&runtime.space, (const void *)(uintptr_t)e->address);

        if (first == SPACE_NO_PAGE || e->address % PAGE_BYTES ||
            e->pages > EXTENT_PAGES_MAX ||
            !space_run_valid(&runtime.space, first, e->pages)) {
            *refused_out = e->address;
            return DRASYNC_ETAKEN;
        }
        m->runs[i] = (struct pages_run){first, e->pages};
    }
    return 0;
}

static int make_all(struct making *m)
{
    const struct native_image *image = m->image;
    int err = 0;

    for (uint64_t i = 0; i < image->regions && !err; i++)
        err = region_make(m, &image->region[i]);
    if (!err)
        waiting_hold_note(image->region[0].address);
    if (!err)
        return 0;
    native_claim_give(m->runs + m->used, image->extents - m->used);
    if (m->made)
        native_delete((drasync_region_t)(uintptr_t)image->region[0].address);
    return err;
}

/* What is kept of regions that were deleted may be just there: those of this
 * thread that were to be its next ones, and what checked mode has put aside. */
static void remains_clear(void)
{
    struct native_magazines *w = native_magazines_own();
    uint32_t most;

    if (native.shared->quarantine)
        native_quarantine_clear(native.shared->quarantine);
    if (!w)
        return;
    most = atomic_load(&w->recycled_max);
    native_recycle_clear(w);
    atomic_store(&w->recycled_max, most);
}

int native_image_make(const struct native_image *image, uint64_t *refused_out)
{
    struct making m = {.image = image};
    uint64_t page = 0;
    int err;

    *refused_out = 0;
    err = runs_fill(&m, refused_out);
    if (!err)
        err = native_claim(m.runs, image->extents, &page);
    if (err == DRASYNC_ETAKEN && page) {
        remains_clear();
        err = native_claim(m.runs, image->extents, &page);
    }
    if (err == DRASYNC_ETAKEN && page)
        *refused_out = address_of(&(struct pages_run){.first = page});
    if (!err) {
        err = make_all(&m);
        if (err == DRASYNC_ETAKEN)
            *refused_out = image->region[m.made].address;
    }
    free(m.runs);
    return err;
}

void native_image_drop(const struct native_image *image, drasync_region_t top)
{
    for (uint64_t i = 0; i < image->regions; i++)
        heap_checked_end(&native_header_of(image->region[i].address)->heap);
    native_delete(top);
}

int native_image_check(const struct native_image *image, uint64_t i)
{
    uint64_t address = image->region[i].address;
    const struct heap_context context = {
        .space = &runtime.space,
        .owner = native_find(address) ? native_find(address)->memory : NULL,
    };

    if (heap_check(&context, &native_header_of(address)->heap))
        return DRASYNC_EFORMAT;
    /* Red zones and stacks are of the job that saved it. */
    heap_checked_end(&native_header_of(address)->heap);
    return 0;
}
