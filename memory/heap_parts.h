/*
 * heap_parts.h - where a thread's magazines find an object's place in the map
 * of its extent (heap_extent.h), without the page map and without a lock.
 *
 * A part is what one magazine may know of an extent of its heap: from where to
 * where objects may begin, and where the map has them.  A thread's magazines
 * share HEAP_PARTS of them, and a table that tells which part was met last in a
 * block of addresses.  Freeing is then a look at the part, and a byte of the
 * map, which nobody else writes: heap_part_mark().
 *
 * Used by both kinds of magazines: heap_cache.h, and heap_magazine.h, which
 * says why there are two.
 *
 * Plain memory of one thread, all zero when new.  Callers guarantee that before
 * an extent of a magazine's heap goes, or its map is made anew, the magazine's
 * parts are forgotten or it gets another key, and that what the heap hands out,
 * seals or resizes meanwhile it does as one heap's calls do (heap.h).
 */
#ifndef MEMORY_HEAP_PARTS_H
#define MEMORY_HEAP_PARTS_H

#include "memory/heap_extent.h"

#include <stdbool.h>

#define HEAP_PARTS 64

/* It is known which part was met last in a block of addresses, of blocks that
 * count the same modulo so many. */
#define HEAP_PARTS_BLOCKS 4096

/* Classes that magazines have: up to 32 KiB. */
#define HEAP_PART_CLASSES 40

struct heap_part {
    _Alignas(64) uint64_t begin;
    uint64_t granules; /* 0: nothing is known */
    /* Of these, the first ones: small objects that begin there, of whatever
     * class, end in the extent. */
    uint64_t sure;
    uint64_t end;   /* of the extent */
    uint8_t *map;   /* of `begin` */
    void *magazine; /* its heap's */
    uint64_t key;   /* the magazine's when it was learned */
    uint64_t number;
};

_Static_assert(sizeof(struct heap_part) == 64, "a part is a line");

struct heap_parts {
    struct heap_part part[HEAP_PARTS];
    uint8_t met[HEAP_PARTS_BLOCKS];
    const struct extent *extent[HEAP_PARTS]; /* of each part */
    const struct space *space;
    unsigned block_shift;
};

/* class_bytes(), looked up. */
extern const uint16_t heap_part_bytes[HEAP_PART_CLASSES];

/* And what small objects get, of number + 1 granules of 16 bytes: the class, and
 * how many granules that has.  (Counting leading zeros instead takes some
 * processors as long as all the rest.) */
#define HEAP_PART_SIZES 64
struct heap_part_size {
    uint8_t class, slot;
};
extern const struct heap_part_size
    heap_part_sizes[]; /* [HEAP_PART_SIZES]; unsaid, for callers that know the
                          size and not that it is small */

/* Before they are used, once.  Blocks have @block_shift bits: pages where
 * extents may be as small, more where so much is in use that there would be too
 * many blocks. */
void heap_parts_open(struct heap_parts *parts, const struct space *space,
                     unsigned block_shift);

/* Let blocks have @block_shift bits from now on. */
void heap_parts_widen(struct heap_parts *parts, unsigned block_shift);

/* Let heap_parts_met() say which part has the extent of @ptr.  False: none. */
int heap_parts_meet(struct heap_parts *parts, const void *ptr);

/* The part with @ptr for @magazine, whose objects are aligned to @shift bits,
 * looked at if need be.  NULL: no extent with slots has it.  A call on the
 * heap. */
const struct heap_part *heap_parts_learn(const struct heap_context *context,
                                         const struct heap *heap,
                                         struct heap_parts *parts,
                                         void *magazine, uint64_t key,
                                         unsigned shift, const void *ptr);

/* The number of the part that is for @extent. */
static inline unsigned heap_parts_number(const struct extent *extent)
{
    return (unsigned)((uintptr_t)extent / 64 % HEAP_PARTS);
}

/* Nothing is known any more of what @magazine has in the parts with @numbers,
 * a bit for each. */
#define HEAP_PARTS_ALL UINT64_MAX
void heap_parts_forget(struct heap_parts *parts, const void *magazine,
                       uint64_t numbers);

/* Which part most likely has @ptr?  @block_shift: as they were opened. */
static inline struct heap_part *
heap_parts_met(struct heap_parts *parts, const void *ptr, unsigned block_shift)
{
    return &parts->part[parts->met[(uintptr_t)ptr >> block_shift &
                                   (HEAP_PARTS_BLOCKS - 1)]];
}

/* The granule of @part that @ptr is the address of; too large a number if it is
 * none of the extent, or is not aligned to @shift bits. */
static inline uint64_t heap_part_granule(const struct heap_part *part,
                                         const void *ptr, unsigned shift)
{
    uint64_t offset = (uint64_t)(uintptr_t)ptr - part->begin;

    /* Rotated, the low bits of an unaligned one are at the top. */
    return offset >> shift | offset << (64 - shift);
}

/* True if @ptr is an address inside @part that is aligned to @shift bits. */
static inline int heap_part_in(const struct heap_part *part, const void *ptr,
                               unsigned shift)
{
    return heap_part_granule(part, ptr, shift) < part->granules;
}

/* Mark the object at @ptr, which is in @part, free in the map.  0, or
 * DRASYNC_EAGAIN and nothing has changed: there is none, or none of the first
 * @classes. */
static inline int heap_part_mark(const struct heap_part *part, const void *ptr,
                                 unsigned shift, unsigned classes,
                                 uint8_t **code_out, uint64_t *class_out)
{
    uint64_t address = (uint64_t)(uintptr_t)ptr;
    uint8_t *code = part->map + ((address - part->begin) >> shift);
    uint64_t class = (uint64_t)((int8_t)*code + (int64_t)MAP_TAKEN - 1);

    if (class >= classes || address + heap_part_bytes[class] > part->end)
        return DRASYNC_EAGAIN;
    *code = (uint8_t)(class + 1);
    *code_out = code;
    *class_out = class;
    return 0;
}

/* The small object, if there is one, at @ptr, which is that @granule of @part
 * and none of the sure ones: is it in the part, and does it end in the extent? */
static inline bool heap_part_ends(const struct heap_part *part,
                                  uint64_t granule, const void *ptr)
{
    uint32_t class;

    if (granule >= part->granules)
        return false;
    class = (uint32_t)part->map[granule] - MAP_TAKEN - 1;
    return class < BIN_EXACT_CLASSES &&
           (uint64_t)(uintptr_t)ptr + heap_part_bytes[class] <= part->end;
}

#endif
