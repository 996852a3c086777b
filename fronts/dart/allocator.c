/* Allocators: a team allocation that each unit cuts up for itself. */
#include <pthread.h>
#include <stdlib.h>

#include "fronts/dart/pool.h"
#include "fronts/dart/segment.h"
#include "fronts/dart/team.h"
#include "fronts/dart/types.h"

struct dart_allocator_struct {
    pthread_mutex_t lock; /* of the pool */
    struct pool *pool;
    dart_gptr_t base; /* on this unit */
    uint64_t serial;  /* of its segment: the numbers in @base are used again */
};

/* NULL: it has ended, with its team or with DART. */
static struct segment *segment_of(const struct dart_allocator_struct *allocator)
{
    const struct team *team = team_find(allocator->base.teamid);
    struct segment *segment =
        team ? segment_find(&team->segments, allocator->base.segid) : NULL;

    return segment && segment->serial == allocator->serial ? segment : NULL;
}

static void allocator_free(struct dart_allocator_struct *allocator)
{
    if (!allocator)
        return;
    if (allocator->pool)
        pool_delete(allocator->pool);
    pthread_mutex_destroy(&allocator->lock);
    free(allocator);
}

/* What this unit keeps for itself.  @bytes becomes a power of two. */
static dart_ret_t allocator_make(size_t *bytes,
                                 struct dart_allocator_struct **out)
{
    size_t rounded = POOL_PIECE_BYTES;

    if (*bytes > POOL_BYTES_MAX)
        return DART_ERR_NOMEM;
    while (rounded < *bytes)
        rounded *= 2;
    *bytes = rounded;
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return DART_ERR_NOMEM;
    pthread_mutex_init(&(*out)->lock, NULL);
    (*out)->pool = pool_new(rounded);
    return (*out)->pool ? DART_OK : DART_ERR_NOMEM;
}

dart_ret_t dart_allocator_new(size_t pool_size, dart_team_t team,
                              dart_allocator_t *new_allocator)
{
    static const char what[] = "dart_allocator_new";
    struct dart_allocator_struct *allocator = NULL;
    struct segment *segment;
    struct team *found;
    dart_ret_t ret;

    if (new_allocator)
        *new_allocator = NULL;
    ret = team_get(what, team, &found);
    if (ret)
        return ret;
    ret =
        new_allocator ? allocator_make(&pool_size, &allocator) : DART_ERR_INVAL;
    ret = segment_allocate(found, ret, pool_size, &segment);
    if (ret) {
        allocator_free(allocator);
        return front_fail(ret, "%s: failed on a unit of team %d", what,
                          (int)team);
    }
    allocator->base.unitid = found->me & 0x7fffff;
    allocator->base.segid = segment->id;
    allocator->base.teamid = team;
    allocator->serial = segment->serial;
    *new_allocator = allocator;
    return DART_OK;
}

dart_ret_t dart_allocator_alloc(size_t nelem, dart_datatype_t dtype,
                                dart_gptr_t *gptr, dart_allocator_t allocator)
{
    static const char what[] = "dart_allocator_alloc";
    const struct type *type = type_of(dtype);
    uint64_t offset;
    size_t bytes;
    bool taken;

    if (!gptr)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    *gptr = DART_GPTR_NULL;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    if (!allocator || !type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "%s: no allocator, or no contiguous type", what);
    if (!segment_of(allocator))
        return front_fail(DART_ERR_INVAL, "%s: the pool's team has ended",
                          what);
    if (__builtin_mul_overflow(nelem, type->bytes, &bytes))
        return DART_ERR_NOMEM;
    pthread_mutex_lock(&allocator->lock);
    taken = pool_take(allocator->pool, bytes, &offset);
    pthread_mutex_unlock(&allocator->lock);
    if (!taken)
        return front_fail(DART_ERR_NOMEM, "%s: no %zu bytes left in the pool",
                          what, bytes);
    *gptr = allocator->base;
    gptr->addr_or_offs.offset = offset;
    return DART_OK;
}

dart_ret_t dart_allocator_free(dart_gptr_t *gptr, dart_allocator_t allocator)
{
    static const char what[] = "dart_allocator_free";
    bool given;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    if (!gptr || !allocator)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    if (gptr->segid != allocator->base.segid ||
        gptr->teamid != allocator->base.teamid ||
        gptr->unitid != allocator->base.unitid)
        return front_fail(DART_ERR_INVAL,
                          "%s: not a pointer of this unit and allocator", what);
    if (!segment_of(allocator))
        return front_fail(DART_ERR_INVAL, "%s: the pool's team has ended",
                          what);
    pthread_mutex_lock(&allocator->lock);
    given = pool_give(allocator->pool, gptr->addr_or_offs.offset);
    pthread_mutex_unlock(&allocator->lock);
    if (!given)
        return front_fail(DART_ERR_INVAL,
                          "%s: no allocation there, or it was freed", what);
    *gptr = DART_GPTR_NULL;
    return DART_OK;
}

dart_ret_t dart_allocator_destroy(dart_allocator_t *allocator)
{
    static const char what[] = "dart_allocator_destroy";
    struct segment *segment;
    dart_ret_t ret = DART_OK;

    if (!allocator || !*allocator)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    segment = front_up ? segment_of(*allocator) : NULL;
    if (!front_up)
        ret = front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    else if (segment)
        ret = segment_free(team_find((*allocator)->base.teamid), segment);
    if (ret && segment)
        return ret;
    allocator_free(*allocator);
    *allocator = NULL;
    return ret;
}
