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
 * A cache is plain memory of one process, all zero when new.  Callers guarantee
 * what heap.h asks for, and that a cache is for one heap at a time: it is
 * flushed or cleared before it serves another; it is cleared after heap_seal()
 * and before any of the heap's extents goes.
 */
#ifndef MEMORY_HEAP_CACHE_H
#define MEMORY_HEAP_CACHE_H

#include "memory/heap_extent.h"

#include <string.h>

#define HEAP_CACHE_CLASSES   40 /* up to HEAP_CACHE_BYTES_MAX */
#define HEAP_CACHE_BYTES_MAX ((uint64_t)32 << 10)
#define HEAP_CACHE_SLOTS     32

/* How many are moved at a time between a stack and the heap's list. */
#define HEAP_CACHE_BATCH 16

struct heap_cache {
    uint32_t count[HEAP_CACHE_CLASSES];
    struct heap_cache_slot {
        uint64_t address;
        uint8_t *code; /* its place in the map */
    } slot[HEAP_CACHE_CLASSES][HEAP_CACHE_SLOTS];
};

/*
 * Classes and their sizes, looked up: sizes come as they like, and a branch
 * that is guessed wrong costs as much as all the rest.
 */
extern struct heap_cache_tables {
    uint16_t bytes[HEAP_CACHE_CLASSES];
    uint8_t class[HEAP_CACHE_BYTES_MAX / GRANULE_BYTES + 1];
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

/* As heap_alloc(), and heap_free(). */
int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_cache *cache, size_t size_bytes,
                          void **ptr_out);
int heap_cache_free_slow(const struct heap_context *context, struct heap *heap,
                         struct heap_cache *cache, void *ptr);

static inline uint64_t heap_cache_rounded(const struct heap *heap,
                                          size_t size_bytes)
{
    return round_to(size_bytes + !size_bytes, heap->align_bytes);
}

/* Take a slot from its stack.  0, or DRASYNC_EAGAIN and nothing has changed. */
static inline int heap_cache_alloc(struct heap *heap, struct heap_cache *cache,
                                   size_t size_bytes, void **ptr_out)
{
    const struct heap_cache_slot *slot;
    unsigned class;

    if (size_bytes > HEAP_CACHE_BYTES_MAX)
        return DRASYNC_EAGAIN;
    class = heap_cache_tables
                .class[heap_cache_rounded(heap, size_bytes) / GRANULE_BYTES];
    if (!cache->count[class])
        return DRASYNC_EAGAIN;
    slot = &cache->slot[class][--cache->count[class]];
    *slot->code = (uint8_t)((class + 1) | MAP_TAKEN);
    heap->used_bytes += heap_cache_tables.bytes[class];
    *ptr_out = (void *)(uintptr_t)slot->address;
    return 0;
}

/*
 * Put an object on its stack.  0, or DRASYNC_EAGAIN and nothing has changed: it
 * is not one that can be put there, or the stack is full.
 */
static inline int heap_cache_free(const struct heap_context *context,
                                  struct heap *heap, struct heap_cache *cache,
                                  void *ptr)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr, offset, used;
    struct heap_cache_slot *slot;
    struct place place;
    unsigned class;
    uint8_t *code;

    if (address & (heap->align_bytes - 1) ||
        locate(context, address, &place) || !place.map)
        return DRASYNC_EAGAIN;
    offset = address - place.start;
    used = high_water(heap, &place);
    if (used > place.bytes || offset < place.data || offset >= used ||
        offset < place.head->sealed_bytes)
        return DRASYNC_EAGAIN;
    code = map_code(&place, offset);
    class = (unsigned)(*code ^ MAP_TAKEN) - 1;
    if (class >= HEAP_CACHE_CLASSES ||
        heap_cache_tables.bytes[class] > place.bytes - offset ||
        cache->count[class] == HEAP_CACHE_SLOTS)
        return DRASYNC_EAGAIN;
    *code = (uint8_t)(class + 1);
    heap->used_bytes -= heap_cache_tables.bytes[class];
    slot = &cache->slot[class][cache->count[class]++];
    slot->address = address;
    slot->code = code;
    /* It will be written when it is handed out again, which may be soon. */
    __builtin_prefetch(ptr, 1);
    return 0;
}

#endif
