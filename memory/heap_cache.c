#include "memory/heap_cache.h"

struct heap_cache_tables heap_cache_tables;

void heap_cache_open(void)
{
    for (unsigned i = 0; i < HEAP_CACHE_CLASSES; i++)
        heap_cache_tables.bytes[i] = (uint16_t)class_bytes(i);
    for (uint64_t i = 1; i <= HEAP_CACHE_BYTES_MAX / GRANULE_BYTES; i++)
        heap_cache_tables.class[i] = (uint8_t)class_for(i * GRANULE_BYTES);
}

/* The oldest @count of a stack go to the heap's list. */
static void spill(const struct heap_context *context, struct heap *heap,
                  struct heap_cache *cache, unsigned class, uint32_t count)
{
    struct heap_cache_slot *slots = cache->slot[class];
    struct place place;

    for (uint32_t i = 0; i < count; i++)
        if (!locate(context, slots[i].address, &place) && place.map)
            slot_push(context, heap, &place, slots[i].address - place.start,
                      class);
    cache->count[class] -= count;
    memmove(slots, slots + count, cache->count[class] * sizeof(slots[0]));
}

void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_cache *cache)
{
    for (unsigned class = 0; class < HEAP_CACHE_CLASSES; class ++)
        spill(context, heap, cache, class, cache->count[class]);
}

/* Have more of a class on its stack, as long as the heap's list has some. */
static void refill(const struct heap_context *context, struct heap *heap,
                   struct heap_cache *cache, uint64_t bytes)
{
    const uint64_t *list = &heap->bins[bin_for(class_for(bytes))];
    uint64_t bump = heap->bump;
    void *ptr;

    /* Where none in the list fits, a new one is cut, and one is enough. */
    for (int i = 0; i < HEAP_CACHE_BATCH && *list && heap->bump == bump; i++) {
        if (heap_alloc(context, heap, bytes, &ptr))
            break;
        if (heap_cache_free(context, heap, cache, ptr)) {
            heap_free(context, heap, ptr);
            break;
        }
    }
}

int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_cache *cache, size_t size_bytes,
                          void **ptr_out)
{
    uint64_t bytes = heap_cache_rounded(heap, size_bytes);

    if (size_bytes <= HEAP_CACHE_BYTES_MAX &&
        heap->bins[bin_for(class_for(bytes))]) {
        refill(context, heap, cache, bytes);
        if (!heap_cache_alloc(heap, cache, size_bytes, ptr_out))
            return 0;
    }
    return heap_alloc(context, heap, size_bytes, ptr_out);
}

int heap_cache_free_slow(const struct heap_context *context, struct heap *heap,
                         struct heap_cache *cache, void *ptr)
{
    size_t bytes;
    int err = heap_usable(context, heap, ptr, &bytes);
    unsigned class;

    if (err)
        return err;
    if (bytes <= HEAP_CACHE_BYTES_MAX) {
        class = class_for(bytes);
        if (cache->count[class] == HEAP_CACHE_SLOTS)
            spill(context, heap, cache, class, HEAP_CACHE_BATCH);
        if (!heap_cache_free(context, heap, cache, ptr))
            return 0;
    }
    return heap_free(context, heap, ptr);
}
