/*
 * heap_magazine.h - what one thread may hand out of a heap without asking.
 *
 * A magazine is a piece [bump, end) of an extent (heap_piece.h), and a stack of
 * free slots of each small class: what the thread freed, or the heap had.  The
 * piece is counted in granules, of which the map has a byte each
 * (heap_extent.h): number n is at address n << shift.  Objects come from it in
 * some ten instructions: the fast path writes the magazine, and one byte of the
 * extent's map, which nobody else writes.  The map of the piece is cleared when
 * it is cut, so that any thread may free or resize an object as soon as it is
 * there.  Freeing onto a stack writes the object's byte of the map, which it
 * finds by the thread's parts (heap_parts.h), and the stack; so does allocating
 * from it.
 *
 * This is one of two magazines; they share pieces, and how an object is found
 * and marked.  The other one, heap_cache.h, packs a slot into a word, notes what
 * is freed and sorts it later: with 100,000 objects of mixed sizes (alloc_churn)
 * each store waits for those of the program, and it has the fewest.  For that it
 * needs the 64 bytes that Myrmics objects are aligned to.  This one bumps without
 * a look at a stack (alloc_small).
 *
 * The heap counts what is in a magazine as used for its high-water marks.  What
 * it counts in used_bytes is what it knew when the magazine last asked;
 * heap_magazine_uncounted() is the difference.  heap_magazine_close() gives
 * back what is left: the heap is then as if it had handed out the objects
 * itself, and may travel.  A magazine is not part of the heap: it lies in
 * memory of its process, and nothing in it comes from memory that users write,
 * but for addresses that were checked.
 *
 * Callers guarantee:
 *   - heap_magazine_alloc(), _alloc_any() and _give() are
 *     called by one thread, and not at the same time as other calls on the
 *     magazine.  They may run at the same time as any call on the heap.
 *   - The other calls are calls on the heap (heap.h: one at a time).
 *   - No magazine of a heap is open when its extents go, when another process
 *     uses it, or at heap_seal(); and the parts of a magazine that is closed are
 *     forgotten.
 */
#ifndef MEMORY_HEAP_MAGAZINE_H
#define MEMORY_HEAP_MAGAZINE_H

#include "memory/heap_parts.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Larger objects are the heap's matter. */
#define HEAP_MAGAZINE_OBJECT_BYTES_MAX 1024

/* Their classes: those of heap_extent.h. */
#define HEAP_MAGAZINE_CLASSES 20

/* The logarithm of a granule's bytes where there is a fast path. */
#define HEAP_MAGAZINE_SHIFT 4
#define HEAP_MAGAZINE_GRANULES_MAX \
    (HEAP_MAGAZINE_OBJECT_BYTES_MAX >> HEAP_MAGAZINE_SHIFT)

_Static_assert(HEAP_MAGAZINE_GRANULES_MAX == HEAP_PART_SIZES,
               "their classes are looked up");

/* Free slots of a class that a magazine has, and that are moved at a time
 * between it and the heap. */
#define HEAP_MAGAZINE_SLOTS 71
#define HEAP_MAGAZINE_BATCH 32

struct heap_magazine {
    uint64_t bump;
    uintptr_t map; /* of granule n: the byte at map + n */
    uint64_t end;
    struct heap_magazine_free {
        _Alignas(128) uint32_t count;
        uint32_t counted; /* as many slots the heap does not count as used */
        void *object[HEAP_MAGAZINE_SLOTS];
        uint8_t *code[HEAP_MAGAZINE_SLOTS]; /* its byte of the map */
    } * free; /* [HEAP_MAGAZINE_CLASSES], the caller's, all 0 at first; counts are
                 0 again when the magazine is closed */
    /* Bit c: objects of class c come from the bump pointer.  Not where there are
     * free slots for them, and never where granules have more than 16 bytes.  Set
     * again by heap_magazine_alloc_any(). */
    uint32_t bumps;
    /* Bit c: there are free slots of class c in the heap, or were when it was
     * asked last. */
    uint32_t have_free;
    uint32_t shift;     /* objects are aligned to granules, of so many bits */
    uint32_t uncounted; /* granules before the end that are not in the heap's
                           used_bytes */
    bool stacked;       /* there may be slots on the stacks */
};

/* Each has a stack of another size than any power of two, so that their first
 * lines are not all in a few of the cache's sets. */
_Static_assert(sizeof(struct heap_magazine_free) == 9 * 128,
               "two instructions lead to a class's stack");

/* Are objects aligned to 16 bytes?  Else the fast path has no part of the
 * magazine, and nothing comes from its bump pointer. */
static inline bool heap_magazine_fast(const struct heap_magazine *magazine)
{
    return magazine->shift == HEAP_MAGAZINE_SHIFT;
}

/* A magazine of @heap with nothing in it.  @free is used until it is closed. */
void heap_magazine_open(const struct heap *heap, struct heap_magazine *magazine,
                        struct heap_magazine_free *free);

/* The address where its piece ends; 0: it has none. */
static inline uint64_t heap_magazine_end(const struct heap_magazine *magazine)
{
    return magazine->end << magazine->shift;
}

/* Open @magazine with all that is left of the current extent of @heap, and give
 * it its free slots later.  0 or DRASYNC_EINTERNAL. */
int heap_magazine_all(const struct heap_context *context, struct heap *heap,
                      struct heap_magazine *magazine);

/*
 * An object, when heap_magazine_alloc() had none: the magazine gets what it
 * needs for more.  DRASYNC_EINVAL: @size_bytes is 0 or more than
 * HEAP_MAGAZINE_OBJECT_BYTES_MAX; else as heap_alloc().
 */
int heap_magazine_refill(const struct heap_context *context, struct heap *heap,
                         struct heap_magazine *magazine, size_t size_bytes,
                         void **ptr_out);

/*
 * Free the object at @ptr, when heap_magazine_give() did not.  @parts are the
 * thread's, @owner and @key the magazine's there.  As heap_free().
 */
int heap_magazine_free(const struct heap_context *context, struct heap *heap,
                       struct heap_magazine *magazine, struct heap_parts *parts,
                       void *owner, uint64_t key, void *ptr);

/* How much more is used than the heap's used_bytes says, because of
 * @magazine. */
int64_t heap_magazine_uncounted(const struct heap_magazine *magazine);

/* After what is free has changed. */
void heap_magazine_set_bumps(struct heap_magazine *magazine);

/* An object was freed otherwise: the magazine's thread may have use for it. */
static inline void heap_magazine_freed(struct heap_magazine *magazine)
{
    magazine->have_free = UINT32_MAX;
    heap_magazine_set_bumps(magazine);
}

/* Give back what is left; the magazine holds nothing then.  0 or
 * DRASYNC_EINTERNAL. */
int heap_magazine_close(const struct heap_context *context, struct heap *heap,
                        struct heap_magazine *magazine);

/* An object of @class, of @slot granules, from the bump pointer; NULL if it does
 * not end at the end or before. */
static inline void *heap_magazine_bump(struct heap_magazine *magazine,
                                       uint64_t slot, uint64_t class,
                                       uint32_t shift)
{
    uint64_t bump = magazine->bump, next = bump + slot;
    char *object;

    if (__builtin_expect(next > magazine->end, 0))
        return NULL;
    *(uint8_t *)(magazine->map + bump) = (uint8_t)(class + 0x81);
    magazine->bump = next;
    object = (char *)(uintptr_t)(bump << shift);
    if (!object)
        __builtin_unreachable(); /* callers look whether there is an object */
    /* The caller writes objects one after another, across pages. */
    __builtin_prefetch(object + 2048, 1);
    return object;
}

/* The last slot of @class that was freed; NULL: there is none. */
static inline __attribute__((always_inline)) void *
heap_magazine_pop(struct heap_magazine *magazine, uint64_t class)
{
    struct heap_magazine_free *free = &magazine->free[class];
    uint64_t count = free->count;
    void *object;

    if (!count)
        return NULL;
    object = free->object[count - 1];
    *free->code[count - 1] = (uint8_t)(class + 0x81);
    free->count = (uint32_t)(count - 1);
    if (!object)
        __builtin_unreachable(); /* there is a slot */
    return object;
}

/* Free the object at @ptr, if it is in @part, which is the magazine's, and
 * small; false: heap_magazine_free() then.  @shift: the magazine's. */
static inline __attribute__((always_inline)) bool
heap_magazine_give(struct heap_magazine *magazine, const struct heap_part *part,
                   unsigned shift, void *ptr)
{
    uint64_t granule = heap_part_granule(part, ptr, shift), class, count;
    struct heap_magazine_free *free;
    uint8_t *code;

    if (__builtin_expect(granule >= part->sure, 0) &&
        !heap_part_ends(part, granule, ptr))
        return false;
    code = part->map + granule;
    class = (uint64_t)*code - 0x81;
    if (class >= HEAP_MAGAZINE_CLASSES) /* many if it is free */
        return false;
    free = &magazine->free[class];
    count = free->count;
    if (__builtin_expect(count == HEAP_MAGAZINE_SLOTS, 0))
        return false;
    *code = (uint8_t)(class + 1);
    free->object[count] = ptr;
    free->code[count] = code;
    free->count = (uint32_t)(count + 1);
    if (__builtin_expect(magazine->bumps >> class & 1, 0))
        magazine->bumps &= ~(UINT32_C(1) << class);
    return true;
}

/* An object from the bump pointer, or what was freed last; or NULL:
 * heap_magazine_alloc_any() then.  @likely, a constant: it is the former, and no
 * jump is taken then. */
static inline __attribute__((always_inline)) void *
heap_magazine_alloc_likely(struct heap_magazine *magazine, size_t size_bytes,
                           bool likely)
{
    /* Many if the size is 0. */
    uint64_t more = (size_bytes - 1) >> HEAP_MAGAZINE_SHIFT;
    uint64_t class;

    __asm__("" : "+r"(more)); /* what is compared is what is looked up */
    if (__builtin_expect(more >= HEAP_MAGAZINE_GRANULES_MAX, 0))
        return NULL;
    /* Where objects are aligned to more, stacks of classes whose sizes are no
     * multiples of that are empty, and a multiple's class is the right one. */
    class = heap_part_sizes[more].class;
    if (likely && __builtin_expect(magazine->bumps >> class & 1, 1))
        return heap_magazine_bump(magazine, heap_part_sizes[more].slot, class,
                                  HEAP_MAGAZINE_SHIFT);
    return !likely && magazine->bumps >> class & 1
               ? heap_magazine_bump(magazine, heap_part_sizes[more].slot, class,
                                    HEAP_MAGAZINE_SHIFT)
               : heap_magazine_pop(magazine, class);
}

static inline void *heap_magazine_alloc(struct heap_magazine *magazine,
                                        size_t size_bytes)
{
    return heap_magazine_alloc_likely(magazine, size_bytes, false);
}

/* An object of up to HEAP_MAGAZINE_OBJECT_BYTES_MAX from the magazine, however
 * they are aligned; or NULL: heap_magazine_refill() then. */
void *heap_magazine_alloc_any(struct heap_magazine *magazine,
                              size_t size_bytes);

/* Clear @count bytes; there are few, so there is no call for that. */
static inline void heap_magazine_clear(char *map, uint64_t count)
{
    char *end = map + count;

    if (__builtin_expect(count < 16, 0)) {
        while (map < end)
            *(volatile char *)map++ = 0;
        return;
    }
    for (; map < end - 16; map += 16)
        __builtin_memset(map, 0, 16);
    __builtin_memset(end - 16, 0, 16);
}

/*
 * Take back all objects of @magazine, which is then as heap_magazine_all()
 * opened it.  Only if nobody did anything else with the heap since.
 */
static inline void heap_magazine_rewind(struct heap_magazine *magazine)
{
    uint64_t start = magazine->end - magazine->uncounted;

    heap_magazine_clear((char *)(magazine->map + start),
                        magazine->bump - start);
    magazine->bump = start;
}

/* It has nothing any more; a copy of it has.  Of one without free slots. */
static inline void heap_magazine_forget(struct heap_magazine *magazine)
{
    magazine->bump = magazine->end = 0;
    magazine->uncounted = 0;
}

#endif
