/*
 * heap_extent.h - what an extent of a heap looks like.  Private to memory/.
 *
 * An extent begins with a head, then header_bytes of the heap's user, then the
 * map: a byte for each granule of the whole extent, then slots.  A granule is
 * as much as objects are aligned to (EXTENT_WIDE: 64 bytes, else 16), as what
 * the map takes of the processor's caches is what freeing costs.  In the map a
 * slot's first granule has its class + 1, plus MAP_TAKEN if it is given out;
 * its other granules have 0.  Beyond the high-water mark the map means nothing.
 * An extent with one large object (EXTENT_SINGLE) has no map.
 */
#ifndef MEMORY_HEAP_EXTENT_H
#define MEMORY_HEAP_EXTENT_H

#include "drasync.h"
#include "memory/extents.h"
#include "memory/heap.h"

#include <stdint.h>

#define GRANULE_BYTES      16
#define GRANULE_SHIFT      4
#define GRANULE_SHIFT_WIDE 6
#define MAP_TAKEN          0x80u

#define HEAP_MAGIC         0x68656170u
#define HEAP_MAGIC_CHECKED 0x68656163u /* heap_checked.h */
#define EXTENT_MAGIC       0x65787431u
#define EXTENT_SINGLE      1u
#define EXTENT_WIDE        2u
#define EXTENT_GOES        4u /* while heap_trim() runs */

/* 16 to 128 by 16, then four classes for each doubling up to 1 GiB. */
#define CLASSES         100
#define CLASS_BYTES_MAX ((uint64_t)1 << 30)

/* Smaller objects never get an extent of their own; from the other on they do
 * also where there is room for a slot.  In between, an extent of its own has no
 * map and no rest of a slot, which would travel; but where there is room for a
 * slot the heap need not grow. */
#define SINGLE_BYTES_MIN    ((uint64_t)32 << 10)
#define SINGLE_BYTES_ALWAYS ((uint64_t)256 << 10)

struct heap_head {
    uint32_t magic;
    uint16_t flags;
    uint16_t header_bytes; /* multiple of 16 */
    uint64_t next;         /* extent's address; 0: last */
    uint64_t high_water;   /* unless it is the current one: heap->bump */
    uint64_t sealed_bytes;
    uint64_t single_bytes; /* of the object there is; 0: none */
    uint64_t next_free;    /* among free single extents */
    uint64_t unused[2];
};

_Static_assert(sizeof(struct heap_head) == HEAP_HEADER_OFFSET,
               "the caller's bytes follow the head");

/* An extent that the page map says belongs to the heap's region. */
struct place {
    uint64_t start; /* address */
    uint64_t bytes;
    uint64_t data; /* where slots begin, from the start */
    struct heap_head *head;
    uint8_t *map; /* NULL: one object */
    unsigned granule_shift;
};

static inline uint64_t round_to(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

static inline void *view_of(const struct heap_context *context,
                            uint64_t address)
{
    return (char *)(uintptr_t)address + context->view;
}

/*
 * The extent that @address lies in, by the page map; whatever heads and maps
 * say, what is in *place stays inside that extent.  DRASYNC_ENOOBJECT: not the
 * region's; DRASYNC_EINTERNAL: the head is broken.
 */
static inline int locate(const struct heap_context *context, uint64_t address,
                         struct place *place)
{
    struct extent *extent =
        extent_of(context->space, (const void *)(uintptr_t)address);
    uint64_t first, pages, header;

    if (!extent || atomic_load_explicit(&extent->owner, memory_order_relaxed) !=
                       context->owner)
        return DRASYNC_ENOOBJECT;
    first = atomic_load_explicit(&extent->first_page, memory_order_relaxed);
    pages = atomic_load_explicit(&extent->pages, memory_order_relaxed);
    place->start =
        (uint64_t)(uintptr_t)context->space->base + space_page_offset(first);
    place->bytes = space_page_offset(pages);
    place->head = view_of(context, place->start);
    header = place->head->header_bytes;
    if (__builtin_expect(place->head->magic != EXTENT_MAGIC ||
                             header % GRANULE_BYTES ||
                             header > HEAP_HEADER_BYTES_MAX,
                         0))
        return DRASYNC_EINTERNAL;
    if (place->head->flags & EXTENT_SINGLE) {
        place->map = NULL;
        place->data = sizeof(struct heap_head);
        return 0;
    }
    place->data = sizeof(struct heap_head) + header;
    place->map = (uint8_t *)place->head + place->data;
    place->granule_shift =
        place->head->flags & EXTENT_WIDE ? GRANULE_SHIFT_WIDE : GRANULE_SHIFT;
    place->data =
        round_to(place->data + (place->bytes >> place->granule_shift), 64);
    return 0;
}

/* What the map says of the slot that begins at @offset. */
static inline uint8_t *map_code(const struct place *place, uint64_t offset)
{
    return place->map + (offset >> place->granule_shift);
}

/* How far an extent is in use; more than it has if the metadata is broken. */
static inline uint64_t high_water(const struct heap *heap,
                                  const struct place *place)
{
    return heap->current == place->start ? heap->bump - place->start
                                         : place->head->high_water;
}

static inline unsigned class_for(uint64_t bytes)
{
    uint64_t last = bytes - 1;
    unsigned power;

    if (bytes <= 128)
        return (unsigned)(last / GRANULE_BYTES);
    power = 63 - (unsigned)__builtin_clzll(last);
    return 8 + (power - 7) * 4 + (unsigned)(last >> (power - 2) & 3);
}

static inline uint64_t class_bytes(unsigned class)
{
    unsigned power, quarter;

    if (class < 8)
        return GRANULE_BYTES * ((uint64_t) class + 1);
    power = 7 + (class - 8) / 4;
    quarter = (class - 8) % 4 + 1;
    return ((uint64_t)1 << power) + ((uint64_t)quarter << (power - 2));
}

/* Up to 1 KiB a bin holds one class, above that the four of a doubling. */
#define BIN_EXACT_CLASSES 20

static inline unsigned bin_for(unsigned class)
{
    return class < BIN_EXACT_CLASSES
               ? class
               : BIN_EXACT_CLASSES + (class - BIN_EXACT_CLASSES) / 4;
}

/* Ask for an extent for slots of @slot_bytes, better for @hint_bytes of them,
 * and make it the current one. */
int heap_grow(const struct heap_context *context, struct heap *heap,
              uint64_t slot_bytes, uint64_t hint_bytes);

/* Large objects, with extents of their own: one that is free (DRASYNC_EAGAIN if
 * none fits), or a new one. */
int single_take_free(const struct heap_context *context, struct heap *heap,
                     uint64_t bytes, void **ptr_out);
int single_take_new(const struct heap_context *context, struct heap *heap,
                    uint64_t bytes, void **ptr_out);
int single_free(struct heap *heap, const struct place *place, uint64_t address);
int single_resize(struct heap *heap, const struct place *place, uint64_t bytes);

/* Cut [offset, end) of an extent into free slots, largest first.  Returns how
 * far that went: few slots are left out. */
uint64_t cut_rest(const struct heap_context *context, struct heap *heap,
                  const struct place *place, uint64_t offset, uint64_t end);

/*
 * Find the free slot that a list leads to.  The list is in memory that users
 * write: everything is checked against the extent and its map.
 */
int free_slot(const struct heap_context *context, const struct heap *heap,
              uint64_t address, struct place *place, unsigned *class_out);

/* A slot that is in no list any more becomes an object. */
void hand_out(struct heap *heap, const struct place *place, uint64_t address,
              unsigned class, void **ptr_out);

/* Mark a slot free and put it into its bin. */
void slot_push(const struct heap_context *context, struct heap *heap,
               const struct place *place, uint64_t offset, unsigned class);

#endif
