/*
 * magazine.h - allocation without a lock, in regions that this rank holds
 * for WRITE.
 *
 * While a rank has a region for WRITE nobody else allocates there and the data
 * stays where it is, so only threads of this process compete.  A thread that
 * allocates or frees in a region several times in a row gets a magazine of its
 * heap (heap_magazine.h), takes objects from it without asking anybody, and
 * frees objects of the region into it, whoever made them; one thread has
 * magazines of up to NATIVE_MAGAZINES regions.  Everything else, the refilling
 * of magazines included, happens under the lock of the region's tree.
 *
 * A magazine costs a microsecond, as it ends with the hold, which then cannot be
 * left as a lease (lease.h).  So a call without one leaves the lease alone, and
 * how many such calls in a row open one is learned from what the last ones were
 * of use for.
 *
 * A magazine ends before the hold under which it was opened may end: release
 * and delete (native_magazines_end()), the end of the thread, finalize.  The
 * heap is then complete in the region's memory, and may travel.  The thread of
 * a magazine may be at work in it at that moment, if the program lets its
 * threads race; so a magazine is a biased lock (memory/biased_lock.h): its
 * thread is inside while `uses` or `freeing` is odd, `region` is the
 * bias, and the mutex is the lock of the region's tree.  Where the kernel has
 * no barrier for that there are no magazines.
 *
 * The fast path does not look whether the job is poisoned: that is told at the
 * next call that needs more than the magazine.
 *
 * A rank that dies leaves magazines open, and its WRITE hold taken: the job
 * ends (death.h), or the region is lost (runtime/survive.h), and nobody looks at
 * the heap again.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_MAGAZINE_H
#define DRASYNC_RUNTIME_NATIVE_MAGAZINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"
#include "memory/biased_lock.h"
#include "memory/heap_magazine.h"
#include "memory/space.h"

struct native_memory;
struct native_tree;
struct extent;
struct proto_region;

struct native_entry;
struct native_hidden;

/* Recycled regions of one thread (recycle.h). */
#define NATIVE_RECYCLED 16

/* Regions that a thread allocates in at a time. */
#define NATIVE_MAGAZINES 64

/* So many slow calls in a row in a region open a magazine: at first, at most. */
#define NATIVE_SLOW_MIN 2
#define NATIVE_SLOW_MAX 64

struct native_magazine {
    _Atomic uint64_t region; /* its address; 0: not open; NATIVE_MAGAZINE_... */
    _Atomic uint64_t uses; /* odd: the thread is in the magazine; else twice the
                                objects that came from it, ever */
    _Atomic uint64_t
        freeing; /* odd: the thread frees into the magazine; else twice the
                    objects that it freed into it, ever */
    struct heap_magazine heap;

    /* What belongs to the magazine; under the lock of its tree. */
    struct native_memory *memory;
    struct native_entry *entry; /* of a region that is recycled; or NULL */
    uint64_t address;           /* of the region that it is, or was, open for */
    uint64_t parts; /* bit i: number i of the thread's parts may be of an extent
                       of its heap.  The thread's own, under no lock */
    struct extent *extent; /* of the piece */
    uint64_t done_before;  /* what it had been of use for when it opened */
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct native_magazine, heap.have_free) <= 64,
               "the fast path needs one line");

/* No region has these addresses: the magazine is being closed, it is ready for a
 * region recycled, or it is never open. */
extern char native_magazine_marks[3];
#define NATIVE_MAGAZINE_ENDS  ((uint64_t)(uintptr_t)&native_magazine_marks[0])
#define NATIVE_MAGAZINE_READY ((uint64_t)(uintptr_t)&native_magazine_marks[1])
#define NATIVE_MAGAZINE_NEVER ((uint64_t)(uintptr_t)&native_magazine_marks[2])

/* Of one thread; never freed, but used again by other threads. */
struct native_magazines {
    struct native_magazine magazine[NATIVE_MAGAZINES];
    _Atomic uint64_t counted; /* of the uses: the rank's counter knows these */
    _Atomic uint64_t open;    /* bit i: magazine i's region is not 0 */
    struct native_slow_calls {
        uint64_t region; /* where the thread's last one of this number was */
        uint32_t count;  /* in a row */
        _Atomic uint32_t opens_after; /* so many; NATIVE_SLOW_... */
    } slow[NATIVE_MAGAZINES];
    struct biased_owner owner; /* the thread */
    /* What the heaps of its last two magazines took, which a new one is expected
     * to take.  A hint: whoever closes a magazine stores it. */
    _Atomic uint32_t pages_last, pages_before;
    _Atomic uint64_t frees_counted; /* of `freeing`, the same */

    /* Recycled regions. */
    struct native_hidden *hidden;  /* how many; NULL: none so far */
    _Atomic uint32_t recycled_max; /* how many there may be */
    struct native_magazine *ready[NATIVE_RECYCLED]; /* for each; or NULL: */
    struct native_recycled {
        struct native_entry *entry;
        struct heap_magazine heap; /* for its magazine */
    } recycled[NATIVE_RECYCLED];
    uint64_t stamp, stamp_end; /* incarnations for recycled regions */

    struct native_magazines *next;
    _Atomic uint32_t taken; /* by a thread */

    /* Of all magazines.  A part's key is the region's address, so it is of no use
     * unless that is the magazine's bias; what is known of a heap is forgotten
     * when a magazine opens for it anew. */
    struct heap_parts parts;
    struct heap_magazine_free free[NATIVE_MAGAZINES][HEAP_MAGAZINE_CLASSES];
};

/* This thread's; NULL: none yet. */
extern _Thread_local struct native_magazines *native_magazines_mine
    __attribute__((tls_model("initial-exec")));

static inline uint32_t native_magazine_index(uint64_t address)
{
    return (uint32_t)space_page_hash(address, 6);
}

_Static_assert(NATIVE_MAGAZINES == 1 << 6,
               "native_magazine_index() keeps 6 bits, as many as `open` has");

/* The magazine that it allocated from last, or one that is never open. */
extern _Thread_local struct native_magazine *native_magazine_last
    __attribute__((tls_model("initial-exec")));

/* An allocation between its steps: the magazine that the thread is in; NULL: in
 * none. */
struct native_inside {
    struct native_magazine *magazine;
    uint64_t uses; /* what its uses were before */
};

/*
 * An object, or NULL.  Then, with a magazine in *inside_out, the thread is
 * still there: native_magazine_alloc_inside() is next; else
 * native_magazine_alloc_any().  For any arguments, at any time.  (Two steps, so
 * that the first one needs no stack.)  @builds, a constant: as
 * heap_magazine_alloc_likely()'s @likely.
 */
static inline __attribute__((always_inline)) void *
native_magazine_alloc(drasync_region_t region, size_t size_bytes, bool builds,
                      struct native_inside *inside_out)
{
    const uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_magazine *magazine = native_magazine_last;
    uint64_t uses = atomic_load_explicit(&magazine->uses, memory_order_relaxed);
    void *ptr;

    /* Nothing comes from one that is not open, with region 0. */
    inside_out->magazine = NULL;
    if (!biased_enter(&magazine->uses, uses + 1, uses, &magazine->region,
                      &address))
        return NULL;
    ptr = heap_magazine_alloc_likely(&magazine->heap, size_bytes, builds);
    if (ptr) {
        biased_leave(&magazine->uses, uses + 2);
        return ptr;
    }
    *inside_out = (struct native_inside){magazine, uses};
    return NULL;
}

/* The same where the thread is inside, and it leaves.  NULL:
 * native_magazine_alloc_any() then. */
void *native_magazine_alloc_inside(struct native_inside inside,
                                   size_t size_bytes);

/* The same from any magazine of this thread; or NULL: native_alloc() then. */
void *native_magazine_alloc_any(drasync_region_t region, size_t size_bytes);

/* Free the object at @ptr; false: native_magazine_free_any() then.  For any
 * argument, at any time. */
static inline bool native_magazine_free(void *ptr)
{
    struct native_magazines *w = native_magazines_mine;
    const struct heap_part *part;
    struct native_magazine *magazine;
    uint64_t frees;
    bool freed;

    if (__builtin_expect(!w, 0))
        return false;
    part = heap_parts_met(&w->parts, ptr, PAGE_SHIFT);
    __asm__("" : "+r"(part)); /* its address is not made twice */
    /* Every part has a magazine; one that was never learned has a key that is
     * no magazine's bias. */
    magazine = part->magazine;
    frees = atomic_load_explicit(&magazine->freeing, memory_order_relaxed);
    if (!biased_enter(&magazine->freeing, frees + 1, frees, &magazine->region,
                      &part->key))
        return false;
    freed = heap_magazine_give(&magazine->heap, part, HEAP_MAGAZINE_SHIFT, ptr);
    biased_leave(&magazine->freeing, freed ? frees + 2 : frees);
    return freed;
}

/* The same wherever it is; false: native_free() then. */
bool native_magazine_free_any(void *ptr);

/* --- For runtime/native*.c ------------------------------------------------ */

/* When the process starts to use native regions. */
void native_magazines_start(void);

/*
 * Under the tree's lock, by a thread that holds the region for WRITE: allocate
 * in the heap at @address through this thread's magazine, if it has one, or
 * @opens (as native_magazine_prepare() said) and it may have one now.
 * DRASYNC_EINVAL: not through a magazine; else as heap_alloc().
 */
int native_magazine_take(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, bool opens,
                         size_t size_bytes, void **ptr_out);

/* No lock held: this thread will allocate or free in the region at @address; make
 * place for its magazine.  True: the call may open that, and locks the tree for
 * NATIVE_FOR_ALL, as no lease has a magazine. */
bool native_magazine_prepare(uint64_t address);

/* This thread's, made if need be; NULL: it has none.  And the first of all. */
struct native_magazines *native_magazines_own(void);
struct native_magazines *native_magazines_all(void);

/* What @magazines' fast paths have done, for the rank's counters. */
void native_magazines_count_in(struct native_magazines *magazines);

/* Before magazine @magazine of @w, this thread's, opens: nothing is known of what
 * it had when it was open before. */
void native_magazine_forget(struct native_magazines *w,
                            struct native_magazine *magazine);

/* No lock held: end magazine @i of @w, if it is open. */
void native_magazine_end(struct native_magazines *w, uint32_t i);

/* No lock held; @w is this thread's: let magazine @i be for nobody.  False: it
 * still is for somebody. */
bool native_magazine_clear(struct native_magazines *w, uint32_t i);

/*
 * Under the tree's lock, by a thread that holds the region for WRITE: free the
 * object at @ptr, into this thread's magazine, if it has one, or @opens (as
 * native_magazine_prepare() said) and it may have one now.  As heap_free().
 */
int native_magazine_give(const struct heap_context *context, uint64_t address,
                         struct native_memory *memory, bool opens, void *ptr);

/* Under the tree's lock: how much more is used of the region's heap than that
 * knows, because of this thread's magazine. */
int64_t native_magazine_uncounted(uint64_t address);

/* Under the lock of @tree, before a WRITE hold of @top may end: end all
 * magazines of this process in its subtree.  DRASYNC_EPEER: a thread is in one
 * for good, or that cannot be told; the job is poisoned, and the hold must not
 * end. */
int native_magazines_end(const struct native_tree *tree,
                         const struct proto_region *top);

/* A region's heap will take so many pages, as this thread's last ones did; 0: no
 * idea. */
uint64_t native_magazine_usual_pages(void);

/* No lock held: this thread ends. */
void native_magazines_thread_ends(void);

/* No lock held: end all magazines of this process. */
void native_magazines_end_all(void);

/* Let the rank's counter of allocations know of all. */
void native_magazines_count(void);

#endif /* DRASYNC_RUNTIME_NATIVE_MAGAZINE_H */
