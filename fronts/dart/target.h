/*
 * target.h - where the memory is that a global pointer names.
 */
#ifndef DRASYNC_FRONTS_DART_TARGET_H
#define DRASYNC_FRONTS_DART_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "fronts/dart/front.h"
#include "fronts/dart/segment.h"
#include "fronts/dart/team.h"

struct target {
    char *address;  /* where this unit reaches it; NULL: it does not */
    uint64_t place; /* runtime/rma/rma.h */
    int rank, node; /* whose it is */
};

/*
 * For @bytes at @gptr: DART_OK, or DART_ERR_NOTINIT, or DART_ERR_INVAL where
 * there is no such team, unit or segment, or not so many bytes.
 */
dart_ret_t target_find(const char *what, dart_gptr_t gptr, size_t bytes,
                       struct target *target);

/* The node that @gptr's unit is on, wherever in its segment it points. */
dart_ret_t target_node(const char *what, dart_gptr_t gptr, int *node_out);

/* Is there such a segment, whatever the unit? */
dart_ret_t target_segment(const char *what, dart_gptr_t gptr);

/* A local allocation, that of any unit: its address, or NULL as below. */
char *target_heap(dart_gptr_t gptr, size_t bytes);

/* The same as target_find() for what can be had without a detour; NULL: ask
 * that.  Every transfer on the node comes through here. */
static inline char *target_here(dart_gptr_t gptr, size_t bytes)
{
    const struct team *team = team_find(gptr.teamid);
    uint64_t offset = gptr.addr_or_offs.offset, place;
    const struct segment *segment;
    int unit = gptr.unitid;
    size_t limit;

    if (!team || (unsigned)unit >= (unsigned)team->size)
        return NULL;
    segment = segment_find(&team->segments, gptr.segid);
    if (!segment)
        return target_heap(gptr, bytes);
    limit = segment_bytes(segment, unit);
    if (offset > limit || bytes > limit - offset)
        return NULL;
    if (unit == team->me)
        return segment->mine + offset;
    if (!team->one_node &&
        front_job->node_of[team->units[unit]] != front_job->node)
        return NULL;
    place = segment->places[unit];
    return place & RMA_PRIVATE ? NULL : front_job->window + place + offset;
}

#endif /* DRASYNC_FRONTS_DART_TARGET_H */
