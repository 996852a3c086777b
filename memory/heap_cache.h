/*
 * heap_cache.h - free slots of one heap, at hand for one thread.
 *
 * In front of a heap (heap.h) whose user frees and allocates by turns: what is
 * freed is put on a short stack of its size class, and allocating takes it from
 * there, without touching the objects, the heap's lists or other memory that is
 * not warm.  Slots on a stack are free in the heap's map, so misuse is told
 * apart as ever, and in none of its lists: whoever else uses the heap does not
 * see them.
 *
 * Slots on a stack count as used in the heap.  Only for heaps whose objects are
 * aligned to 64 bytes.
 *
 * A cache is plain memory of one process, all zero when new.  Callers guarantee
 * what heap.h asks for, and that a cache is for one heap at a time: it is
 * flushed or cleared before it serves another; it is cleared, and parts are
 * forgotten, after heap_seal() and before any of the heap's extents goes.
 */
#ifndef MEMORY_HEAP_CACHE_H
#define MEMORY_HEAP_CACHE_H

#include "memory/heap_extent.h"

#include <string.h>

#define HEAP_CACHE_CLASSES   40 /* up to HEAP_CACHE_BYTES_MAX */
#define HEAP_CACHE_BYTES_MAX ((uint64_t)32 << 10)
#define HEAP_CACHE_SLOTS     64
#define HEAP_CACHE_ALIGN     ((uint64_t)1 << GRANULE_SHIFT_WIDE)

/* How many are moved at a time between a stack and the heap's list. */
#define HEAP_CACHE_BATCH (HEAP_CACHE_SLOTS / 2)

struct heap_cache {
    uint32_t count[HEAP_CACHE_CLASSES];
    struct heap_cache_slot {
        uint64_t address;
        uint8_t *code; /* its place in the map */
    } slot[HEAP_CACHE_CLASSES][HEAP_CACHE_SLOTS];
};

/* An extent of the heap, looked at: granules whose slots may be put on a stack,
 * and where the map has them. */
struct heap_cache_part {
    uint64_t begin;
    uint64_t granules;
    uint64_t end; /* of the extent */
    uint8_t *map; /* of `begin` */
};

/*
 * Classes and their sizes, looked up: sizes come as they like, and a branch
 * that is guessed wrong costs as much as all the rest.
 */
extern struct heap_cache_tables {
    uint16_t bytes[HEAP_CACHE_CLASSES];
    uint8_t class[HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN + 1];
} heap_cache_tables;

/* Fill the tables; before a cache is used, once. */
void heap_cache_open(void);

/* Forget all slots: what they are in is not handed out again. */
static inline void heap_cache_clear(struct heap_cache *cache)
{
    memset(cache->count, 0, sizeof(cache->count));
}

/* Give all slots back to the heap. */
void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_cache *cache);

/* Look at the extent that has @ptr.  DRASYNC_EAGAIN: none with slots. */
int heap_cache_look(const struct heap_context *context, const struct heap *heap,
                    const void *ptr, struct heap_cache_part *part_out);

/* As heap_alloc(), and heap_free(). */
int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_cache *cache, size_t size_bytes,
                          void **ptr_out);
int heap_cache_free_slow(const struct heap_context *context, struct heap *heap,
                         struct heap_cache *cache, void *ptr);

/* Take a slot from its stack; NULL if there is none. */
static inline void *heap_cache_alloc(struct heap_cache *cache,
                                     size_t size_bytes)
{
    const struct heap_cache_slot *slot;
    unsigned class;
    uint32_t count;

    if (size_bytes - 1 >= HEAP_CACHE_BYTES_MAX)
        return NULL;
    class = heap_cache_tables.class[(size_bytes + HEAP_CACHE_ALIGN - 1) /
                                    HEAP_CACHE_ALIGN];
    count = cache->count[class];
    if (!count)
        return NULL;
    cache->count[class] = count - 1;
    slot = &cache->slot[class][count - 1];
    *slot->code = (uint8_t)((class + 1) | MAP_TAKEN);
    return (void *)(uintptr_t)slot->address;
}

/* Which granule of a part begins at @ptr; what is none is too large. */
static inline uint64_t heap_cache_granule(const struct heap_cache_part *part,
                                          const void *ptr)
{
    uint64_t offset = (uint64_t)(uintptr_t)ptr - part->begin;

    return offset >> GRANULE_SHIFT_WIDE | offset << (64 - GRANULE_SHIFT_WIDE);
}

static inline int heap_cache_in(const struct heap_cache_part *part,
                                const void *ptr)
{
    return heap_cache_granule(part, ptr) < part->granules;
}

/*
 * Put an object in a part (heap_cache_in()) on its stack.  0, or DRASYNC_EAGAIN
 * and nothing has changed: it is not one that can be put there, or the stack is
 * full.
 */
static inline int heap_cache_free(const struct heap_cache_part *part,
                                  struct heap_cache *cache, void *ptr)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    uint64_t granule = heap_cache_granule(part, ptr);
    struct heap_cache_slot *slot;
    unsigned class;
    uint32_t count;
    uint8_t *code;

    code = part->map + granule;
    class = (unsigned)(*code ^ MAP_TAKEN) - 1;
    if (class >= HEAP_CACHE_CLASSES ||
        heap_cache_tables.bytes[class] > part->end - address)
        return DRASYNC_EAGAIN;
    count = cache->count[class];
    if (count == HEAP_CACHE_SLOTS)
        return DRASYNC_EAGAIN;
    *code = (uint8_t)(class + 1);
    cache->count[class] = count + 1;
    slot = &cache->slot[class][count];
    slot->address = address;
    slot->code = code;
    /* It will be written when it is handed out again, which may be soon. */
    __builtin_prefetch(ptr, 1);
    return 0;
}

#endif
