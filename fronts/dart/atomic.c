/*
 * Atomic operations: the processor's, never MPI's, so that all of them are
 * atomic among each other; done when they return.
 */
#include "fronts/dart/target.h"
#include "fronts/dart/types.h"
#include "fronts/dart/window.h"

/* Can this unit do it itself?  Always by the window's address, whosever the
 * memory is: what takes a lock, takes it by that. */
static void *address_here(const struct target *target)
{
    return target->node == front_job->node && !(target->place & RMA_PRIVATE)
               ? rma_address(front_job, target->place)
               : NULL;
}

static dart_ret_t failed(const char *what, int err)
{
    return err ? front_fail(front_error(err), "%s: %s", what,
                            drasync_strerror(err))
               : DART_OK;
}

static dart_ret_t check(const char *what, dart_gptr_t gptr, size_t nelem,
                        dart_datatype_t dtype, enum rma_type *type,
                        struct target *target)
{
    size_t bytes;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: not initialized", what);
    window_go_on();
    if (!type_rma(dtype, type))
        return front_fail(DART_ERR_INVAL, "%s: not on this type", what);
    if (__builtin_mul_overflow(nelem, type_of(dtype)->bytes, &bytes))
        return front_fail(DART_ERR_INVAL, "%s: %zu elements are too many", what,
                          nelem);
    return target_find(what, gptr, bytes, target);
}

static dart_ret_t update(const char *what, dart_gptr_t gptr, const void *values,
                         void *results, size_t nelem, dart_datatype_t dtype,
                         dart_operation_t op)
{
    struct target target;
    enum rma_type type;
    enum rma_op rma;
    dart_ret_t ret = check(what, gptr, nelem, dtype, &type, &target);
    void *address;

    if (ret)
        return ret;
    if (!op_rma(op, &rma))
        return front_fail(DART_ERR_INVAL, "%s: not with this operation", what);
    if (!values && rma == RMA_NO_OP)
        values = results; /* not looked at */
    if (!values && nelem)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    if (nelem == 0)
        return DART_OK;
    address = address_here(&target);
    return failed(
        what, address ? rma_apply(address, type, rma, values, results, nelem)
                      : rma_update(target.rank, target.place, type, rma, values,
                                   results, nelem));
}

dart_ret_t dart_accumulate(dart_gptr_t gptr, const void *values, size_t nelem,
                           dart_datatype_t dtype, dart_operation_t op)
{
    return update("dart_accumulate", gptr, values, NULL, nelem, dtype, op);
}

dart_ret_t dart_accumulate_blocking_local(dart_gptr_t gptr, const void *values,
                                          size_t nelem, dart_datatype_t dtype,
                                          dart_operation_t op)
{
    return update("dart_accumulate_blocking_local", gptr, values, NULL, nelem,
                  dtype, op);
}

dart_ret_t dart_fetch_and_op(dart_gptr_t gptr, const void *value, void *result,
                             dart_datatype_t dtype, dart_operation_t op)
{
    if (!result)
        return front_fail(DART_ERR_INVAL, "dart_fetch_and_op: NULL");
    return update("dart_fetch_and_op", gptr, value, result, 1, dtype, op);
}

dart_ret_t dart_compare_and_swap(dart_gptr_t gptr, const void *value,
                                 const void *compare, void *result,
                                 dart_datatype_t dtype)
{
    static const char what[] = "dart_compare_and_swap";
    struct target target;
    enum rma_type type;
    dart_ret_t ret = check(what, gptr, 1, dtype, &type, &target);
    void *address;

    if (ret)
        return ret;
    if (!value || !compare || !result)
        return front_fail(DART_ERR_INVAL, "%s: NULL", what);
    address = address_here(&target);
    return failed(what, address
                            ? rma_swap_if(address, type, compare, value, result)
                            : rma_compare(target.rank, target.place, type,
                                          compare, value, result));
}
