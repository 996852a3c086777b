/*
 * copies.h - which objects this worker has a copy of, because it allocated or
 * received them.
 *
 * Only what is listed here is sent, so that a send never overwrites with
 * nonsense what the receiver allocated itself.  Slabs replace each other by
 * serial: on the same pages the newer one is right.  Not thread-safe.
 */
#ifndef BASELINE_COPIES_H
#define BASELINE_COPIES_H

#include <stdint.h>

#include "wire.h"

struct bl_copy {
    struct bl_copy *later, *earlier; /* of all */
    struct bl_slab_name slab;
    uint64_t *map;  /* a bit for each slot this worker has */
    uint32_t *incs; /* of the slots it has; NULL: all 0 */
};

struct bl_copies {
    struct bl_copy **table; /* by a slab's first page */
    struct bl_copy *last;   /* made */
    uint32_t pages;
};

int bl_copies_open(struct bl_copies *copies, uint32_t pages);
void bl_copies_close(struct bl_copies *copies);

/* The record of the slab that has @page, or NULL. */
struct bl_copy *bl_copies_find(const struct bl_copies *copies, uint64_t page);

/*
 * The record of exactly @slab, made if there is none; older slabs on its pages
 * are forgotten.  NULL if one of its pages has a newer slab already.
 */
struct bl_copy *bl_copies_adopt(struct bl_copies *copies,
                                const struct bl_slab_name *slab);

/* From now on this worker has (or has no more) the slot. */
void bl_copy_gain(struct bl_copy *copy, uint32_t slot, uint32_t inc);
void bl_copy_lose(struct bl_copy *copy, uint32_t slot);

static inline int bl_copy_has(const struct bl_copy *copy, uint32_t slot)
{
    return (int)(copy->map[slot / 64] >> (slot % 64) & 1);
}

static inline uint32_t bl_copy_inc(const struct bl_copy *copy, uint32_t slot)
{
    return copy->incs ? copy->incs[slot] : 0;
}

/*
 * Of the slots in @map, whose incarnations are @incs (NULL: all 0), leave those
 * that this worker has.  Returns how many.
 */
uint32_t bl_copy_mask(const struct bl_copy *copy, uint64_t *map,
                      const uint32_t *incs);

#endif /* BASELINE_COPIES_H */
