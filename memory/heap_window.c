#include "memory/heap_window.h"

#include "memory/heap_extent.h"

#include <assert.h>
#include <string.h>

_Static_assert(HEAP_WINDOW_CLASSES == BIN_EXACT_CLASSES && MAP_TAKEN == 0x80 &&
                   GRANULE_BYTES == 16 && GRANULE_SHIFT == HEAP_WINDOW_SHIFT,
               "the fast path knows how extents look");

void heap_window_open(const struct heap *heap, struct heap_window *window,
                      struct heap_window_free *free)
{
    *window = (struct heap_window){
        .shift = heap->align_bytes == 64 ? GRANULE_SHIFT_WIDE : GRANULE_SHIFT,
        .free = free,
    };
    heap_window_set_limits(window);
}

void heap_window_set_limits(struct heap_window *window)
{
    for (unsigned class = 0; class < HEAP_WINDOW_QUICK; class ++) {
        struct heap_window_free *free =
            window->free ? &window->free[class] : NULL;
        bool may = window->shift == HEAP_WINDOW_SHIFT &&
                   !(window->have_free >> class & 1);

        window->limit[class] = may && !(free && free->count) ? window->end : 0;
        if (free)
            free->limit = may ? window->end : 0;
    }
}

/* The objects that came off the bump pointer since the last time. */
static void count_bumped(struct heap *heap, struct heap_window *window)
{
    uint32_t left = (uint32_t)(window->end - window->bump);

    heap->used_bytes += (uint64_t)(window->uncounted - left) << window->shift;
    window->uncounted = left;
}

/* Let the piece that is left, if any, be the heap's again. */
static int give_piece(const struct heap_context *context, struct heap *heap,
                      struct heap_window *window)
{
    uint64_t bump = window->bump << window->shift;
    uint64_t end = heap_window_end(window);
    struct place place;

    count_bumped(heap, window);
    window->bump = window->end = window->uncounted = 0;
    heap_window_set_limits(window);
    if (bump == end)
        return 0;
    if (locate(context, bump, &place) || !place.map ||
        end - place.start > place.bytes)
        return DRASYNC_EINTERNAL;
    if (heap->current == place.start && heap->bump == end)
        heap->bump = bump;
    else
        cut_rest(context, heap, &place, bump - place.start, end - place.start);
    return 0;
}

/* Is there an extent to cut up with room for @slot_bytes?  Makes one if not. */
static int current_extent(const struct heap_context *context, struct heap *heap,
                          uint64_t slot_bytes, struct place *place)
{
    uint64_t offset;
    int tries, err;

    for (tries = 0; tries < 2; tries++) {
        if (heap->current) {
            if (locate(context, heap->current, place) || !place->map)
                return DRASYNC_EINTERNAL;
            offset = heap->bump - place->start;
            if (heap->current != place->start || offset < place->data ||
                offset > place->bytes || offset % heap->align_bytes)
                return DRASYNC_EINTERNAL;
            if (slot_bytes <= place->bytes - offset)
                return 0;
        }
        err = heap_grow(context, heap, slot_bytes, 0);
        if (err)
            return err;
    }
    return DRASYNC_EINTERNAL;
}

/* Cut @piece bytes off the current extent, at @place, for the window. */
static void cut_piece(struct heap *heap, struct heap_window *window,
                      const struct place *place, uint64_t piece)
{
    uint64_t offset = heap->bump - place->start;

    memset(map_code(place, offset), 0, piece >> place->granule_shift);
    window->bump = heap->bump >> window->shift;
    window->uncounted = (uint32_t)(piece >> window->shift);
    heap->bump += piece;
    window->end = heap->bump >> window->shift;
    window->map =
        (uintptr_t)place->map - (uintptr_t)(place->start >> window->shift);
    heap_window_set_limits(window);
}

int heap_window_all(const struct heap_context *context, struct heap *heap,
                    struct heap_window *window)
{
    struct place place;
    int err;

    heap_window_open(heap, window, NULL);
    err = current_extent(context, heap, GRANULE_BYTES, &place);
    if (!err)
        cut_piece(heap, window, &place, place.start + place.bytes - heap->bump);
    return err;
}

/* Cut a piece for the window that has room for @slot_bytes. */
static int take_piece(const struct heap_context *context, struct heap *heap,
                      struct heap_window *window, uint64_t slot_bytes)
{
    uint64_t piece = space_page_offset(heap->pages) / 8, offset;
    struct place place;
    int err = give_piece(context, heap, window);

    if (!err)
        err = current_extent(context, heap, slot_bytes, &place);
    if (err)
        return err;
    piece &= ~(PAGE_BYTES - 1);
    if (piece < HEAP_WINDOW_BYTES_MIN)
        piece = HEAP_WINDOW_BYTES_MIN;
    if (piece > HEAP_WINDOW_BYTES_MAX)
        piece = HEAP_WINDOW_BYTES_MAX;
    offset = heap->bump - place.start;
    /* To the next multiple: pieces then end where pages do. */
    piece = ((offset + piece) & ~(PAGE_BYTES - 1)) - offset;
    if (piece < slot_bytes)
        piece += PAGE_BYTES;
    if (piece > place.bytes - offset)
        piece = place.bytes - offset;
    cut_piece(heap, window, &place, piece);
    return 0;
}

/* Let the heap count as used what is on none of the window's stacks. */
static void count_stacked(struct heap *heap, struct heap_window *window)
{
    if (!window->stacked)
        return;
    for (unsigned class = 0; class < HEAP_WINDOW_CLASSES; class ++) {
        struct heap_window_free *free = &window->free[class];

        heap->used_bytes += class_bytes(class) * free->counted;
        heap->used_bytes -= class_bytes(class) * free->count;
        free->counted = free->count;
    }
}

/* Fill the window's empty stack of @class from the heap's bin. */
static int take_slots(const struct heap_context *context, struct heap *heap,
                      struct heap_window *window, unsigned class)
{
    struct heap_window_free *free = &window->free[class];
    struct place place;
    unsigned found;

    while (free->count < HEAP_WINDOW_BATCH && heap->bins[class]) {
        uint64_t address = heap->bins[class];

        if (free_slot(context, heap, address, &place, &found) || found != class)
            return DRASYNC_EINTERNAL;
        heap->bins[class] = *(uint64_t *)view_of(context, address);
        free->slot[free->count++] = (struct heap_window_slot){
            .object = (void *)(uintptr_t)address,
            .code = map_code(&place, address - place.start),
        };
        free->counted++;
        window->stacked = true;
    }
    return 0;
}

/* The oldest @count slots of a stack go to the heap's bin.  What is on it is
 * counted. */
static int spill(const struct heap_context *context, struct heap *heap,
                 struct heap_window_free *free, unsigned class, uint32_t count)
{
    struct place place;
    int err = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = (uint64_t)(uintptr_t)free->slot[i].object;

        if (locate(context, address, &place) || !place.map)
            err = DRASYNC_EINTERNAL;
        else
            slot_push(context, heap, &place, address - place.start, class);
    }
    free->count -= count;
    free->counted -= count;
    memmove(free->slot, free->slot + count,
            free->count * sizeof(free->slot[0]));
    return err;
}

/* Note of which classes the heap has free slots. */
static void see_free(const struct heap *heap, struct heap_window *window)
{
    uint32_t bits = 0;

    for (unsigned class = 0; class < HEAP_WINDOW_CLASSES; class ++)
        if (heap->bins[class])
            bits |= 1u << class;
    window->have_free = bits;
    heap_window_set_limits(window);
}

void *heap_window_alloc_any(struct heap_window *window, size_t size_bytes)
{
    uint64_t round = (UINT64_C(1) << window->shift) - 1, bytes;
    unsigned class;
    void *object;

    if (size_bytes - 1 >= HEAP_WINDOW_OBJECT_BYTES_MAX)
        return NULL;
    class = class_for((size_bytes + round) & ~round);
    object = heap_window_pop(window, class);
    if (object || (window->have_free >> class & 1))
        return object;
    bytes = class_bytes(class);
    return heap_window_bump(window, (bytes >> window->shift) - 1, window->end,
                            class, window->shift);
}

int heap_window_refill(const struct heap_context *context, struct heap *heap,
                       struct heap_window *window, size_t size_bytes,
                       void **ptr_out)
{
    uint64_t round = (UINT64_C(1) << window->shift) - 1;
    uint64_t bytes = (size_bytes + round) & ~round;
    unsigned class;
    int err;

    if (!bytes || bytes > HEAP_WINDOW_OBJECT_BYTES_MAX)
        return DRASYNC_EINVAL;
    class = class_for(bytes);
    bytes = class_bytes(class);
    count_stacked(heap, window);
    if (!window->free[class].count) {
        err = take_slots(context, heap, window, class);
        if (err)
            return err;
        see_free(heap, window);
    }
    *ptr_out = heap_window_pop(window, class);
    if (*ptr_out)
        return 0;
    if (bytes >> window->shift > window->end - window->bump) {
        err = take_piece(context, heap, window, bytes);
        if (err)
            return err;
        see_free(heap, window);
    }
    *(uint8_t *)(window->map + window->bump) =
        (uint8_t)((class + 1) | MAP_TAKEN);
    *ptr_out = (void *)(uintptr_t)(window->bump << window->shift);
    window->bump += bytes >> window->shift;
    count_bumped(heap, window);
    return 0;
}

/* Free what the window's stacks can have.  False: they cannot. */
static bool stack(const struct heap_context *context, struct heap *heap,
                  struct heap_window *window, const struct heap_part *part,
                  void *ptr, size_t bytes)
{
    unsigned class;

    if (!part || bytes > HEAP_WINDOW_OBJECT_BYTES_MAX)
        return false;
    window->stacked = true;
    if (heap_window_give(window, part, ptr))
        return true;
    class = class_for(bytes);
    if (window->free[class].count < HEAP_WINDOW_SLOTS)
        return false;
    count_stacked(heap, window);
    if (spill(context, heap, &window->free[class], class, HEAP_WINDOW_BATCH))
        return false;
    see_free(heap, window);
    return heap_window_give(window, part, ptr);
}

int heap_window_free(const struct heap_context *context, struct heap *heap,
                     struct heap_window *window, struct heap_parts *parts,
                     void *magazine, uint64_t key, void *ptr)
{
    size_t bytes;
    int err = heap_usable(context, heap, ptr, &bytes);

    if (err)
        return err;
    if (stack(context, heap, window,
              heap_parts_learn(context, heap, parts, magazine, key,
                               window->shift, ptr),
              ptr, bytes))
        return 0;
    if (bytes <= HEAP_WINDOW_OBJECT_BYTES_MAX)
        heap_window_freed(window);
    return heap_free(context, heap, ptr);
}

int64_t heap_window_uncounted(const struct heap_window *window)
{
    uint64_t left = window->end - window->bump;
    uint64_t bytes = (window->uncounted - left) << window->shift;

    for (unsigned class = 0; window->stacked && class < HEAP_WINDOW_CLASSES;
         class ++)
        bytes += class_bytes(class) * ((uint64_t)window->free[class].counted -
                                       window->free[class].count);
    return (int64_t)bytes;
}

int heap_window_close(const struct heap_context *context, struct heap *heap,
                      struct heap_window *window)
{
    int err = give_piece(context, heap, window);

    count_stacked(heap, window);
    for (unsigned class = 0; window->stacked && class < HEAP_WINDOW_CLASSES;
         class ++)
        if (spill(context, heap, &window->free[class], class,
                  window->free[class].count))
            err = DRASYNC_EINTERNAL;
    window->stacked = false;
    window->have_free = 0;
    heap_window_set_limits(window);
    return err;
}
