#include "memory/heap_cache.h"

#include <string.h>

/* The bits of a slot's word that are its address. */
#define ADDRESS_BITS (((UINT64_C(1) << 56) - 1) & ~(HEAP_CACHE_ALIGN - 1))

struct heap_cache_tables heap_cache_tables;

_Static_assert(sizeof(((struct heap_cache *)0)->slot[0]) == 512 &&
                   HEAP_CACHE_PARTS == HEAP_CACHE_ALIGN,
               "push() and slots' numbers rely on it");

void heap_caches_open(struct heap_caches *caches, const struct space *space,
                      ptrdiff_t view)
{
    for (unsigned i = 0; i < HEAP_CACHE_CLASSES; i++)
        heap_cache_tables.bytes[i] = (uint16_t)class_bytes(i);
    for (uint64_t i = 1; i <= HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN; i++)
        heap_cache_tables.class[i] = (uint8_t)class_for(i * HEAP_CACHE_ALIGN);
    heap_cache_tables.class[0] = HEAP_CACHE_NO_CLASS;
    caches->space = space;
    caches->view = view;
    for (unsigned i = 0; i < HEAP_CACHE_PARTS; i++)
        caches->part[i].number = i;
}

/* --- Extents -------------------------------------------------------------- */

static struct heap_cache_part *part_of(struct heap_caches *caches,
                                       const struct extent *extent)
{
    return &caches->part[(uintptr_t)extent / 64 % HEAP_CACHE_PARTS];
}

static void set_met(struct heap_caches *caches, const void *ptr,
                    const struct heap_cache_part *part)
{
    caches->met[(uintptr_t)ptr >> HEAP_CACHE_BLOCK_SHIFT &
                (HEAP_CACHE_BLOCKS - 1)] = (uint8_t)part->number;
}

int heap_cache_meet(struct heap_caches *caches, const void *ptr)
{
    const struct extent *extent = extent_of(caches->space, ptr);
    struct heap_cache_part *part = part_of(caches, extent);

    if (!extent || part->extent != extent || !heap_cache_in(part, ptr))
        return 0;
    set_met(caches, ptr, part);
    return 1;
}

/* Look at the extent that has @ptr.  DRASYNC_EAGAIN: none with slots. */
static int look(const struct heap_context *context, const struct heap *heap,
                const void *ptr, struct heap_cache_part *part)
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
    part->begin = place.start + begin;
    part->granules = (used - begin) / HEAP_CACHE_ALIGN;
    part->end = place.start + place.bytes;
    part->map = map_code(&place, begin);
    return 0;
}

/* The part with @ptr, looked at if need be; NULL: none. */
static const struct heap_cache_part *
learn(const struct heap_context *context, const struct heap *heap,
      struct heap_caches *caches, struct heap_cache *cache, const void *ptr)
{
    const struct extent *extent = extent_of(context->space, ptr);
    struct heap_cache_part *part = part_of(caches, extent);

    if (!extent)
        return NULL;
    if (part->extent != extent || part->cache != cache ||
        !heap_cache_in(part, ptr)) {
        part->granules = 0;
        if (look(context, heap, ptr, part))
            return NULL;
        part->extent = extent;
        part->cache = cache;
        if (!heap_cache_in(part, ptr))
            return NULL;
    }
    set_met(caches, ptr, part);
    return part;
}

/* --- Stacks --------------------------------------------------------------- */

static uint64_t *bottom(struct heap_cache *cache, unsigned class)
{
    return cache->slot[class];
}

static void forget(struct heap_caches *caches, const struct heap_cache *cache)
{
    for (unsigned i = 0; i < HEAP_CACHE_PARTS; i++)
        if (caches->part[i].cache == cache)
            caches->part[i].granules = 0;
}

void heap_cache_clear(struct heap_caches *caches, struct heap_cache *cache)
{
    for (unsigned class = 0; class <= HEAP_CACHE_CLASSES; class ++)
        cache->top[class] = bottom(cache, class);
    forget(caches, cache);
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
    forget(caches, cache);
}

/* Free an object and put it on its stack.  DRASYNC_EAGAIN: not possible. */
static int put(const struct heap_context *context, struct heap *heap,
               struct heap_caches *caches, struct heap_cache *cache, void *ptr)
{
    const struct heap_cache_part *part =
        learn(context, heap, caches, cache, ptr);
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
        extent_of(caches->space, (const void *)(uintptr_t)address);
    const struct heap_context context = {
        .space = caches->space,
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
