/* Magazines of a heap: refilled, closed, counted: see heap_magazine.h. */
#include "memory/heap_magazine.h"

#include "memory/heap_piece.h"

#include <assert.h>
#include <string.h>

_Static_assert(HEAP_MAGAZINE_CLASSES == BIN_EXACT_CLASSES &&
                   MAP_TAKEN == 0x80 && GRANULE_BYTES == 16 &&
                   GRANULE_SHIFT == HEAP_MAGAZINE_SHIFT,
               "the fast path knows how extents look");

void heap_magazine_open(const struct heap *heap, struct heap_magazine *magazine,
                        struct heap_magazine_free *free)
{
    *magazine = (struct heap_magazine){
        .shift = heap->align_bytes == 64 ? GRANULE_SHIFT_WIDE : GRANULE_SHIFT,
        .free = free,
    };
    heap_magazine_set_bumps(magazine);
}

void heap_magazine_set_bumps(struct heap_magazine *magazine)
{
    magazine->bumps = heap_magazine_fast(magazine) ? ~magazine->have_free : 0;
    for (unsigned class = 0; magazine->stacked && class < HEAP_MAGAZINE_CLASSES;
         class ++)
        if (magazine->free[class].count)
            magazine->bumps &= ~(UINT32_C(1) << class);
}

/* The objects that came off the bump pointer since the last time. */
static void count_bumped(struct heap *heap, struct heap_magazine *magazine)
{
    uint32_t left = (uint32_t)(magazine->end - magazine->bump);

    heap->used_bytes += (uint64_t)(magazine->uncounted - left)
                        << magazine->shift;
    magazine->uncounted = left;
}

/* Let the piece that is left, if any, be the heap's again. */
static int give_piece(const struct heap_context *context, struct heap *heap,
                      struct heap_magazine *magazine)
{
    uint64_t bump = magazine->bump << magazine->shift;
    uint64_t end = heap_magazine_end(magazine);

    count_bumped(heap, magazine);
    magazine->bump = magazine->end = magazine->uncounted = 0;
    return heap_piece_back(context, heap, bump, end);
}

/* Cut @piece bytes off the current extent, at @place, for the magazine. */
static void cut_piece(struct heap *heap, struct heap_magazine *magazine,
                      const struct place *place, uint64_t piece)
{
    magazine->bump = heap_piece_cut(heap, place, piece) >> magazine->shift;
    magazine->uncounted = (uint32_t)(piece >> magazine->shift);
    magazine->end = heap->bump >> magazine->shift;
    magazine->map =
        (uintptr_t)place->map - (uintptr_t)(place->start >> magazine->shift);
}

int heap_magazine_all(const struct heap_context *context, struct heap *heap,
                      struct heap_magazine *magazine)
{
    struct place place;
    int err;

    heap_magazine_open(heap, magazine, NULL);
    err = heap_piece_place(context, heap, GRANULE_BYTES, &place);
    if (!err)
        cut_piece(heap, magazine, &place,
                  place.start + place.bytes - heap->bump);
    return err;
}

/* Cut a piece for the magazine that has room for @slot_bytes. */
static int take_piece(const struct heap_context *context, struct heap *heap,
                      struct heap_magazine *magazine, uint64_t slot_bytes)
{
    struct place place;
    int err = give_piece(context, heap, magazine);

    if (!err)
        err = heap_piece_place(context, heap, slot_bytes, &place);
    if (!err)
        cut_piece(heap, magazine, &place,
                  heap_piece_bytes(heap, &place, slot_bytes));
    return err;
}

/* Let the heap count as used what is on none of the magazine's stacks. */
static void count_stacked(struct heap *heap, struct heap_magazine *magazine)
{
    if (!magazine->stacked)
        return;
    for (unsigned class = 0; class < HEAP_MAGAZINE_CLASSES; class ++) {
        struct heap_magazine_free *free = &magazine->free[class];

        heap->used_bytes += class_bytes(class) * free->counted;
        heap->used_bytes -= class_bytes(class) * free->count;
        free->counted = free->count;
    }
}

/* Fill the magazine's empty stack of @class from the heap's bin. */
static int take_slots(const struct heap_context *context, struct heap *heap,
                      struct heap_magazine *magazine, unsigned class)
{
    struct heap_magazine_free *free = &magazine->free[class];
    struct place place;
    unsigned found;

    while (free->count < HEAP_MAGAZINE_BATCH && heap->bins[class]) {
        uint64_t address = heap->bins[class];

        if (free_slot(context, heap, address, &place, &found) || found != class)
            return DRASYNC_EINTERNAL;
        heap->bins[class] = *(uint64_t *)view_of(context, address);
        free->object[free->count] = (void *)(uintptr_t)address;
        free->code[free->count++] = map_code(&place, address - place.start);
        free->counted++;
        magazine->stacked = true;
    }
    return 0;
}

/* The oldest @count slots of a stack go to the heap's bin.  What is on it is
 * counted. */
static int spill(const struct heap_context *context, struct heap *heap,
                 struct heap_magazine_free *free, unsigned class,
                 uint32_t count)
{
    struct place place;
    int err = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = (uint64_t)(uintptr_t)free->object[i];

        if (locate(context, address, &place) || !place.map)
            err = DRASYNC_EINTERNAL;
        else
            slot_push(context, heap, &place, address - place.start, class);
    }
    free->count -= count;
    free->counted -= count;
    memmove(free->object, free->object + count,
            free->count * sizeof(free->object[0]));
    memmove(free->code, free->code + count,
            free->count * sizeof(free->code[0]));
    return err;
}

/* Note of which classes the heap has free slots. */
static void see_free(const struct heap *heap, struct heap_magazine *magazine)
{
    uint32_t bits = 0;

    for (unsigned class = 0; class < HEAP_MAGAZINE_CLASSES; class ++)
        if (heap->bins[class])
            bits |= 1u << class;
    magazine->have_free = bits;
    heap_magazine_set_bumps(magazine);
}

void *heap_magazine_alloc_any(struct heap_magazine *magazine, size_t size_bytes)
{
    uint64_t round = (UINT64_C(1) << magazine->shift) - 1, bytes;
    unsigned class;
    void *object;

    if (size_bytes - 1 >= HEAP_MAGAZINE_OBJECT_BYTES_MAX)
        return NULL;
    class = class_for((size_bytes + round) & ~round);
    object = heap_magazine_pop(magazine, class);
    if (object || (magazine->have_free >> class & 1))
        return object;
    if (heap_magazine_fast(magazine))
        magazine->bumps |= UINT32_C(1) << class;
    bytes = class_bytes(class);
    return heap_magazine_bump(magazine, bytes >> magazine->shift, class,
                              magazine->shift);
}

int heap_magazine_refill(const struct heap_context *context, struct heap *heap,
                         struct heap_magazine *magazine, size_t size_bytes,
                         void **ptr_out)
{
    uint64_t round = (UINT64_C(1) << magazine->shift) - 1;
    uint64_t bytes = (size_bytes + round) & ~round;
    unsigned class;
    int err;

    if (!bytes || bytes > HEAP_MAGAZINE_OBJECT_BYTES_MAX)
        return DRASYNC_EINVAL;
    class = class_for(bytes);
    bytes = class_bytes(class);
    count_stacked(heap, magazine);
    if (!magazine->free[class].count) {
        err = take_slots(context, heap, magazine, class);
        if (err)
            return err;
        see_free(heap, magazine);
    }
    *ptr_out = heap_magazine_pop(magazine, class);
    if (*ptr_out)
        return 0;
    if (bytes >> magazine->shift > magazine->end - magazine->bump) {
        err = take_piece(context, heap, magazine, bytes);
        if (err)
            return err;
        see_free(heap, magazine);
    }
    *(uint8_t *)(magazine->map + magazine->bump) =
        (uint8_t)((class + 1) | MAP_TAKEN);
    *ptr_out = (void *)(uintptr_t)(magazine->bump << magazine->shift);
    magazine->bump += bytes >> magazine->shift;
    count_bumped(heap, magazine);
    return 0;
}

/* Free what the magazine's stacks can have.  False: they cannot. */
static bool stack(const struct heap_context *context, struct heap *heap,
                  struct heap_magazine *magazine, const struct heap_part *part,
                  void *ptr, size_t bytes)
{
    unsigned class;

    if (!part)
        return false;
    /* From now on heap_magazine_give() may, whatever becomes of this object. */
    magazine->stacked = true;
    if (bytes > HEAP_MAGAZINE_OBJECT_BYTES_MAX)
        return false;
    if (heap_magazine_give(magazine, part, magazine->shift, ptr))
        return true;
    class = class_for(bytes);
    if (magazine->free[class].count < HEAP_MAGAZINE_SLOTS)
        return false;
    count_stacked(heap, magazine);
    if (spill(context, heap, &magazine->free[class], class,
              HEAP_MAGAZINE_BATCH))
        return false;
    see_free(heap, magazine);
    return heap_magazine_give(magazine, part, magazine->shift, ptr);
}

int heap_magazine_free(const struct heap_context *context, struct heap *heap,
                       struct heap_magazine *magazine, struct heap_parts *parts,
                       void *owner, uint64_t key, void *ptr)
{
    size_t bytes;
    int err = heap_usable(context, heap, ptr, &bytes);

    if (err)
        return err;
    if (stack(context, heap, magazine,
              heap_parts_learn(context, heap, parts, owner, key,
                               magazine->shift, ptr),
              ptr, bytes))
        return 0;
    if (bytes <= HEAP_MAGAZINE_OBJECT_BYTES_MAX)
        heap_magazine_freed(magazine);
    return heap_free(context, heap, ptr);
}

int64_t heap_magazine_uncounted(const struct heap_magazine *magazine)
{
    uint64_t left = magazine->end - magazine->bump;
    uint64_t bytes = (magazine->uncounted - left) << magazine->shift;

    for (unsigned class = 0; magazine->stacked && class < HEAP_MAGAZINE_CLASSES;
         class ++)
        bytes += class_bytes(class) * ((uint64_t)magazine->free[class].counted -
                                       magazine->free[class].count);
    return (int64_t)bytes;
}

int heap_magazine_close(const struct heap_context *context, struct heap *heap,
                        struct heap_magazine *magazine)
{
    int err = give_piece(context, heap, magazine);

    count_stacked(heap, magazine);
    for (unsigned class = 0; magazine->stacked && class < HEAP_MAGAZINE_CLASSES;
         class ++)
        if (spill(context, heap, &magazine->free[class], class,
                  magazine->free[class].count))
            err = DRASYNC_EINTERNAL;
    magazine->stacked = false;
    magazine->have_free = 0;
    heap_magazine_set_bumps(magazine);
    return err;
}
