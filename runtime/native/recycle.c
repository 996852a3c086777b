/* Deleted regions are hidden, and shown again as new ones: see recycle.h. */
#include "runtime/native/recycle.h"

#include <string.h>

#include "memory/control.h"
#include "memory/passed.h"
#include "runtime/native/frames.h"
#include "runtime/native/map.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/say.h"

uint64_t native_recycle_hidden(void)
{
    const struct native_hidden *h = atomic_load(&native.shared->hidden);
    uint64_t sum = 0;

    passed_take();
    for (; h; h = h->next)
        sum += atomic_load_explicit(&h->count, memory_order_relaxed);
    return sum;
}

/* The thread's count, made when it is first needed; false: no memory. */
static bool counted(struct native_magazines *w)
{
    struct native_hidden *h;
    void *v;

    if (w->hidden)
        return true;
    if (control_alloc_zero(&runtime.space, sizeof(*h), &v))
        return false;
    w->hidden = h = v;
    h->next = atomic_load(&native.shared->hidden);
    do
        passed_give();
    while (!atomic_compare_exchange_weak(&native.shared->hidden, &h->next, h));
    return true;
}

/* --- Into the stack ------------------------------------------------------- */

/* Did this node cut them all? */
static bool cut_here(const struct native_memory *memory)
{
    const struct extent *e = memory->first;

    while (e && e->user[EXTENT_CUT_HERE])
        e = e->next;
    return !e;
}

/* Can @region be recycled: a first extent of one page, all extents cut here, its
 * primary frames, no names, and shown by this process?  (A gift, and what
 * native_take_alone() took, is held before it is shown.) */
static bool simple(const struct proto_region *region)
{
    const struct native_memory *memory = region->memory;
    const struct proto_copy *copy = proto_newest(region);
    const struct native_frames *frames = copy ? copy->frames : NULL;

    /* What another node has, and was evicted here, has no extents. */
    return memory && memory->first &&
           atomic_load_explicit(&memory->first->pages, memory_order_relaxed) ==
               1 &&
           memory->home && !memory->named && !memory->delta &&
           cut_here(memory) && frames && frames->set->runs == memory->extents &&
           !frameset_has_alternate(&runtime.space, frames->set) &&
           native_mapped_primary(frames->set->run[0].first_page);
}

/* Set the magazine back that alone has touched the heap; NULL: make it anew. */
static struct native_magazine *set_back(struct native_magazines *w,
                                        uint64_t address,
                                        const struct native_memory *memory)
{
    struct native_magazine *magazine =
        &w->magazine[native_magazine_index(address)];

    if (memory->touched ||
        atomic_load_explicit(&magazine->region, memory_order_relaxed) !=
            address)
        return NULL;
    heap_magazine_rewind(&magazine->heap);
    atomic_store_explicit(&magazine->region, NATIVE_MAGAZINE_READY,
                          memory_order_relaxed);
    return magazine;
}

/* How many numbers a thread takes at a time. */
#define STAMPS 256

/* A number larger than @last, never given before on this node. */
static uint64_t next_stamp(struct native_magazines *w, uint64_t last)
{
    if (w->stamp == w->stamp_end || w->stamp <= last) {
        w->stamp = atomic_fetch_add(&native.shared->stamp, STAMPS) + 1;
        w->stamp_end = w->stamp + STAMPS;
    }
    return w->stamp++;
}

/* May this thread have one more? */
static bool has_room(struct native_magazines *w)
{
    return counted(w) &&
           native_recycle_count(w) < atomic_load(&w->recycled_max);
}

/* All extents but the first go back; no magazine is open. */
static int shrink(struct native_memory *memory, struct native_frames *frames)
{
    const struct frameset *set = frames->set;
    struct extent *e, *next;
    int err = 0;

    /* The extents' places in the tables are on cold pages: ask for all. */
    for (uint64_t i = 1; i < set->runs; i++)
        extent_prefetch(&runtime.space, set->run[i].first_page);
    for (e = memory->first->next; e && !err; e = next) {
        next = e->next;
        err = extent_delete(&runtime.space, e);
    }
    native_memory_shrink(memory);
    native_frames_shrink(frames);
    return err;
}

static void make_anew(const struct native_tree *tree,
                      struct heap_magazine *ready)
{
    struct native_memory *memory = tree->region->memory;
    uint64_t address = tree->region->address;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};

    memset(ready, 0, sizeof(*ready));
    if (native_magazines_end(tree, tree->region))
        return;
    if ((memory->extents > 1 &&
         shrink(memory, proto_newest(tree->region)->frames)) ||
        native_header_make(memory) ||
        heap_magazine_all(&context, &native_header_of(address)->heap, ready))
        runtime_broken("region %p cannot be made anew",
                       (void *)(uintptr_t)address);
}

bool native_recycle_put(const struct native_tree *tree)
{
    struct native_magazines *w = native_magazines_own();
    struct proto_region *region = tree->region;
    uint64_t address = region->address;
    struct native_memory *memory = region->memory;
    struct native_recycled *stocked;
    struct native_frames *frames;
    struct native_entry *entry;

    if (native.check || !w || !has_room(w) || !simple(region))
        return false;
    entry = native_find_entry(address);
    if (!entry ||
        !proto_renew(native.rank, region, next_stamp(w, region->incarnation)))
        return false;
    /* Relaxed: who reads the old address still locks the tree, which is held
     * here, and then finds the record renewed. */
    atomic_store_explicit(&entry->address, 0, memory_order_relaxed);
    stocked = &w->recycled[native_recycle_count(w)];
    stocked->entry = entry;
    w->ready[native_recycle_count(w)] = set_back(w, address, memory);
    if (!w->ready[native_recycle_count(w)])
        make_anew(tree, &stocked->heap);
    memory->incarnation = region->incarnation;
    memory->maker = 1 + runtime.local;
    memory->touched = false;
    memory->first->user[EXTENT_USED_BYTES] = PAGE_BYTES;
    frames = proto_newest(region)->frames;
    /* What a second split noted of the old region's bytes. */
    frames->fixed = false;
    native_recycle_set_count(w, native_recycle_count(w) + 1);
    return true;
}

/* --- Out of the stack ----------------------------------------------------- */

void native_recycle_leave(struct native_magazines *w,
                          struct native_magazine *magazine)
{
    if (atomic_load_explicit(&magazine->region, memory_order_relaxed) !=
        NATIVE_MAGAZINE_READY)
        return;
    for (uint32_t i = 0; i < native_recycle_count(w); i++)
        if (w->ready[i] == magazine) {
            w->recycled[i].entry = magazine->entry;
            w->recycled[i].heap = magazine->heap;
            w->ready[i] = NULL;
        }
    /* Its thread may ask for objects of region 0. */
    heap_magazine_forget(&magazine->heap);
    atomic_fetch_and(&w->open, ~(UINT64_C(1) << (magazine - w->magazine)));
    atomic_store_explicit(&magazine->region, 0, memory_order_relaxed);
}

/* Let a magazine be ready for number @n recycled. */
static bool make_ready(struct native_magazines *w, uint32_t n)
{
    struct native_entry *entry = w->recycled[n].entry;
    const struct proto_region *region =
        atomic_load_explicit(&entry->region, memory_order_relaxed);
    uint32_t i = native_magazine_index(region->address);
    struct native_magazine *magazine = &w->magazine[i];

    if (!native_magazine_clear(w, i))
        return false;
    magazine->heap = w->recycled[n].heap;
    magazine->heap.free = w->free[i];
    magazine->memory = region->memory;
    magazine->entry = entry;
    magazine->address = region->address;
    native_magazine_forget(w, magazine);
    magazine->extent = magazine->memory->first;
    magazine->done_before = 0; /* a new region with objects: worth it */
    atomic_fetch_or(&w->open, UINT64_C(1) << i);
    atomic_store_explicit(&magazine->region, NATIVE_MAGAZINE_READY,
                          memory_order_relaxed);
    w->ready[n] = magazine;
    return true;
}

drasync_region_t native_recycle_take(void)
{
    drasync_region_t region = native_recycle_take_ready();
    struct native_magazines *w = native_magazines_mine;

    if (region || !w || !w->hidden || !native_recycle_count(w) ||
        !make_ready(w, native_recycle_count(w) - 1))
        return region;
    return native_recycle_take_ready();
}

void native_recycle_clear(struct native_magazines *w)
{
    atomic_store(&w->recycled_max, 0);
    while (w->hidden && native_recycle_count(w)) {
        uint32_t n = native_recycle_count(w) - 1;
        struct native_entry *entry;
        struct native_tree tree;
        uint64_t address;

        if (w->ready[n])
            native_recycle_leave(w, w->ready[n]);
        entry = w->recycled[n].entry;
        address = atomic_load(&entry->region)->address;
        native_recycle_set_count(w, n);
        /* As in native_recycle_take_ready(). */
        atomic_store_explicit(&entry->address, address, memory_order_release);
        /* Its heap has no piece to cut from, and a magazine that is not
         * open. */
        if (!native_lock(address, &tree)) {
            if (tree.region)
                native_header_make(tree.region->memory);
            native_unlock(&tree);
        }
        native_delete((drasync_region_t)(uintptr_t)address);
    }
}

void native_recycle_clear_all(void)
{
    for (struct native_magazines *w = native_magazines_all(); w; w = w->next)
        native_recycle_clear(w);
}
