#include "runtime/native_stock.h"

#include <string.h>

#include "memory/control.h"

/* A thread's count of hidden records; in control memory, for the node's
 * statistics. */
struct native_hidden {
    uint64_t reserved[2];
    _Atomic uint32_t count;
    struct native_hidden *next;
};

static uint32_t count_of(const struct native_windows *w)
{
    return atomic_load_explicit(&w->hidden->count, memory_order_relaxed);
}

static void set_count(struct native_windows *w, uint32_t count)
{
    atomic_store_explicit(&w->hidden->count, count, memory_order_relaxed);
}

uint64_t native_stock_hidden(void)
{
    const struct native_hidden *h = atomic_load(&native.shared->hidden);
    uint64_t sum = 0;

    for (; h; h = h->next)
        sum += atomic_load_explicit(&h->count, memory_order_relaxed);
    return sum;
}

/* The thread's count, made when it is first needed; false: no memory. */
static bool counted(struct native_windows *w)
{
    struct native_hidden *h;
    void *v;

    if (w->hidden)
        return true;
    if (control_alloc_zero(&runtime.space, sizeof(*h), &v))
        return false;
    w->hidden = h = v;
    h->next = atomic_load(&native.shared->hidden);
    while (!atomic_compare_exchange_weak(&native.shared->hidden, &h->next, h))
        ;
    return true;
}

/* --- Into stock ---------------------------------------------------------- */

/* Is the region one page, at home in its primary frames, and without names? */
static bool simple(const struct proto_region *region)
{
    const struct native_memory *memory = region->memory;
    const struct proto_copy *copy = proto_newest(region);
    const struct native_frames *frames = copy ? copy->frames : NULL;

    return memory && memory->extents == 1 && memory->pages == 1 &&
           memory->home && !memory->named && frames && frames->set->runs == 1 &&
           !frameset_has_alternate(&runtime.space, frames->set);
}

/* Set the window back that alone has touched the heap; false: make it anew. */
static bool set_back(struct native_windows *w, uint64_t address,
                     const struct native_memory *memory,
                     struct heap_window *ready)
{
    struct native_window *window = &w->window[native_window_index(address)];

    if (memory->touched ||
        atomic_load_explicit(&window->region, memory_order_relaxed) != address)
        return false;
    atomic_store_explicit(&window->region, 0, memory_order_relaxed);
    heap_window_reset(&window->heap, ready);
    return true;
}

/* How many numbers a thread takes at a time. */
#define STAMPS 256

/* A number larger than @last, never given before on this node. */
static uint64_t next_stamp(struct native_windows *w, uint64_t last)
{
    if (w->stamp == w->stamp_end || w->stamp <= last) {
        w->stamp = atomic_fetch_add(&native.shared->stamp, STAMPS) + 1;
        w->stamp_end = w->stamp + STAMPS;
    }
    return w->stamp++;
}

/* May this thread have one more? */
static bool has_room(struct native_windows *w)
{
    return !atomic_load_explicit(&w->no_stock, memory_order_relaxed) &&
           counted(w) && count_of(w) < NATIVE_STOCK;
}

bool native_stock_put_new(uint64_t address)
{
    struct native_windows *w = native_windows_mine;
    uint32_t i = native_window_index(address);
    uint64_t as_new = address | NATIVE_ENTRY_NEW;
    struct native_stocked *stocked;
    struct native_entry *entry;
    struct proto_region *region;

    if (!w ||
        atomic_load_explicit(&w->window[i].region, memory_order_relaxed) !=
            address)
        return false;
    entry = w->back[i].entry;
    if (!entry || !has_room(w) ||
        !atomic_compare_exchange_strong(&entry->address, &as_new, 0))
        return false;
    region = atomic_load_explicit(&entry->region, memory_order_relaxed);
    stocked = &w->stock[count_of(w)];
    stocked->entry = entry;
    if (!proto_renew(native.rank, region, next_stamp(w, region->incarnation)) ||
        !set_back(w, address, region->memory, &stocked->ready)) {
        /* Somebody has done something to it without looking it up. */
        runtime_poison("region %p was new, and is not",
                       (void *)(uintptr_t)address);
        return false;
    }
    ((struct native_memory *)region->memory)->incarnation = region->incarnation;
    set_count(w, count_of(w) + 1);
    return true;
}

static void make_anew(const struct native_tree *tree, struct heap_window *ready)
{
    struct native_memory *memory = tree->region->memory;
    uint64_t address = tree->region->address;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};

    native_windows_end(tree, tree->region);
    memset(ready, 0, sizeof(*ready));
    if (native_header_make(memory) ||
        heap_window_all(&context, &native_header_of(address)->heap, ready))
        runtime_poison("region %p cannot be made anew",
                       (void *)(uintptr_t)address);
}

bool native_stock_put(const struct native_tree *tree)
{
    struct native_windows *w = native_windows_own();
    struct proto_region *region = tree->region;
    uint64_t address = region->address;
    struct native_memory *memory = region->memory;
    struct native_stocked *stocked;
    struct native_entry *entry;

    if (!w || !has_room(w) || !simple(region))
        return false;
    entry = native_find_entry(address);
    if (!entry || !proto_renew(native.rank, region,
                               next_stamp(w, region->incarnation)))
        return false;
    atomic_store_explicit(&entry->address, 0, memory_order_relaxed);
    stocked = &w->stock[count_of(w)];
    stocked->entry = entry;
    if (!set_back(w, address, memory, &stocked->ready))
        make_anew(tree, &stocked->ready);
    memory->incarnation = region->incarnation;
    memory->touched = false;
    memory->first->user[EXTENT_USED_BYTES] = PAGE_BYTES;
    set_count(w, count_of(w) + 1);
    return true;
}

/* --- Out of stock -------------------------------------------------------- */

/* The last one, which is shown again, as new or not. */
static struct proto_region *pop(struct native_windows *w, uint64_t as_new)
{
    uint32_t n = count_of(w) - 1;
    struct native_entry *entry = w->stock[n].entry;
    struct proto_region *region =
        atomic_load_explicit(&entry->region, memory_order_relaxed);

    set_count(w, n);
    atomic_store_explicit(&entry->address, region->address | as_new,
                          memory_order_release);
    return region;
}

bool native_stock_take(drasync_region_t *region_out)
{
    struct native_windows *w = native_windows_mine;
    const struct proto_region *region;
    const struct native_stocked *stocked;

    if (!w || !w->hidden || !count_of(w))
        return false;
    stocked = &w->stock[count_of(w) - 1];
    region =
        atomic_load_explicit(&stocked->entry->region, memory_order_relaxed);
    if (!native_window_give(w, stocked->entry, region->address, region->memory,
                            &stocked->ready))
        return false;
    *region_out =
        (drasync_region_t)(uintptr_t)pop(w, NATIVE_ENTRY_NEW)->address;
    return true;
}

void native_stock_clear(struct native_windows *w)
{
    atomic_store(&w->no_stock, true);
    while (w->hidden && count_of(w)) {
        struct native_tree tree;
        uint64_t address = pop(w, 0)->address;

        /* Its heap has no piece to cut from, and a window that is not open. */
        if (!native_lock(address, &tree)) {
            if (tree.region)
                native_header_make(tree.region->memory);
            native_unlock(&tree);
        }
        native_delete((drasync_region_t)(uintptr_t)address);
    }
}

void native_stock_clear_all(void)
{
    for (struct native_windows *w = native_windows_all(); w; w = w->next)
        native_stock_clear(w);
}
