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
    heap_window_set_limit(window);
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
    heap_window_set_limit(window);
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

/* Fill the window's slots of @class from the heap's bin. */
static int take_slots(const struct heap_context *context, struct heap *heap,
                      struct heap_window_free *free, unsigned class)
{
    struct place place;
    unsigned found;

    while (free->count < HEAP_WINDOW_SLOTS && heap->bins[class]) {
        uint64_t address = heap->bins[class];

        if (free_slot(context, heap, address, &place, &found) || found != class)
            return DRASYNC_EINTERNAL;
        heap->bins[class] = *(uint64_t *)view_of(context, address);
        free->slot[free->count++] = address;
    }
    return 0;
}

/* Note of which classes there are free slots. */
static void see_free(const struct heap *heap, struct heap_window *window)
{
    uint32_t bits = 0;

    for (unsigned class = 0; class < HEAP_WINDOW_CLASSES; class ++)
        if (heap->bins[class] || window->free[class].count)
            bits |= 1u << class;
    window->have_free = bits;
    heap_window_set_limit(window);
}

/* Hand out the last of the window's free slots of @class. */
static int pop_slot(const struct heap_context *context, struct heap *heap,
                    struct heap_window *window, unsigned class, void **ptr_out)
{
    struct heap_window_free *free = &window->free[class];
    uint64_t address = free->slot[--free->count];
    struct place place;

    if (locate(context, address, &place) || !place.map)
        return DRASYNC_EINTERNAL;
    hand_out(heap, &place, address, class, ptr_out);
    return 0;
}

int heap_window_refill(const struct heap_context *context, struct heap *heap,
                       struct heap_window *window, size_t size_bytes,
                       void **ptr_out)
{
    uint64_t round = (UINT64_C(1) << window->shift) - 1;
    uint64_t bytes = (size_bytes + round) & ~round;
    struct heap_window_free *free;
    unsigned class;
    int err;

    if (!bytes || bytes > HEAP_WINDOW_OBJECT_BYTES_MAX)
        return DRASYNC_EINVAL;
    class = class_for(bytes);
    bytes = class_bytes(class);
    free = &window->free[class];
    if (!free->count) {
        err = take_slots(context, heap, free, class);
        if (err)
            return err;
        see_free(heap, window);
    }
    if (free->count)
        return pop_slot(context, heap, window, class, ptr_out);
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

int heap_window_close(const struct heap_context *context, struct heap *heap,
                      struct heap_window *window)
{
    int err = give_piece(context, heap, window);
    struct place place;

    if (!window->have_free)
        return err;
    for (unsigned class = 0; class < HEAP_WINDOW_CLASSES; class ++) {
        struct heap_window_free *free = &window->free[class];

        while (free->count > 0) {
            uint64_t address = free->slot[--free->count];

            if (locate(context, address, &place) || !place.map)
                err = DRASYNC_EINTERNAL;
            else
                slot_push(context, heap, &place, address - place.start, class);
        }
    }
    window->have_free = 0;
    heap_window_set_limit(window);
    return err;
}
