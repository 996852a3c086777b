/* A cache of free slots for one heap and one thread: see heap_cache.h. */
#include "memory/heap_cache.h"

#include <string.h>

/* The bits of a slot's word that are its address. */
#define ADDRESS_BITS (((UINT64_C(1) << 56) - 1) & ~(HEAP_CACHE_ALIGN - 1))

uint8_t heap_cache_classes[HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN + 1];

_Static_assert(sizeof(((struct heap_cache *)0)->slot[0]) == 512 &&
                   HEAP_PARTS == HEAP_CACHE_ALIGN &&
                   HEAP_CACHE_CLASSES <= HEAP_PART_CLASSES,
               "push() and slots' numbers rely on it");

void heap_caches_open(struct heap_caches *caches, const struct space *space,
                      ptrdiff_t view)
{
    for (uint64_t i = 1; i <= HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN; i++)
        heap_cache_classes[i] = (uint8_t)class_for(i * HEAP_CACHE_ALIGN);
    heap_cache_classes[0] = HEAP_CACHE_NO_CLASS;
    heap_parts_open(&caches->parts, space, HEAP_CACHE_BLOCK_SHIFT);
    caches->view = view;
}

/* --- Stacks --------------------------------------------------------------- */

static uint64_t *bottom(struct heap_cache *cache, unsigned class)
{
    return cache->slot[class];
}

void heap_cache_clear(struct heap_caches *caches, struct heap_cache *cache)
{
    for (unsigned class = 0; class <= HEAP_CACHE_CLASSES; class ++)
        cache->top[class] = bottom(cache, class);
    heap_parts_forget(&caches->parts, cache);
}

/* A free slot that is in no list goes to the heap's. */
static void give_back(const struct heap_context *context, struct heap *heap,
                      uint64_t address, unsigned class)
{
    struct place place;

    if (locate(context, address, &place) || !place.map)
        return;
    slot_push(context, heap, &place, address - place.start, class);
    heap->used_bytes -= class_bytes(class);
}

/* The oldest @count of a stack go to the heap's list. */
static void spill(const struct heap_context *context, struct heap *heap,
                  struct heap_cache *cache, unsigned class, size_t count)
{
    uint64_t *first = bottom(cache, class) + 1;
    size_t left = (size_t)(cache->top[class] - bottom(cache, class)) - count;

    for (size_t i = 0; i < count; i++)
        give_back(context, heap, first[i] & ADDRESS_BITS, class);
    memmove(first, first + count, left * sizeof(first[0]));
    cache->top[class] -= count;
}

static void spill_all(const struct heap_context *context, struct heap *heap,
                      struct heap_cache *cache, unsigned class)
{
    spill(context, heap, cache, class,
          (size_t)(cache->top[class] - bottom(cache, class)));
}

static inline void push(const struct heap_context *context, struct heap *heap,
                        struct heap_cache *cache, unsigned class, uint64_t slot)
{
    uint64_t *top = cache->top[class] + 1;

    if ((uintptr_t)top % sizeof(cache->slot[0]) == 0) {
        spill(context, heap, cache, class, HEAP_CACHE_BATCH);
        top = cache->top[class] + 1;
    }
    *top = slot;
    cache->top[class] = top;
}

void heap_cache_sort(const struct heap_context *context, struct heap *heap,
                     const struct heap_caches *caches, struct heap_cache *cache,
                     unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        push(context, heap, cache, (unsigned)(caches->note[i] >> 56),
             caches->note[i] & ((UINT64_C(1) << 56) - 1));
}

void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_caches *caches, struct heap_cache *cache)
{
    for (unsigned class = 0; class < HEAP_CACHE_CLASSES; class ++)
        spill_all(context, heap, cache, class);
    heap_parts_forget(&caches->parts, cache);
}

/* Free an object and put it on its stack.  DRASYNC_EAGAIN: not possible. */
static int put(const struct heap_context *context, struct heap *heap,
               struct heap_caches *caches, struct heap_cache *cache, void *ptr)
{
    const struct heap_part *part = heap_parts_learn(
        context, heap, &caches->parts, cache, 0, GRANULE_SHIFT_WIDE, ptr);
    uint64_t class;

    if (!part || heap_cache_mark(part, ptr, &class))
        return DRASYNC_EAGAIN;
    push(context, heap, cache, (unsigned)class,
         (uint64_t)(uintptr_t)ptr | part->number);
    return 0;
}

/* Have more of a class on its stack, as long as the heap's list has some. */
static void refill(const struct heap_context *context, struct heap *heap,
                   struct heap_caches *caches, struct heap_cache *cache,
                   uint64_t bytes)
{
    const uint64_t *list = &heap->bins[bin_for(class_for(bytes))];
    uint64_t bump = heap->bump;
    void *ptr;

    /* Where none in the list fits, a new one is cut, and one is enough. */
    for (int i = 0; i < HEAP_CACHE_BATCH && *list && heap->bump == bump; i++) {
        if (heap_alloc(context, heap, bytes, &ptr))
            break;
        if (put(context, heap, caches, cache, ptr)) {
            heap_free(context, heap, ptr);
            break;
        }
    }
}

void *heap_cache_take_stray(const struct heap_caches *caches,
                            struct heap_cache *cache, unsigned class)
{
    uint64_t address = *cache->top[class]-- & ADDRESS_BITS;
    struct extent *extent =
        extent_of(caches->parts.space, (const void *)(uintptr_t)address);
    const struct heap_context context = {
        .space = caches->parts.space,
        .view = caches->view,
        .owner = extent ? atomic_load(&extent->owner) : NULL,
    };
    struct place place;

    if (!locate(&context, address, &place) && place.map)
        *map_code(&place, address - place.start) =
            (uint8_t)((class + 1) | MAP_TAKEN);
    return (void *)(uintptr_t)address;
}

int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_caches *caches, struct heap_cache *cache,
                          size_t size_bytes, void **ptr_out)
{
    uint64_t bytes = round_to(size_bytes + !size_bytes, HEAP_CACHE_ALIGN);
    unsigned class = (unsigned)heap_cache_class(bytes);

    if (class == HEAP_CACHE_NO_CLASS)
        return heap_alloc(context, heap, size_bytes, ptr_out);
    if (!heap_cache_has(cache, class))
        refill(context, heap, caches, cache, bytes);
    if (!heap_cache_has(cache, class))
        return heap_alloc(context, heap, size_bytes, ptr_out);
    *ptr_out = heap_cache_take(caches, cache, class);
    if (!*ptr_out)
        *ptr_out = heap_cache_take_stray(caches, cache, class);
    return 0;
}

int heap_cache_free_slow(const struct heap_context *context, struct heap *heap,
                         struct heap_caches *caches, struct heap_cache *cache,
                         void *ptr)
{
    return put(context, heap, caches, cache, ptr)
               ? heap_free(context, heap, ptr)
               : 0;
}
