#include "fronts/dart/heap.h"

#include <assert.h>
#include <inttypes.h>

#include "drasync.h"
#include "fronts/dart/types.h"

static drasync_region_t heap_region;

dart_ret_t heap_start(void)
{
    int err = drasync_new_region(&heap_region);

    return err ? front_fail(front_error(err), "dart_init: no heap: %s",
                            drasync_strerror(err))
               : DART_OK;
}

void heap_stop(void)
{
    drasync_delete(heap_region);
    heap_region = NULL;
}

dart_ret_t heap_take(size_t bytes, void **object_out, uint64_t *place_out)
{
    int err = drasync_alloc(heap_region, bytes, object_out);

    if (err)
        return front_error(err);
    *place_out = (uint64_t)((char *)*object_out - front_job->data);
    return DART_OK;
}

void heap_give(void *object)
{
    int err = drasync_free(object);

    assert(!err);
    (void)err;
}

/* Where a place of this heap is; NULL: it is elsewhere. */
static void *address_of(uint64_t place)
{
    drasync_region_t found;
    char *address;

    if (place >= front_job->data_bytes)
        return NULL;
    address = front_job->data + place;
    if (drasync_region_of(address, &found) || found != heap_region)
        return NULL;
    return address;
}

dart_ret_t dart_memalloc(size_t nelem, dart_datatype_t dtype,
                         dart_gptr_t *gptr)
{
    const struct type *type = type_of(dtype);
    size_t bytes;
    uint64_t place;
    void *object;
    dart_ret_t ret;

    if (!gptr)
        return front_fail(DART_ERR_INVAL, "dart_memalloc: NULL");
    *gptr = DART_GPTR_NULL;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "dart_memalloc: not initialized");
    if (!type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "dart_memalloc: the type is not contiguous");
    if (__builtin_mul_overflow(nelem, type->bytes, &bytes))
        ret = DART_ERR_NOMEM;
    else
        ret = heap_take(bytes, &object, &place);
    if (ret)
        return front_fail(ret, "dart_memalloc: no memory for %zu elements",
                          nelem);
    gptr->unitid = front_job->rank & 0x7fffff;
    gptr->segid = DART_SEGMENT_LOCAL;
    gptr->teamid = DART_TEAM_ALL;
    gptr->addr_or_offs.offset = place;
    return DART_OK;
}

dart_ret_t dart_memfree(dart_gptr_t gptr)
{
    uint64_t place = gptr.addr_or_offs.offset;
    void *object;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "dart_memfree: not initialized");
    if (gptr.segid != DART_SEGMENT_LOCAL || gptr.teamid != DART_TEAM_ALL)
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: not a pointer of dart_memalloc");
    if (gptr.unitid != front_job->rank)
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: the memory is unit %d's",
                          (int)gptr.unitid);
    object = address_of(place);
    if (!object || drasync_free(object))
        return front_fail(DART_ERR_INVAL,
                          "dart_memfree: no allocation at %#" PRIx64
                          ", or it was freed",
                          place);
    return DART_OK;
}
