#include "memory/heap_cache.h"

struct heap_cache_tables heap_cache_tables;

void heap_cache_open(void)
{
    for (unsigned i = 0; i < HEAP_CACHE_CLASSES; i++)
        heap_cache_tables.bytes[i] = (uint16_t)class_bytes(i);
    for (uint64_t i = 1; i <= HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN; i++)
        heap_cache_tables.class[i] = (uint8_t)class_for(i * HEAP_CACHE_ALIGN);
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
    heap->used_bytes -= count * class_bytes(class);
    cache->count[class] -= count;
    memmove(slots, slots + count, cache->count[class] * sizeof(slots[0]));
}

void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_cache *cache)
{
    for (unsigned class = 0; class < HEAP_CACHE_CLASSES; class ++)
        spill(context, heap, cache, class, cache->count[class]);
}

int heap_cache_look(const struct heap_context *context, const struct heap *heap,
                    const void *ptr, struct heap_cache_part *part_out)
{
    struct place place;
    uint64_t begin, used;

    if (locate(context, (uint64_t)(uintptr_t)ptr, &place) || !place.map ||
        place.granule_shift != GRANULE_SHIFT_WIDE)
        return DRASYNC_EAGAIN;
    begin = place.head->sealed_bytes;
    begin = round_to(begin > place.data ? begin : place.data, HEAP_CACHE_ALIGN);
    used = high_water(heap, &place);
    if (used > place.bytes || begin > used)
        return DRASYNC_EAGAIN;
    part_out->begin = place.start + begin;
    part_out->granules = (used - begin) / HEAP_CACHE_ALIGN;
    part_out->end = place.start + place.bytes;
    part_out->map = map_code(&place, begin);
    return 0;
}

/* Put an object on its stack: as heap_cache_free(). */
static int put(const struct heap_context *context, const struct heap *heap,
               struct heap_cache *cache, void *ptr)
{
    struct heap_cache_part part;

    if (heap_cache_look(context, heap, ptr, &part) ||
        !heap_cache_in(&part, ptr))
        return DRASYNC_EAGAIN;
    return heap_cache_free(&part, cache, ptr);
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
        if (put(context, heap, cache, ptr)) {
            heap_free(context, heap, ptr);
            break;
        }
    }
}

int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_cache *cache, size_t size_bytes,
                          void **ptr_out)
{
    uint64_t bytes = round_to(size_bytes + !size_bytes, HEAP_CACHE_ALIGN);

    if (size_bytes <= HEAP_CACHE_BYTES_MAX &&
        heap->bins[bin_for(class_for(bytes))]) {
        refill(context, heap, cache, bytes);
        *ptr_out = heap_cache_alloc(cache, size_bytes);
        if (*ptr_out)
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
        if (!put(context, heap, cache, ptr))
            return 0;
    }
    return heap_free(context, heap, ptr);
}
