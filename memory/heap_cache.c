/* A cache of free slots for one heap and one thread: see heap_cache.h. */
#include "memory/heap_cache.h"

#include "memory/heap_piece.h"

#include <stdbool.h>
#include <string.h>

/* The bits of a slot's word that are its address. */
#define ADDRESS_BITS (((UINT64_C(1) << 56) - 1) & ~(HEAP_CACHE_ALIGN - 1))

uint8_t heap_cache_classes[HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN + 1];

_Static_assert(sizeof(((struct heap_cache *)0)->slot[0]) == 512 &&
                   HEAP_PARTS == HEAP_CACHE_ALIGN &&
                   HEAP_CACHE_CLASSES <= HEAP_PART_CLASSES &&
                   HEAP_CACHE_PIECE_CLASSES == BIN_EXACT_CLASSES &&
                   HEAP_CACHE_PIECE_CLASSES <= 32,
               "push() and slots' numbers rely on it");

void heap_caches_start(void)
{
    for (uint64_t i = 1; i <= HEAP_CACHE_BYTES_MAX / HEAP_CACHE_ALIGN; i++)
        heap_cache_classes[i] = (uint8_t)class_for(i * HEAP_CACHE_ALIGN);
    heap_cache_classes[0] = HEAP_CACHE_NO_CLASS;
}

void heap_caches_open(struct heap_caches *caches, const struct space *space,
                      ptrdiff_t view)
{
    heap_parts_open(&caches->parts, space, PAGE_SHIFT);
    caches->view = view;
    caches->note[0] = UINT64_MAX;
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
    cache->bump = cache->end = cache->counted = 0;
    cache->listed = 0;
    heap_parts_forget(&caches->parts, cache, HEAP_PARTS_ALL);
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
    if (class < HEAP_CACHE_PIECE_CLASSES)
        cache->listed |= 1u << class;
}

static void spill_all(const struct heap_context *context, struct heap *heap,
                      struct heap_cache *cache, unsigned class)
{
    spill(context, heap, cache, class,
          (size_t)(cache->top[class] - bottom(cache, class)));
}

/* False: the stack is full. */
static inline bool push(struct heap_cache *cache, unsigned class, uint64_t slot)
{
    uint64_t *top = cache->top[class] + 1;

    if ((uintptr_t)top % sizeof(cache->slot[0]) == 0)
        return false;
    *top = slot;
    cache->top[class] = top;
    return true;
}

static void push_or_spill(const struct heap_context *context, struct heap *heap,
                          struct heap_cache *cache, unsigned class,
                          uint64_t slot)
{
    if (push(cache, class, slot))
        return;
    spill(context, heap, cache, class, HEAP_CACHE_BATCH);
    push(cache, class, slot);
}

static inline unsigned note_class(uint64_t note)
{
    return (unsigned)(note >> 56);
}

static inline uint64_t note_slot(uint64_t note)
{
    return note & ((UINT64_C(1) << 56) - 1);
}

unsigned heap_cache_sort(const struct heap_caches *caches,
                         struct heap_cache *cache, unsigned first,
                         unsigned count)
{
    while (first < count && push(cache, note_class(caches->note[1 + first]),
                                 note_slot(caches->note[1 + first])))
        first++;
    return first;
}

void heap_cache_sort_all(const struct heap_context *context, struct heap *heap,
                         const struct heap_caches *caches,
                         struct heap_cache *cache, unsigned first,
                         unsigned count)
{
    for (unsigned i = first; i < count; i++)
        push_or_spill(context, heap, cache, note_class(caches->note[1 + i]),
                      note_slot(caches->note[1 + i]));
}

void heap_cache_withdraw(const struct heap_context *context, struct heap *heap,
                         struct heap_cache *cache)
{
    heap->used_bytes += cache->bump - cache->counted;
    /* What is broken then is told by whoever looks at the heap next. */
    heap_piece_back(context, heap, cache->bump, cache->end);
    cache->bump = cache->end = cache->counted = 0;
}

void heap_cache_flush(const struct heap_context *context, struct heap *heap,
                      struct heap_caches *caches, struct heap_cache *cache)
{
    heap_cache_withdraw(context, heap, cache);
    for (unsigned class = 0; class < HEAP_CACHE_CLASSES; class ++)
        spill_all(context, heap, cache, class);
    heap_parts_forget(&caches->parts, cache, HEAP_PARTS_ALL);
}

static const struct heap_part *learn(const struct heap_context *context,
                                     struct heap *heap,
                                     struct heap_caches *caches,
                                     struct heap_cache *cache, const void *ptr)
{
    struct heap_parts *parts = &caches->parts;
    const struct heap_part *part = heap_parts_learn(context, heap, parts, cache,
                                                    0, GRANULE_SHIFT_WIDE, ptr);

    if (part && part->end - part->begin >= HEAP_CACHE_WIDE_BYTES &&
        parts->block_shift != HEAP_CACHE_BLOCK_SHIFT) {
        heap_parts_widen(parts, HEAP_CACHE_BLOCK_SHIFT);
        heap_parts_meet(parts, ptr);
    }
    return part;
}

/* Free an object and put it on its stack.  DRASYNC_EAGAIN: not possible. */
static int put(const struct heap_context *context, struct heap *heap,
               struct heap_caches *caches, struct heap_cache *cache, void *ptr)
{
    const struct heap_part *part = learn(context, heap, caches, cache, ptr);
    uint64_t class;

    if (!part || heap_cache_mark(part, ptr, &class))
        return DRASYNC_EAGAIN;
    push_or_spill(context, heap, cache, (unsigned)class,
                  (uint64_t)(uintptr_t)ptr | part->number);
    return 0;
}

/* Have more of a class on its stack, as long as the heap's list has some. */
static void refill(const struct heap_context *context, struct heap *heap,
                   struct heap_caches *caches, struct heap_cache *cache,
                   uint64_t bytes)
{
    unsigned class = class_for(bytes);
    const uint64_t *list = &heap->bins[bin_for(class)];
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
    if (class < HEAP_CACHE_PIECE_CLASSES && !*list)
        cache->listed &= ~(1u << class);
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

/* Note of which classes the heap's lists have slots. */
static void see_lists(const struct heap *heap, struct heap_cache *cache)
{
    cache->listed = 0;
    for (unsigned class = 0; class < HEAP_CACHE_PIECE_CLASSES; class ++)
        if (heap->bins[class])
            cache->listed |= 1u << class;
}

/* An object from the cache's piece, which is another one if need be.
 * DRASYNC_EAGAIN: objects of @class are none of it; or as heap_alloc(). */
static int bump(const struct heap_context *context, struct heap *heap,
                struct heap_cache *cache, unsigned class, void **ptr_out)
{
    uint64_t bytes = class_bytes(class);
    struct place place;
    int err;

    if (class >= HEAP_CACHE_PIECE_CLASSES)
        return DRASYNC_EAGAIN;
    if (heap->bins[class])
        return DRASYNC_EAGAIN;
    see_lists(heap, cache);
    *ptr_out = heap_cache_bump(cache, class);
    if (*ptr_out)
        return 0;
    heap_cache_withdraw(context, heap, cache);
    err = heap_piece_place(context, heap, bytes, &place);
    if (err)
        return err;
    cache->counted = cache->bump =
        heap_piece_cut(heap, &place, heap_piece_bytes(heap, &place, bytes));
    cache->end = heap->bump;
    cache->map = map_code(&place, cache->bump - place.start);
    /* What was left of the piece before may be in any list. */
    see_lists(heap, cache);
    cache->listed &= ~(1u << class);
    *ptr_out = heap_cache_bump(cache, class);
    return *ptr_out ? 0 : DRASYNC_EINTERNAL;
}

int heap_cache_alloc_slow(const struct heap_context *context, struct heap *heap,
                          struct heap_caches *caches, struct heap_cache *cache,
                          size_t size_bytes, void **ptr_out)
{
    uint64_t bytes = round_to(size_bytes + !size_bytes, HEAP_CACHE_ALIGN);
    unsigned class = (unsigned)heap_cache_class(bytes);
    int err;

    if (class == HEAP_CACHE_NO_CLASS)
        return heap_alloc(context, heap, size_bytes, ptr_out);
    if (!heap_cache_has(cache, class))
        refill(context, heap, caches, cache, bytes);
    if (!heap_cache_has(cache, class)) {
        err = bump(context, heap, cache, class, ptr_out);
        return err == DRASYNC_EAGAIN
                   ? heap_alloc(context, heap, size_bytes, ptr_out)
                   : err;
    }
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
