/* Magazines open, are refilled, and are revoked: see magazine.h. */
#include "runtime/native/magazine.h"

#include "runtime/death.h"
#include "runtime/native/recycle.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* --- Ending --------------------------------------------------------------- */

/* Is a magazine with that region open? */
static bool is_open(uint64_t region)
{
    return region && region != NATIVE_MAGAZINE_ENDS &&
           region != NATIVE_MAGAZINE_READY;
}

/* Larger heaps have grown often enough not to care. */
#define USUAL_PAGES_MAX 64

/* A magazine of @heap is closed: remember how much was in use of it.  Relaxed,
 * as is the reading of it below: a hint. */
static void note_size(struct native_magazines *w, const struct heap *heap)
{
    uint64_t pages = (heap->used_bytes + sizeof(struct native_header) +
                      (heap->used_bytes >> HEAP_MAGAZINE_SHIFT)) /
                         PAGE_BYTES +
                     1;

    if (pages > USUAL_PAGES_MAX)
        pages = USUAL_PAGES_MAX;
    atomic_store_explicit(
        &w->pages_before,
        atomic_load_explicit(&w->pages_last, memory_order_relaxed),
        memory_order_relaxed);
    atomic_store_explicit(&w->pages_last, (uint32_t)pages,
                          memory_order_relaxed);
}

/* The smaller of two: a single large region is no reason to expect more. */
uint64_t native_magazine_usual_pages(void)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t last, before;

    if (!w)
        return 0;
    last = atomic_load_explicit(&w->pages_last, memory_order_relaxed);
    before = atomic_load_explicit(&w->pages_before, memory_order_relaxed);
    return last < before ? last : before;
}

/* How much magazine @i was used so far: objects that came from it, and that its
 * thread freed into it.  Relaxed, as `opens_after` is: guesses of what pays. */
static uint64_t done(const struct native_magazines *w, uint32_t i)
{
    const struct native_magazine *magazine = &w->magazine[i];

    return atomic_load_explicit(&magazine->uses, memory_order_relaxed) / 2 +
           atomic_load_explicit(&magazine->freeing, memory_order_relaxed) / 2;
}

/* Opening and closing a magazine costs as much as some ten calls without one.
 * So one that was of little use, as where a hold is for an object or two, opens
 * after twice as many slow calls the next time. */
#define WORTH_CALLS 10

static void learn(struct native_magazines *w, uint32_t i)
{
    _Atomic uint32_t *after = &w->slow[i].opens_after;
    uint32_t was = atomic_load_explicit(after, memory_order_relaxed);
    bool pays = done(w, i) - w->magazine[i].done_before >= WORTH_CALLS;

    if (pays || was < NATIVE_SLOW_MAX)
        atomic_store_explicit(after, pays ? NATIVE_SLOW_MIN : 2 * was,
                              memory_order_relaxed);
}

/* Give what is in the magazine back to its heap.  Under the tree's lock; the
 * magazine's thread is not in it. */
static void close_window(struct native_magazines *w, uint32_t i,
                         uint64_t address)
{
    struct native_magazine *magazine = &w->magazine[i];
    struct native_memory *memory = magazine->memory;
    const struct heap_context context = {.space = &runtime.space,
                                         .owner = memory};
    struct extent *e = magazine->extent;
    struct heap *heap = &native_header_of(address)->heap;
    uint64_t used = 0;

    if (heap_magazine_close(&context, heap, &magazine->heap))
        runtime_say("region %p: its heap was overwritten",
                    (void *)(uintptr_t)address);
    note_size(w, heap);
    /* The end of the piece is not in use any more. */
    if (e &&
        !heap_high_water(
            &context, heap,
            atomic_load_explicit(&e->first_page, memory_order_relaxed),
            &used) &&
        used < e->user[EXTENT_USED_BYTES])
        e->user[EXTENT_USED_BYTES] = used;
    magazine->extent = NULL;
    memory->touched = true;
    native_magazines_count_in(w);
    learn(w, i);
    /* Release pairs with the acquire of open_window() and
     * native_magazine_clear(): before the thread opens it again, all of this is
     * done, `open` included. */
    atomic_fetch_and(&w->open, ~(UINT64_C(1) << i));
    atomic_store_explicit(&magazine->region, 0, memory_order_release);
}

/* The magazines of @w in @ending are marked with NATIVE_MAGAZINE_ENDS, R1 of
 * biased_lock.h: R2 and R3, wait until their thread is out of them.
 * DRASYNC_EPEER: that cannot be known, and the job is poisoned; the magazines
 * stay as they are. */
static int wait_until_out(struct native_magazines *w, uint64_t ending)
{
    int err;

    if (w == native_magazines_mine)
        return 0;
    err = biased_barrier(BIASED_PROCESS);
    if (err)
        runtime_poison(
            "rank %d cannot take a region back from one of its "
            "threads: the system refuses membarrier(); let a filter "
            "of system calls allow it, or install it before MPI_Init",
            runtime.rank);
    for (; !err && ending; ending &= ending - 1) {
        struct native_magazine *magazine =
            &w->magazine[__builtin_ctzll(ending)];

        err = biased_wait(&w->owner, &magazine->uses, 1, 1, death_check);
        if (!err)
            err = biased_wait(&w->owner, &magazine->freeing, 1, 1, death_check);
    }
    if (err == DRASYNC_EPEER)
        runtime_poison("thread %d of rank %d has ended while it allocated",
                       (int)w->owner.thread, runtime.rank);
    return err ? DRASYNC_EPEER : 0;
}

/* Is the region at @address in @top's subtree?  Under the lock of @tree. */
static bool is_below(const struct native_tree *tree, uint64_t address,
                     const struct proto_region *top)
{
    const struct proto_region *r;

    if (address == top->address)
        return true;
    r = native_find_in(tree, address);
    while (r && r != top)
        r = r->parent;
    return r != NULL;
}

/*
 * `open` and `region` need no order: a magazine of this tree was opened under
 * its lock, or by native_recycle_take_ready() before its region could be found
 * (release there).  Magazines of other trees come and go meanwhile; is_below()
 * leaves them out.
 */
int native_magazines_end(const struct native_tree *tree,
                         const struct proto_region *top)
{
    int err;

    for (struct native_magazines *w = native_magazines_all(); w; w = w->next) {
        uint64_t address[NATIVE_MAGAZINES];
        uint64_t ending = 0;

        for (uint64_t open = atomic_load(&w->open); open; open &= open - 1) {
            int i = __builtin_ctzll(open);

            address[i] = atomic_load(&w->magazine[i].region);
            if (is_open(address[i]) && is_below(tree, address[i], top)) {
                atomic_store(&w->magazine[i].region, NATIVE_MAGAZINE_ENDS);
                ending |= UINT64_C(1) << i;
            }
        }
        if (!ending)
            continue;
        err = wait_until_out(w, ending);
        if (err)
            return err;
        for (; ending; ending &= ending - 1) {
            int i = __builtin_ctzll(ending);

            close_window(w, (uint32_t)i, address[i]);
        }
    }
    return 0;
}

void native_magazine_end(struct native_magazines *w, uint32_t i)
{
    /* Says which tree to lock; under that lock it is certain. */
    uint64_t address = atomic_load(&w->magazine[i].region);
    struct native_tree tree;

    if (!is_open(address) || native_lock(address, &tree))
        return;
    if (atomic_load(&w->magazine[i].region) == address) {
        atomic_store(&w->magazine[i].region, NATIVE_MAGAZINE_ENDS);
        if (!wait_until_out(w, UINT64_C(1) << i))
            close_window(w, i, address);
    }
    native_unlock(&tree);
}

void native_magazines_end_all(void)
{
    for (struct native_magazines *w = native_magazines_all(); w; w = w->next)
        for (uint32_t i = 0; i < NATIVE_MAGAZINES; i++)
            native_magazine_end(w, i);
}

/* --- Allocating ----------------------------------------------------------- */

/* Leave @magazine, which was entered with @uses + 1. */
static inline void *leave_with(struct native_magazine *magazine, uint64_t uses,
                               void *ptr)
{
    biased_leave(&magazine->uses, ptr ? uses + 2 : uses);
    return ptr;
}

void *native_magazine_alloc_inside(struct native_inside inside,
                                   size_t size_bytes)
{
    return leave_with(
        inside.magazine, inside.uses,
        heap_magazine_alloc_any(&inside.magazine->heap, size_bytes));
}

void *native_magazine_alloc_any(drasync_region_t region, size_t size_bytes)
{
    const uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_magazines *mine = native_magazines_mine;
    struct native_magazine *magazine;
    uint64_t uses;

    if (!mine)
        return NULL;
    magazine = &mine->magazine[native_magazine_index(address)];
    /* Relaxed: this thread alone writes it. */
    uses = atomic_load_explicit(&magazine->uses, memory_order_relaxed);
    if (!biased_enter(&magazine->uses, uses + 1, uses, &magazine->region,
                      &address))
        return NULL;
    native_magazine_last = magazine;
    return leave_with(magazine, uses,
                      heap_magazine_alloc_any(&magazine->heap, size_bytes));
}

void native_magazine_forget(struct native_magazines *w,
                            struct native_magazine *magazine)
{
    heap_parts_forget(&w->parts, magazine, magazine->parts);
    magazine->parts = 0;
}

static bool open_for(const struct native_magazines *w, uint32_t i,
                     uint64_t address)
{
    /* Relaxed: its own thread opens it. */
    return atomic_load_explicit(&w->magazine[i].region, memory_order_relaxed) ==
           address;
}

bool native_magazine_prepare(uint64_t address)
{
    struct native_magazines *w = native_magazines_own();
    uint32_t i = native_magazine_index(address);
    struct native_slow_calls *slow;

    if (!w || !address || open_for(w, i, address))
        return false;
    slow = &w->slow[i];
    if (slow->region != address) {
        slow->region = address;
        slow->count = 0;
    }
    if (++slow->count <
        atomic_load_explicit(&slow->opens_after, memory_order_relaxed))
        return false;
    slow->count = 0;
    native_magazine_end(w, i);
    return true;
}

bool native_magazine_clear(struct native_magazines *w, uint32_t i)
{
    native_magazine_end(w, i);
    native_recycle_leave(w, &w->magazine[i]);
    return !atomic_load_explicit(&w->magazine[i].region, memory_order_acquire);
}

/* Open magazine @i for the region, under its tree's lock.  False: another
 * thread is still closing it. */
static bool open_window(struct native_magazines *w, uint32_t i,
                        uint64_t address, struct native_memory *memory)
{
    struct native_magazine *magazine = &w->magazine[i];

    native_recycle_leave(w, magazine);
    if (atomic_load_explicit(&magazine->region, memory_order_acquire))
        return false;
    heap_magazine_open(&native_header_of(address)->heap, &magazine->heap,
                       w->free[i]);
    magazine->memory = memory;
    magazine->entry = NULL;
    magazine->address = address;
    native_magazine_forget(w, magazine);
    magazine->extent = NULL;
    magazine->done_before = done(w, i);
    atomic_fetch_or(&w->open, UINT64_C(1) << i);
    atomic_store_explicit(&magazine->region, address, memory_order_release);
    return true;
}

static void note_piece(struct native_magazine *magazine)
{
    magazine->extent =
        extent_of(&runtime.space,
                  (void *)(uintptr_t)(heap_magazine_end(&magazine->heap) - 1));
}

/* Is magazine @i open for the region, or, if @opens, opened now?  Under its
 * tree's lock. */
static bool is_mine(struct native_magazines *w, uint32_t i, uint64_t address,
                    struct native_memory *memory, bool opens)
{
    return open_for(w, i, address) ||
           (opens && open_window(w, i, address, memory));
}

int native_magazine_take(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, bool opens,
                         size_t size_bytes, void **ptr_out)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t i = native_magazine_index(address);
    uint64_t end;
    int err;

    if (!w || !is_mine(w, i, address, memory, opens))
        return DRASYNC_EINVAL;
    end = w->magazine[i].heap.end;
    err = heap_magazine_refill(context, &native_header_of(address)->heap,
                               &w->magazine[i].heap, size_bytes, ptr_out);
    if (w->magazine[i].heap.end != end && w->magazine[i].heap.end)
        note_piece(&w->magazine[i]);
    return err;
}

int64_t native_magazine_uncounted(uint64_t address)
{
    struct native_magazines *w = native_magazines_mine;
    uint32_t i = native_magazine_index(address);

    return w && open_for(w, i, address)
               ? heap_magazine_uncounted(&w->magazine[i].heap)
               : 0;
}

/* --- Freeing -------------------------------------------------------------- */

bool native_magazine_free_any(void *ptr)
{
    struct native_magazines *w = native_magazines_mine;

    return w && heap_parts_meet(&w->parts, ptr) && native_magazine_free(ptr);
}

/* Where the fast path may not free, what it learns is of no use to it. */
static uint64_t part_key(const struct native_magazine *magazine)
{
    return heap_magazine_fast(&magazine->heap) ? magazine->address
                                               : NATIVE_MAGAZINE_NEVER;
}

int native_magazine_give(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, bool opens, void *ptr)
{
    struct native_magazines *w = native_magazines_mine;
    struct heap *heap = &native_header_of(address)->heap;
    uint32_t i = native_magazine_index(address);
    struct native_magazine *magazine;

    if (!w || !is_mine(w, i, address, memory, opens))
        return heap_free(context, heap, ptr);
    magazine = &w->magazine[i];
    magazine->parts |= UINT64_C(1)
                       << heap_parts_number(extent_of(&runtime.space, ptr));
    return heap_magazine_free(context, heap, &magazine->heap, &w->parts,
                              magazine, part_key(magazine), ptr);
}
