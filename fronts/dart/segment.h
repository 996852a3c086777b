/*
 * segment.h - a team's allocations and registrations, found by their numbers.
 *
 * Numbers are the same on all units of the team because allocating is
 * collective: the lowest one is taken that is free on all.  1 and up are
 * allocations, -1 and down registrations, 0 is the unit's heap.
 *
 * Finding one is thread-safe, also while another is made or dropped; these are
 * done by one thread at a time for each team.
 */
#ifndef DRASYNC_FRONTS_DART_SEGMENT_H
#define DRASYNC_FRONTS_DART_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drasync.h"
#include "fronts/dart/front.h"

struct segment_part;
struct team;
struct segment_places;

struct segment {
    char *mine; /* this unit's part in this process */
    const uint64_t
        *places; /* [team size] runtime/rma/rma.h; shared by the node */
    const uint64_t *sizes; /* [team size] in bytes; NULL: all @bytes */
    size_t bytes;          /* of the largest part */
    size_t mine_bytes;
    uint64_t serial; /* no other segment of this process has had it */
    int16_t id;
    bool announced;          /* mine is private memory, rma_private_begin() */
    _Atomic uint16_t flags;  /* the program's */
    drasync_region_t region; /* that mine lies in; NULL: registered */
    struct segment_places *table; /* where @places are, */
    bool own_table;               /* in this unit's heap */
};

struct segment_list {
    int32_t max;
    struct segment_list *shorter; /* those before; somebody may still read */
    struct segment *_Atomic at[];
};

/* Zero is an empty one. */
struct segment_table {
    /* By number, and by -number. */
    struct segment_list *_Atomic allocated, *_Atomic registered;
    /* All numbers below are taken. */
    int32_t allocated_free, registered_free;
    /* [team size] For what the units tell each other of a new one; made with the
     * first, and kept. */
    struct segment_part *parts;
};

/* NULL: there is none. */
static inline struct segment *segment_find(const struct segment_table *table,
                                           int16_t id)
{
    const struct segment_list *list = atomic_load_explicit(
        id > 0 ? &table->allocated : &table->registered, memory_order_acquire);
    int32_t number = id > 0 ? id : -(int32_t)id;

    return list && number < list->max
               ? atomic_load_explicit(&list->at[number], memory_order_acquire)
               : NULL;
}

/* Bytes of a unit's part; @unit is in range. */
static inline size_t segment_bytes(const struct segment *segment, int unit)
{
    return segment->sizes ? segment->sizes[unit] : segment->bytes;
}

/*
 * Collective: a segment of which this unit has @bytes at @address.  @ret is
 * what went wrong on this unit before, and counts like what goes wrong here:
 * all units return the error of the first that has one, and *segment_out is
 * NULL.  The segment has @region from then on (NULL: it is a registration).
 */
dart_ret_t segment_new(struct team *team, dart_ret_t ret, void *address,
                       size_t bytes, drasync_region_t region,
                       struct segment **segment_out);

/* Out of the table, with all that it has.  This unit's part alone: all other
 * units have stopped using that. */
void segment_drop(struct team *team, struct segment *segment);

/* Drop what the program left, and the table; no messages, as above. */
void segment_drop_all(struct team *team);

/* --- For the program, and parts of the front (globmem.c) ------------------ */

/* Collective: @bytes on each unit, @ret as above. */
dart_ret_t segment_allocate(struct team *team, dart_ret_t ret, size_t bytes,
                            struct segment **segment_out);

/* Collective: wait until nobody uses it any more, and drop it.  On error, which
 * all units get, it stays. */
dart_ret_t segment_free(struct team *team, struct segment *segment);

/* Finish what this unit has put anywhere, and drop its part.  Not
 * collective. */
dart_ret_t segment_unregister(struct team *team, struct segment *segment);

#endif /* DRASYNC_FRONTS_DART_SEGMENT_H */
