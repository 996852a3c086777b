/* Put and get, in all their forms: dart_communication.h. */
#include "fronts/dart/far.h"
#include "fronts/dart/handle.h"
#include "fronts/dart/shape.h"
#include "fronts/dart/target.h"
#include "fronts/dart/types.h"
#include "fronts/dart/window.h"

enum until {
    UNTIL_BEGUN, /* a flush will follow */
    UNTIL_HANDLE,
    UNTIL_DONE,
};

/* Can the elements of one shape go into the other? */
static dart_ret_t check_types(const char *what, const struct far *far)
{
    const struct type *here = far->here, *there = far->there;

    if (!here || !there || here->base != there->base ||
        here->bytes != there->bytes)
        return front_fail(DART_ERR_INVAL,
                          "%s: types that are not of the same elements", what);
    if (here->elements == 0 || there->elements == 0)
        return far->nelem == 0
                   ? DART_OK
                   : front_fail(DART_ERR_INVAL, "%s: an empty type", what);
    if (far->nelem % here->elements || far->nelem % there->elements)
        return front_fail(DART_ERR_INVAL,
                          "%s: %zu elements are no multiple of the types'",
                          what, far->nelem);
    return DART_OK;
}

/* Find the target, and do it at once where this unit can. */
static dart_ret_t prepare(const char *what, dart_gptr_t gptr, struct far *far,
                          bool *done)
{
    size_t bytes, span;
    dart_ret_t ret;

    *done = true;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    ret = check_types(what, far);
    if (ret)
        return ret;
    if (!far->buffer && far->nelem)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    if (!shape_span(far->there, far->nelem, &span) ||
        __builtin_mul_overflow(far->nelem, far->here->bytes, &bytes))
        return front_fail(DART_ERR_INVAL, "%s: %zu elements are too many", what,
                          far->nelem);
    ret = target_find(what, gptr, span, &far->target);
    if (ret || far->nelem == 0)
        return ret;
    if (far->target.address) {
        if (far->put)
            shape_copy(far->target.address, far->there, far->buffer, far->here,
                       far->nelem);
        else
            shape_copy(far->buffer, far->here, far->target.address, far->there,
                       far->nelem);
        return DART_OK;
    }
    if (far->target.place & RMA_PRIVATE)
        return far_private(far);
    *done = false;
    return DART_OK;
}

static dart_ret_t transfer(const char *what, dart_gptr_t gptr, struct far *far,
                           enum until until, dart_handle_t *handle_out)
{
    dart_handle_t handle = NULL;
    dart_ret_t ret;
    bool done;

    ret = prepare(what, gptr, far, &done);
    if (ret || done)
        return ret;
    if (until == UNTIL_HANDLE) {
        handle = handle_take();
        if (!handle)
            return front_fail(DART_ERR_NOMEM, "%s: no memory", what);
    }
    if (until == UNTIL_DONE && window_by_messages)
        return far_do(far);
    ret = far_begin(far, handle);
    if (!ret && until == UNTIL_DONE)
        ret = far->put ? window_flush(far->target.node)
                       : window_flush_local(far->target.node);
    if (ret && handle)
        handle_give(handle);
    else if (handle)
        *handle_out = handle;
    return ret;
}

static dart_ret_t put_far(const char *what, dart_gptr_t gptr, const void *src,
                          size_t nelem, dart_datatype_t src_type,
                          dart_datatype_t dst_type, enum until until,
                          dart_handle_t *handle)
{
    struct far far = {
        .put = true,
        .there = type_of(dst_type),
        .here = type_of(src_type),
        .buffer = (void *)(uintptr_t)src,
        .nelem = nelem,
    };

    return transfer(what, gptr, &far, until, handle);
}

static dart_ret_t get_far(const char *what, void *dest, dart_gptr_t gptr,
                          size_t nelem, dart_datatype_t src_type,
                          dart_datatype_t dst_type, enum until until,
                          dart_handle_t *handle)
{
    struct far far = {
        .put = false,
        .there = type_of(src_type),
        .here = type_of(dst_type),
        .buffer = dest,
        .nelem = nelem,
    };

    return transfer(what, gptr, &far, until, handle);
}

/*
 * What most programs do most: one predefined type, and the target on this node.
 * NULL: not that.
 */
static inline char *quick(dart_gptr_t gptr, const void *buffer, size_t nelem,
                          dart_datatype_t src_type, dart_datatype_t dst_type,
                          size_t *bytes)
{
    if (src_type != dst_type || (uintptr_t)src_type - 1 >= DART_TYPE_LAST - 1 ||
        !buffer ||
        __builtin_mul_overflow(nelem, types_basic[src_type].bytes, bytes))
        return NULL;
    return target_here(gptr, *bytes);
}

static inline dart_ret_t put(const char *what, dart_gptr_t gptr,
                             const void *src, size_t nelem,
                             dart_datatype_t src_type, dart_datatype_t dst_type,
                             enum until until, dart_handle_t *handle)
{
    size_t bytes;
    char *to = quick(gptr, src, nelem, src_type, dst_type, &bytes);

    if (!to)
        return put_far(what, gptr, src, nelem, src_type, dst_type, until,
                       handle);
    shape_copy_bytes(to, src, bytes);
    return DART_OK;
}

static inline dart_ret_t get(const char *what, void *dest, dart_gptr_t gptr,
                             size_t nelem, dart_datatype_t src_type,
                             dart_datatype_t dst_type, enum until until,
                             dart_handle_t *handle)
{
    size_t bytes;
    const char *from = quick(gptr, dest, nelem, src_type, dst_type, &bytes);

    if (!from)
        return get_far(what, dest, gptr, nelem, src_type, dst_type, until,
                       handle);
    shape_copy_bytes(dest, from, bytes);
    return DART_OK;
}

dart_ret_t dart_put_blocking(dart_gptr_t gptr, const void *src, size_t nelem,
                             dart_datatype_t src_type, dart_datatype_t dst_type)
{
    return put("dart_put_blocking", gptr, src, nelem, src_type, dst_type,
               UNTIL_DONE, NULL);
}

dart_ret_t dart_get_blocking(void *dest, dart_gptr_t gptr, size_t nelem,
                             dart_datatype_t src_type, dart_datatype_t dst_type)
{
    return get("dart_get_blocking", dest, gptr, nelem, src_type, dst_type,
               UNTIL_DONE, NULL);
}

dart_ret_t dart_put(dart_gptr_t gptr, const void *src, size_t nelem,
                    dart_datatype_t src_type, dart_datatype_t dst_type)
{
    return put("dart_put", gptr, src, nelem, src_type, dst_type, UNTIL_BEGUN,
               NULL);
}

dart_ret_t dart_get(void *dest, dart_gptr_t gptr, size_t nelem,
                    dart_datatype_t src_type, dart_datatype_t dst_type)
{
    return get("dart_get", dest, gptr, nelem, src_type, dst_type, UNTIL_BEGUN,
               NULL);
}

dart_ret_t dart_put_handle(dart_gptr_t gptr, const void *src, size_t nelem,
                           dart_datatype_t src_type, dart_datatype_t dst_type,
                           dart_handle_t *handle)
{
    if (!handle)
        return front_fail(DART_ERR_INVAL, "dart_put_handle: NULL");
    *handle = DART_HANDLE_NULL;
    return put("dart_put_handle", gptr, src, nelem, src_type, dst_type,
               UNTIL_HANDLE, handle);
}

dart_ret_t dart_get_handle(void *dest, dart_gptr_t gptr, size_t nelem,
                           dart_datatype_t src_type, dart_datatype_t dst_type,
                           dart_handle_t *handle)
{
    if (!handle)
        return front_fail(DART_ERR_INVAL, "dart_get_handle: NULL");
    *handle = DART_HANDLE_NULL;
    return get("dart_get_handle", dest, gptr, nelem, src_type, dst_type,
               UNTIL_HANDLE, handle);
}
