/*
 * segment.h - a team's allocations and registrations, found by their numbers.
 *
 * Numbers are the same on all units of the team because allocating is
 * collective: the lowest free one is taken.  1 and up are allocations, -1 and
 * down registrations, 0 is the unit's heap.
 */
#ifndef DRASYNC_FRONTS_DART_SEGMENT_H
#define DRASYNC_FRONTS_DART_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "drasync.h"

struct team;

struct segment {
    int16_t id;
    uint16_t flags;          /* the program's */
    size_t bytes;            /* of this unit's part */
    char *mine;              /* this unit's part in this process */
    drasync_region_t region; /* that it lies in; NULL: registered */
    const uint64_t *places;  /* [team size] runtime/rma.h; shared by the node */
};

struct segment_table {
    struct segment **allocated;  /* [allocated_max], by number */
    struct segment **registered; /* by -number */
    int32_t allocated_max, registered_max;
};

/* NULL: there is none. */
static inline struct segment *segment_find(const struct segment_table *table,
                                           int16_t id)
{
    if (id > 0)
        return id < table->allocated_max ? table->allocated[id] : NULL;
    return -id < table->registered_max && id ? table->registered[-id] : NULL;
}

/* Free what the program left: only this unit's part, no messages. */
void segment_drop_all(struct team *team);

#endif /* DRASYNC_FRONTS_DART_SEGMENT_H */
