/*
 * heap_cache.h - free slots of a few heaps, at hand for one thread.
 *
 * In front of a heap (heap.h) whose users free and allocate alternately: what a
 * thread frees goes to a short stack of its size class, and allocating takes it
 * from there, without touching the objects, the heap's lists or other memory
 * that is not warm.  Slots on a stack are free in the heap's map, so misuse is
 * told apart as ever, and in none of its lists: whoever else uses the heap does
 * not see them.  Where the stack and the heap's list are empty, small objects
 * come from a piece of an extent that is the cache's own (heap_piece.h).
 *
 * Both are made of few instructions, and fewer stores.  The user writes objects
 * that are in none of the processor's caches, and whatever else is written
 * queues up behind that: with 100,000 objects of mixed sizes each store of ours
 * costs as much as four or five other instructions.  So what is freed is only
 * noted, in one word, and sorted to its stack later, many at a time, unless the
 * next object is of that size.
 * That also keeps the map's byte, which is often far away, from being what the
 * next call waits for.
 *
 * heap_magazine.h is the other kind of magazine, and says why there are two.
 *
 * Slots on a stack, or noted, count as used in the heap; of the piece, what was
 * in use when the cache last took one.  Only for heaps whose objects are aligned
 * to 64 bytes.
 *
 * A cache, and what caches share, is plain memory of one process, all zero when
 * new; a cache is cleared before its first use, and what is shared opened.  A
 * heap may have a cache for each of several threads.
 *
 * Callers guarantee:
 *   - Caches which share something are one thread's, and a cache is for one heap
 *     at a time: it is flushed before it serves another, or cleared.
 *   - The calls with a context are calls on the heap (heap.h: one at a time), but
 *     for heap_cache_withdraw() by the cache's thread.  The others may run at
 *     the same time as any call on the heap, but for those of the next point.
 *   - It is flushed, or withdrawn and then cleared, before heap_seal(); and
 *     cleared before any of the heap's extents goes.
 *   - Notes are of one cache at a time, and counted by the caller, who has a word
 *     at hand that it writes anyway: they are sorted, or the count is set to 0
 *     when the cache is cleared, before another one's are taken.
 */
#ifndef MEMORY_HEAP_CACHE_H
#define MEMORY_HEAP_CACHE_H

#include "memory/heap_parts.h"

#define HEAP_CACHE_CLASSES   40 /* up to HEAP_CACHE_BYTES_MAX */
#define HEAP_CACHE_BYTES_MAX ((uint64_t)32 << 10)
#define HEAP_CACHE_SLOTS     63
#define HEAP_CACHE_ALIGN     ((uint64_t)1 << GRANULE_SHIFT_WIDE)

/* How many are moved at a time between a stack and the heap's list; and notes
 * that are worth sorting where a new object can be had as well. */
#define HEAP_CACHE_BATCH 32

/* The classes of objects that are made of the cache's piece: up to 1 KiB. */
#define HEAP_CACHE_PIECE_CLASSES 20

/* How many can be noted before they are sorted. */
#define HEAP_CACHE_NOTES 128

/* Blocks of heap_parts.h are pages, as the first extents of a heap are as small;
 * and larger once there is an extent of so many bytes. */
#define HEAP_CACHE_BLOCK_SHIFT 16
#define HEAP_CACHE_WIDE_BYTES  ((uint64_t)4 << 20)

_Static_assert(HEAP_PARTS == 64, "a slot is its address + its part's number");

/* A class that has no slots, for sizes that have none. */
#define HEAP_CACHE_NO_CLASS HEAP_CACHE_CLASSES

/* A stack begins at a multiple of its size.  Its first entry is 0, which is in
 * no extent: there is none. */
struct heap_cache {
    _Alignas(512) uint64_t slot[HEAP_CACHE_CLASSES + 1][HEAP_CACHE_SLOTS + 1];
    uint64_t *top[HEAP_CACHE_CLASSES + 1]; /* the last entry */

    /* The piece: [bump, end), addresses, what was counted as used, and the map's
     * byte for `bump`. */
    uint64_t bump, end, counted;
    uint32_t listed; /* bit c: the heap's list of class c has slots, or had when
                        it was looked at last: they go first */
    uint8_t *map;
};

/* What the caches of a thread share. */
struct heap_caches {
    struct heap_parts parts;
    /* Slots, each with its class << 56, from number 1 on; number 0 is of no
     * class. */
    uint64_t note[1 + HEAP_CACHE_NOTES];
    ptrdiff_t view; /* of the heaps (heap.h) */
};

/*
 * Classes of sizes, looked up: sizes come as they like, and a branch that is
 * guessed wrong costs as much as all the rest.
 */
extern uint8_t heap_cache_classes[HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN + 1];

/* In a process, before the first cache is used. */
void heap_caches_start(void);

/* Before a cache is used, once. */
void heap_caches_open(struct heap_caches *caches, const struct space *space,
                      ptrdiff_t view);

/* Forget all slots, the piece, and the heap's extents: what there is is not
 * handed out again. */
void heap_cache_clear(struct heap_caches *caches, struct heap_cache *cache);

/* Put the slots of @count notes on their stacks, without the @first ones.
 * Returns how many are done: fewer than @count, if a stack is full. */
unsigned heap_cache_sort(const struct heap_caches *caches,
                         struct heap_cache *cache, unsigned first,
                         unsigned count);

/* The same for all of them: of full stacks the heap gets a part. */
void heap_cache_sort_all(const struct heap_context *context, struct heap *heap,
                         const struct heap_caches *caches,
                         struct heap_cache *cache, unsigned first,
                         unsigned count);

/* Give all slots and the piece back to the heap, and clear.  There are no notes
 * of them. */
void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_caches *caches, struct heap_cache *cache);

/* Give the piece back.  By any thread, while the cache's does nothing with it. */
void heap_cache_withdraw(const struct heap_context *context, struct heap *heap,
                         struct heap_cache *cache);

/* As heap_alloc(), and heap_free(). */
int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_caches *caches, struct heap_cache *cache,
                          size_t size_bytes, void **ptr_out);
int heap_cache_free_slow(const struct heap_context *context, struct heap *heap,
                         struct heap_caches *caches, struct heap_cache *cache,
                         void *ptr);

/* The class of objects of @size_bytes, or HEAP_CACHE_NO_CLASS. */
static inline uint64_t heap_cache_class(size_t size_bytes)
{
    uint64_t granules = (size_bytes + HEAP_CACHE_ALIGN - 1) / HEAP_CACHE_ALIGN;

    return granules <= HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN
               ? heap_cache_classes[granules]
               : HEAP_CACHE_NO_CLASS;
}

/* Is there a slot of @class? */
static inline int heap_cache_has(const struct heap_cache *cache, uint64_t class)
{
    return *cache->top[class] != 0;
}

/* Take the slot of @note instead of sorting it.  NULL, and nothing has changed:
 * its extent's number is another's now. */
static inline void *heap_cache_take_noted(const struct heap_caches *caches,
                                          uint64_t note)
{
    const struct heap_part *part = &caches->parts.part[note % HEAP_CACHE_ALIGN];
    uint64_t slot = note & ((UINT64_C(1) << 56) - 1);
    uint64_t granule = (slot - part->begin) >> GRANULE_SHIFT_WIDE;

    if (granule >= part->granules)
        return NULL;
    part->map[granule] = (uint8_t)(((note >> 56) + 1) | MAP_TAKEN);
    slot &= ~(HEAP_CACHE_ALIGN - 1);
    if (!slot)
        __builtin_unreachable(); /* there is a note */
    return (void *)(uintptr_t)slot;
}

/* Take a slot.  NULL, and nothing has changed, if there is none, or if its
 * extent's number is another's now: heap_cache_take_stray() then. */
static inline void *heap_cache_take(const struct heap_caches *caches,
                                    struct heap_cache *cache, uint64_t class)
{
    uint64_t *top = cache->top[class], slot = *top;
    const struct heap_part *part = &caches->parts.part[slot % HEAP_CACHE_ALIGN];
    uint64_t granule = (slot - part->begin) >> GRANULE_SHIFT_WIDE;

    if (granule >= part->granules)
        return NULL;
    cache->top[class] = top - 1;
    part->map[granule] = (uint8_t)((class + 1) | MAP_TAKEN);
    slot &= ~(HEAP_CACHE_ALIGN - 1);
    if (!slot)
        __builtin_unreachable(); /* callers look whether there is one */
    return (void *)(uintptr_t)slot;
}

/* Which part most likely has @ptr? */
static inline const struct heap_part *heap_cache_met(struct heap_caches *caches,
                                                     const void *ptr)
{
    return heap_parts_met(&caches->parts, ptr, caches->parts.block_shift);
}

void *heap_cache_take_stray(const struct heap_caches *caches,
                            struct heap_cache *cache, unsigned class);

/* An object of @class from the piece; NULL: there is no room, the class is none
 * of HEAP_CACHE_PIECE_CLASSES, or the heap has slots of it. */
static inline void *heap_cache_bump(struct heap_cache *cache, uint64_t class)
{
    uint64_t object = cache->bump, bytes;

    if (class >= HEAP_CACHE_PIECE_CLASSES || (cache->listed >> class & 1))
        return NULL;
    bytes = heap_part_bytes[class];
    if (bytes > cache->end - object)
        return NULL;
    cache->bump = object + bytes;
    *cache->map = (uint8_t)((class + 1) | MAP_TAKEN);
    cache->map += bytes / HEAP_CACHE_ALIGN;
    return (void *)(uintptr_t)object;
}

static inline int heap_cache_in(const struct heap_part *part, const void *ptr)
{
    return heap_part_in(part, ptr, GRANULE_SHIFT_WIDE);
}

static inline int heap_cache_mark(const struct heap_part *part, const void *ptr,
                                  uint64_t *class_out)
{
    uint8_t *code;

    return heap_part_mark(part, ptr, GRANULE_SHIFT_WIDE, HEAP_CACHE_CLASSES,
                          &code, class_out);
}

/* Free what @part has at @ptr; *@note_out is what is to be noted.  As
 * heap_cache_mark(). */
static inline int heap_cache_free(const struct heap_part *part, const void *ptr,
                                  uint64_t *note_out)
{
    uint64_t class;

    if (heap_cache_mark(part, ptr, &class))
        return DRASYNC_EAGAIN;
    *note_out = (class << 56) + part->number + (uint64_t)(uintptr_t)ptr;
    /* It will be written when it is handed out again, which may be soon. */
    __builtin_prefetch(ptr, 1);
    return 0;
}

#endif
