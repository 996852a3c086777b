/* Team allocations, registered memory, and global pointers: dart_globmem.h. */
#include "fronts/dart/segment.h"
#include "fronts/dart/team.h"
#include "fronts/dart/types.h"

static dart_ret_t bytes_of(const char *what, size_t nelem,
                           dart_datatype_t dtype, size_t *bytes_out)
{
    const struct type *type = type_of(dtype);

    if (!type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL, "%s: the type is not contiguous",
                          what);
    if (__builtin_mul_overflow(nelem, type->bytes, bytes_out))
        return front_fail(DART_ERR_NOMEM, "%s: %zu elements are too many", what,
                          nelem);
    return DART_OK;
}

/* What all collective calls that make a segment return, with the pointer. */
static dart_ret_t made(const char *what, dart_ret_t ret,
                       const struct team *team, const struct segment *segment,
                       dart_gptr_t *gptr)
{
    if (ret)
        return front_fail(ret, "%s: failed on a unit of team %d", what,
                          (int)team->id);
    gptr->unitid = 0;
    gptr->flags = 0;
    gptr->segid = segment->id;
    gptr->teamid = team->id;
    gptr->addr_or_offs.offset = 0;
    return DART_OK;
}

/* @what is collective: with @register_it what this unit has at @addr, else memory
 * that is made for it. */
static dart_ret_t make(const char *what, dart_team_t teamid, size_t nelem,
                       dart_datatype_t dtype, bool register_it, void *addr,
                       dart_gptr_t *gptr)
{
    struct segment *segment;
    struct team *team;
    size_t bytes = 0;
    dart_ret_t ret;

    if (gptr)
        *gptr = DART_GPTR_NULL;
    ret = team_get(what, teamid, &team);
    if (ret)
        return ret;
    /* From here on the other units wait for this one. */
    ret = gptr ? bytes_of(what, nelem, dtype, &bytes)
               : front_fail(DART_ERR_INVAL, "%s: NULL", what);
    ret = register_it ? segment_new(team, ret, addr, bytes, NULL, &segment)
                      : segment_allocate(team, ret, bytes, &segment);
    return made(what, ret, team, segment, gptr);
}

dart_ret_t dart_team_memalloc_aligned(dart_team_t teamid, size_t nelem,
                                      dart_datatype_t dtype, dart_gptr_t *gptr)
{
    return make("dart_team_memalloc_aligned", teamid, nelem, dtype, false, NULL,
                gptr);
}

dart_ret_t dart_team_memregister_aligned(dart_team_t teamid, size_t nelem,
                                         dart_datatype_t dtype, void *addr,
                                         dart_gptr_t *gptr)
{
    return make("dart_team_memregister_aligned", teamid, nelem, dtype, true,
                addr, gptr);
}

dart_ret_t dart_team_memregister(dart_team_t teamid, size_t nlelem,
                                 dart_datatype_t dtype, void *addr,
                                 dart_gptr_t *gptr)
{
    return make("dart_team_memregister", teamid, nlelem, dtype, true, addr,
                gptr);
}

/* The segment that @gptr names, not the unit's heap. */
static dart_ret_t get(const char *what, dart_gptr_t gptr,
                      struct team **team_out, struct segment **segment_out)
{
    dart_ret_t ret = team_get(what, gptr.teamid, team_out);

    if (ret)
        return ret;
    *segment_out = segment_find(&(*team_out)->segments, gptr.segid);
    if (!*segment_out)
        return front_fail(DART_ERR_INVAL, "%s: team %d has no segment %d", what,
                          (int)gptr.teamid, (int)gptr.segid);
    return DART_OK;
}

static dart_ret_t take_back(const char *what, dart_gptr_t gptr, bool registered)
{
    struct segment *segment;
    struct team *team;
    dart_ret_t ret;

    if (front_up && DART_GPTR_ISNULL(gptr))
        return DART_OK;
    ret = get(what, gptr, &team, &segment);
    if (ret)
        return ret;
    if ((gptr.segid < 0) != registered)
        return front_fail(DART_ERR_INVAL, "%s: segment %d is %s", what,
                          (int)gptr.segid,
                          registered ? "an allocation" : "registered memory");
    return registered ? segment_unregister(team, segment)
                      : segment_free(team, segment);
}

dart_ret_t dart_team_memfree(dart_gptr_t gptr)
{
    return take_back("dart_team_memfree", gptr, false);
}

dart_ret_t dart_team_memderegister(dart_gptr_t gptr)
{
    return take_back("dart_team_memderegister", gptr, true);
}

/* --- Global pointers ---------------------------------------------------------- */

static bool is_local(dart_gptr_t gptr)
{
    return gptr.segid == DART_SEGMENT_LOCAL && gptr.teamid == DART_TEAM_ALL;
}

dart_ret_t dart_gptr_getaddr(const dart_gptr_t gptr, void **addr)
{
    static const char what[] = "dart_gptr_getaddr";
    uint64_t offset = gptr.addr_or_offs.offset;
    struct segment *segment;
    struct team *team;
    dart_ret_t ret;

    if (!addr)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    *addr = NULL;
    ret = team_get(what, gptr.teamid, &team);
    if (ret)
        return ret;
    if (is_local(gptr)) {
        if (gptr.unitid != front_job->rank)
            return DART_OK;
        if (offset > front_job->data_bytes)
            return front_fail(DART_ERR_INVAL,
                              "%s: no address of this unit's heap", what);
        *addr = front_job->data + offset;
        return DART_OK;
    }
    ret = get(what, gptr, &team, &segment);
    if (ret)
        return ret;
    if (gptr.unitid < 0 || gptr.unitid >= team->size)
        return front_fail(DART_ERR_INVAL, "%s: team %d has no unit %d", what,
                          (int)gptr.teamid, (int)gptr.unitid);
    /* An address past the end is the program's to make, as in C. */
    if (gptr.unitid == team->me)
        *addr = (void *)((uintptr_t)segment->mine + offset);
    return DART_OK;
}

dart_ret_t dart_gptr_setaddr(dart_gptr_t *gptr, void *addr)
{
    static const char what[] = "dart_gptr_setaddr";
    const char *base = front_up ? front_job->data : NULL;
    struct segment *segment;
    struct team *team;
    uint64_t offset, limit;
    dart_ret_t ret;

    if (!gptr)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    ret = team_get(what, gptr->teamid, &team);
    if (ret)
        return ret;
    limit = front_job->data_bytes;
    if (!is_local(*gptr)) {
        ret = get(what, *gptr, &team, &segment);
        if (ret)
            return ret;
        base = segment->mine;
        limit = segment->mine_bytes;
    }
    offset = (uintptr_t)addr - (uintptr_t)base;
    if (gptr->unitid != team->me || offset > limit)
        return front_fail(DART_ERR_INVAL,
                          "%s: %p is not in this unit's part of segment %d",
                          what, addr, (int)gptr->segid);
    gptr->addr_or_offs.offset = offset;
    return DART_OK;
}

dart_ret_t dart_gptr_getflags(dart_gptr_t gptr, uint16_t *flags)
{
    struct segment *segment;
    struct team *team;
    dart_ret_t ret;

    if (!flags)
        return front_fail(DART_ERR_INVAL, "dart_gptr_getflags: NULL");
    *flags = 0;
    ret = get("dart_gptr_getflags", gptr, &team, &segment);
    if (!ret)
        *flags = segment->flags;
    return ret;
}

dart_ret_t dart_gptr_setflags(dart_gptr_t *gptr, uint16_t flags)
{
    struct segment *segment;
    struct team *team;
    dart_ret_t ret;

    if (!gptr)
        return front_fail(DART_ERR_INVAL, "dart_gptr_setflags: NULL");
    ret = get("dart_gptr_setflags", *gptr, &team, &segment);
    if (ret)
        return ret;
    segment->flags = flags;
    gptr->flags = (unsigned char)flags;
    return DART_OK;
}
