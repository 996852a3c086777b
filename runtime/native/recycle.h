/*
 * recycle.h - regions that come and go: a few that were deleted are kept
 * by the thread that deleted them, ready to be new ones.
 *
 * A region that no other node knows and nobody else holds is not taken apart
 * when it is deleted: what it grew by is given back, but its record stays, held
 * for WRITE by this rank, with its first page, frames and an empty heap; it is
 * only hidden in the table of records, so that everybody finds that the region
 * is gone.  The next new region of the thread is that one, shown again: no
 * lock, no system call, and one store that others see.  It is shown as new
 * (NATIVE_ENTRY_NEW): if nobody has looked up the region or anything in it by
 * the time its creator deletes it, that is one compare-and-swap, and what the
 * record says was never seen: it is as good for the next region.  Else deleting
 * takes the lock of the tree, because others may be about to ask for the
 * region, and the record gets a new incarnation.
 *
 * While a region is recycled, the heap's one piece belongs to a magazine
 * (magazine.h), which the new region's creator has at once.  If that was all
 * that touched the heap by the time the region is deleted, the heap is not made
 * anew: the magazine is set back, and the map cleared as far as objects went.
 * The magazine waits where it was, ready, until the thread needs its place for
 * another region.
 *
 * As with magazines, what goes the fast way does not look whether the job is
 * poisoned.
 *
 * What is recycled costs a page and a record each, and a list with the room for
 * the extents it had (32 bytes each, which are few: heap.h), NATIVE_RECYCLED
 * for a thread. It is given up when the thread ends, and in finalize.
 *
 * The other caches of what was freed, and why this is none of them:
 * docs/architecture.md, "What is kept of what was just freed".
 */
#ifndef DRASYNC_RUNTIME_NATIVE_RECYCLE_H
#define DRASYNC_RUNTIME_NATIVE_RECYCLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/native/magazine.h"
#include "runtime/native/running.h"

struct native_tree;

/* An entry of the table of records.  Entries are never given back to control
 * memory, so a reader without a lock may follow stale ones. */
struct native_entry {
    uint64_t reserved[2];
    _Atomic(struct native_entry *) next;
    _Atomic uint64_t address; /* 0: not in use; see NATIVE_ENTRY_NEW */
    _Atomic(struct proto_region *) region;
    struct native_entry *free_next;
};

/* In an entry's address: nobody but its creator has looked the region up, or
 * anything in it.  Whoever does takes that away. */
#define NATIVE_ENTRY_NEW UINT64_C(1)

/* A thread's count of hidden records; in control memory, for the node's
 * statistics. */
struct native_hidden {
    uint64_t reserved[2];
    _Atomic uint32_t count;
    struct native_hidden *next;
};

/* How many @w, which has hidden some, has recycled. */
static inline uint32_t native_recycle_count(const struct native_magazines *w)
{
    return atomic_load_explicit(&w->hidden->count, memory_order_relaxed);
}

static inline void native_recycle_set_count(struct native_magazines *w,
                                            uint32_t count)
{
    atomic_store_explicit(&w->hidden->count, count, memory_order_relaxed);
}

/* A new region of this thread's recycled regions, with its magazine ready;
 * NULL: the last that came in is not like that, or there is none. */
static inline drasync_region_t native_recycle_take_ready(void)
{
    struct native_magazines *w = native_magazines_mine;
    struct native_magazine *magazine;
    uint64_t address;
    uint32_t count;

    if (!w || !w->hidden)
        return NULL;
    count = native_recycle_count(w);
    if (!count || !(magazine = w->ready[count - 1]) || native_running.function)
        return NULL;
    address = magazine->address;
    native_recycle_set_count(w, count - 1);
    /* Release pairs with the acquire of who revokes the magazine, and of who
     * finds the entry (table.c): heap and record are as recycling left them. */
    atomic_store_explicit(&magazine->region, address, memory_order_release);
    atomic_store_explicit(&magazine->entry->address, address | NATIVE_ENTRY_NEW,
                          memory_order_release);
    return (drasync_region_t)(uintptr_t)address;
}

/* Delete @region, if this thread took it to use it again and nobody has looked
 * it up; false: not so.  No lock held. */
static inline bool native_recycle_put_new(drasync_region_t region)
{
    struct native_magazines *w = native_magazines_mine;
    uint64_t address = (uint64_t)(uintptr_t)region;
    uint64_t as_new = address | NATIVE_ENTRY_NEW;
    struct native_magazine *magazine;
    struct native_entry *entry;
    uint32_t count;

    if (!w || native_running.function)
        return false;
    magazine = &w->magazine[native_magazine_index(address)];
    if (atomic_load_explicit(&magazine->region, memory_order_relaxed) !=
            address ||
        !(entry = magazine->entry))
        return false;
    count = native_recycle_count(w);
    /* The exchange fails if somebody has looked the region up, who then takes
     * part (is_entry_of() in table.c).  Its acquire serves nothing: nobody else
     * has touched what is used here. */
    if (count >= atomic_load_explicit(&w->recycled_max, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&entry->address, &as_new, 0))
        return false;
    heap_magazine_rewind(&magazine->heap);
    atomic_store_explicit(&magazine->region, NATIVE_MAGAZINE_READY,
                          memory_order_relaxed);
    w->ready[count] = magazine;
    native_recycle_set_count(w, count + 1);
    return true;
}

/* --- For runtime/native*.c ------------------------------------------------ */

/* A new region of this thread's recycled regions; NULL: there is none. */
drasync_region_t native_recycle_take(void);

/* If @magazine of @w is ready for a region recycled, that has it otherwise from
 * now on, and the magazine is not open. */
void native_recycle_leave(struct native_magazines *w,
                          struct native_magazine *magazine);

/*
 * Under the lock of @tree, which has its region: delete it by taking it into
 * stock.  False, with nothing changed, if it must be deleted otherwise.
 */
bool native_recycle_put(const struct native_tree *tree);

/* No lock held: delete what the thread of @magazines has recycled, and let
 * nothing in; or what all have. */
void native_recycle_clear(struct native_magazines *magazines);
void native_recycle_clear_all(void);

/* How many records of the node are hidden. */
uint64_t native_recycle_hidden(void);

#endif /* DRASYNC_RUNTIME_NATIVE_RECYCLE_H */
