/* Where a global pointer leads: which unit, node and place. */
#include "fronts/dart/target.h"

#include <inttypes.h>

/* Local allocations have their place as offset, and no bounds but the node's. */
static bool in_node(uint64_t place, size_t bytes)
{
    return place <= front_job->window_bytes &&
           bytes <= front_job->window_bytes - place;
}

char *target_heap(dart_gptr_t gptr, size_t bytes)
{
    uint64_t place = gptr.addr_or_offs.offset;

    if (gptr.segid != DART_SEGMENT_LOCAL || gptr.teamid != DART_TEAM_ALL ||
        front_job->node_of[gptr.unitid] != front_job->node ||
        !in_node(place, bytes))
        return NULL;
    return (gptr.unitid == front_job->rank && place < front_job->data_bytes
                ? front_job->data
                : front_job->window) +
           place;
}

/* The team and the segment; NULL for local allocations. */
static dart_ret_t find_segment(const char *what, dart_gptr_t gptr,
                               struct team **team_out,
                               const struct segment **segment_out)
{
    dart_ret_t ret = team_get(what, gptr.teamid, team_out);

    if (ret)
        return ret;
    *segment_out = segment_find(&(*team_out)->segments, gptr.segid);
    if (!*segment_out &&
        (gptr.segid != DART_SEGMENT_LOCAL || gptr.teamid != DART_TEAM_ALL))
        return front_fail(DART_ERR_INVAL, "%s: team %d has no segment %d", what,
                          (int)gptr.teamid, (int)gptr.segid);
    return DART_OK;
}

/* And the unit. */
static dart_ret_t look_up(const char *what, dart_gptr_t gptr,
                          struct target *target,
                          const struct segment **segment_out)
{
    struct team *team;
    dart_ret_t ret = find_segment(what, gptr, &team, segment_out);

    if (ret)
        return ret;
    if (gptr.unitid < 0 || gptr.unitid >= team->size)
        return front_fail(DART_ERR_INVAL, "%s: team %d has no unit %d", what,
                          (int)gptr.teamid, (int)gptr.unitid);
    target->rank = team_rank(team, gptr.unitid);
    target->node = front_job->node_of[target->rank];
    return DART_OK;
}

dart_ret_t target_find(const char *what, dart_gptr_t gptr, size_t bytes,
                       struct target *target)
{
    uint64_t offset = gptr.addr_or_offs.offset, limit;
    const struct segment *segment;
    dart_ret_t ret = look_up(what, gptr, target, &segment);

    if (ret)
        return ret;
    limit =
        segment ? segment_bytes(segment, gptr.unitid) : front_job->window_bytes;
    if (offset > limit || bytes > limit - offset)
        return front_fail(DART_ERR_INVAL,
                          "%s: %zu bytes at offset %" PRIu64
                          " are not all in segment %d of team %d",
                          what, bytes, offset, (int)gptr.segid,
                          (int)gptr.teamid);
    target->place = offset + (segment ? segment->places[gptr.unitid] : 0);
    target->address = target_here(gptr, bytes);
    return DART_OK;
}

dart_ret_t target_node(const char *what, dart_gptr_t gptr, int *node_out)
{
    const struct segment *segment;
    struct target target = {.node = -1};
    dart_ret_t ret = look_up(what, gptr, &target, &segment);

    *node_out = target.node;
    return ret;
}

dart_ret_t target_segment(const char *what, dart_gptr_t gptr)
{
    const struct segment *segment;
    struct team *team;

    return find_segment(what, gptr, &team, &segment);
}
