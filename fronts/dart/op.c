/*
 * Operations: MPI's own, DART_OP_MINMAX, and the program's.
 *
 * MPI tells a user's function nothing but the data type, so each operation of
 * the program has a copy of its type to itself, by which it is found again.
 */
#include "fronts/dart/op.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "fronts/dart/front.h"
#include "fronts/dart/types.h"

#define BUCKETS 128

/* A handle is the address of a slot; slots are used again but never given back,
 * so that the handle of an operation that is gone is known for one. */
struct operation {
    dart_operator_t function; /* NULL: gone */
    void *user_data;
    dart_datatype_t dtype;
    size_t bytes;
    MPI_Op mpi;
    MPI_Datatype type;
    struct operation *same_bucket, *next_free, *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct operation *operations, *free_operations, *buckets[BUCKETS];

/* Of DART_OP_MINMAX, by basic type. */
static MPI_Op minmax_ops[DART_TYPE_LAST];
static MPI_Datatype minmax_pairs[DART_TYPE_LAST];

#define MINMAX(name, c)                                                      \
    static void minmax_##name(void *in_pairs, void *inout_pairs, int *pairs, \
                              MPI_Datatype *type)                            \
    {                                                                        \
        const c(*in)[2] = in_pairs;                                          \
        c(*inout)[2] = inout_pairs;                                          \
                                                                             \
        (void)type;                                                          \
        for (int i = 0; i < *pairs; i++) {                                   \
            if (in[i][DART_OP_MINMAX_MIN] < inout[i][DART_OP_MINMAX_MIN])    \
                inout[i][DART_OP_MINMAX_MIN] = in[i][DART_OP_MINMAX_MIN];    \
            if (in[i][DART_OP_MINMAX_MAX] > inout[i][DART_OP_MINMAX_MAX])    \
                inout[i][DART_OP_MINMAX_MAX] = in[i][DART_OP_MINMAX_MAX];    \
        }                                                                    \
    }

MINMAX(byte, signed char)
MINMAX(short, short)
MINMAX(int, int)
MINMAX(uint, unsigned)
MINMAX(long, long)
MINMAX(ulong, unsigned long)
MINMAX(longlong, long long)
MINMAX(ulonglong, unsigned long long)
MINMAX(float, float)
MINMAX(double, double)
MINMAX(long_double, long double)

static MPI_User_function *const minmax_functions[DART_TYPE_LAST] = {
    [DART_TYPE_BYTE] = minmax_byte,
    [DART_TYPE_SHORT] = minmax_short,
    [DART_TYPE_INT] = minmax_int,
    [DART_TYPE_UINT] = minmax_uint,
    [DART_TYPE_LONG] = minmax_long,
    [DART_TYPE_ULONG] = minmax_ulong,
    [DART_TYPE_LONGLONG] = minmax_longlong,
    [DART_TYPE_ULONGLONG] = minmax_ulonglong,
    [DART_TYPE_FLOAT] = minmax_float,
    [DART_TYPE_DOUBLE] = minmax_double,
    [DART_TYPE_LONG_DOUBLE] = minmax_long_double,
};

/* MPICH 4.0 compares unsigned numbers as signed ones: these it does not. */
#define UNSIGNED(name, c)                                                   \
    static void min_##name(void *in_values, void *inout_values, int *count, \
                           MPI_Datatype *type)                              \
    {                                                                       \
        const c *in = in_values;                                            \
        c *inout = inout_values;                                            \
                                                                            \
        (void)type;                                                         \
        for (int i = 0; i < *count; i++)                                    \
            inout[i] = in[i] < inout[i] ? in[i] : inout[i];                 \
    }                                                                       \
    static void max_##name(void *in_values, void *inout_values, int *count, \
                           MPI_Datatype *type)                              \
    {                                                                       \
        const c *in = in_values;                                            \
        c *inout = inout_values;                                            \
                                                                            \
        (void)type;                                                         \
        for (int i = 0; i < *count; i++)                                    \
            inout[i] = in[i] > inout[i] ? in[i] : inout[i];                 \
    }

UNSIGNED(uint, unsigned)
UNSIGNED(ulong, unsigned long)
UNSIGNED(ulonglong, unsigned long long)

static MPI_User_function *const unsigned_functions[DART_TYPE_LAST][2] = {
    [DART_TYPE_UINT] = {min_uint, max_uint},
    [DART_TYPE_ULONG] = {min_ulong, max_ulong},
    [DART_TYPE_ULONGLONG] = {min_ulonglong, max_ulonglong},
};
static MPI_Op unsigned_ops[DART_TYPE_LAST][2];

bool type_rma(dart_datatype_t dtype, enum rma_type *out)
{
    static const enum rma_type types[DART_TYPE_LAST] = {
        [DART_TYPE_BYTE] = RMA_INT8,
        [DART_TYPE_SHORT] = RMA_INT16,
        [DART_TYPE_INT] = RMA_INT32,
        [DART_TYPE_UINT] = RMA_UINT32,
        [DART_TYPE_LONG] = RMA_INT64,
        [DART_TYPE_ULONG] = RMA_UINT64,
        [DART_TYPE_LONGLONG] = RMA_INT64,
        [DART_TYPE_ULONGLONG] = RMA_UINT64,
        [DART_TYPE_FLOAT] = RMA_FLOAT,
        [DART_TYPE_DOUBLE] = RMA_DOUBLE,
        [DART_TYPE_LONG_DOUBLE] = RMA_LONG_DOUBLE,
    };

    if (dtype <= DART_TYPE_UNDEFINED || dtype >= DART_TYPE_LAST)
        return false;
    *out = types[dtype];
    return true;
}

bool op_rma(dart_operation_t op, enum rma_op *out)
{
    static const enum rma_op ops[DART_OP_LAST] = {
        [DART_OP_MIN] = RMA_MIN,         [DART_OP_MAX] = RMA_MAX,
        [DART_OP_SUM] = RMA_SUM,         [DART_OP_PROD] = RMA_PROD,
        [DART_OP_BAND] = RMA_BAND,       [DART_OP_LAND] = RMA_LAND,
        [DART_OP_BOR] = RMA_BOR,         [DART_OP_LOR] = RMA_LOR,
        [DART_OP_BXOR] = RMA_BXOR,       [DART_OP_LXOR] = RMA_LXOR,
        [DART_OP_REPLACE] = RMA_REPLACE, [DART_OP_NO_OP] = RMA_NO_OP,
    };

    if (op == DART_OP_UNDEFINED || op >= DART_OP_LAST || op == DART_OP_MINMAX)
        return false;
    *out = ops[op];
    return true;
}

static bool is_integer(dart_datatype_t dtype)
{
    return dtype < DART_TYPE_FLOAT;
}

/* MPI's own operation, or MPI_OP_NULL. */
static MPI_Op mpi_op(dart_operation_t op, dart_datatype_t dtype)
{
    switch (op) {
    case DART_OP_MIN:
        return unsigned_functions[dtype][0] ? unsigned_ops[dtype][0] : MPI_MIN;
    case DART_OP_MAX:
        return unsigned_functions[dtype][1] ? unsigned_ops[dtype][1] : MPI_MAX;
    case DART_OP_SUM:
        return MPI_SUM;
    case DART_OP_PROD:
        return MPI_PROD;
    case DART_OP_BAND:
        return is_integer(dtype) ? MPI_BAND : MPI_OP_NULL;
    case DART_OP_LAND:
        return is_integer(dtype) ? MPI_LAND : MPI_OP_NULL;
    case DART_OP_BOR:
        return is_integer(dtype) ? MPI_BOR : MPI_OP_NULL;
    case DART_OP_LOR:
        return is_integer(dtype) ? MPI_LOR : MPI_OP_NULL;
    case DART_OP_BXOR:
        return is_integer(dtype) ? MPI_BXOR : MPI_OP_NULL;
    case DART_OP_LXOR:
        return is_integer(dtype) ? MPI_LXOR : MPI_OP_NULL;
    default:
        return MPI_OP_NULL;
    }
}

static bool predefined_reduction(dart_operation_t op, dart_datatype_t dtype,
                                 size_t nelem, struct reduction *out)
{
    if (dtype >= DART_TYPE_LAST)
        return false;
    if (op == DART_OP_MINMAX) {
        out->op = minmax_ops[dtype];
        out->type = minmax_pairs[dtype];
        out->count = nelem / 2;
        out->bytes *= 2;
        return nelem % 2 == 0;
    }
    out->op = mpi_op(op, dtype);
    /* MPI does not calculate with MPI_BYTE. */
    if (dtype == DART_TYPE_BYTE)
        out->type = MPI_SIGNED_CHAR;
    return out->op != MPI_OP_NULL;
}

bool op_reduction(dart_operation_t op, dart_datatype_t dtype, size_t nelem,
                  struct reduction *out)
{
    const struct type *type = type_of(dtype);
    const struct operation *own = (const struct operation *)op;

    if (!type_in_one_piece(type) || op == DART_OP_UNDEFINED ||
        op == DART_OP_LAST)
        return false;
    *out = (struct reduction){MPI_OP_NULL, type->mpi, nelem, type->bytes};
    if (op < DART_OP_LAST)
        return predefined_reduction(op, dtype, nelem, out);
    if (!own->function || own->dtype != dtype || own->bytes != type->bytes)
        return false;
    out->op = own->mpi;
    out->type = own->type;
    return true;
}

static struct operation **bucket_of(MPI_Datatype type)
{
    return &buckets[(uint32_t)(uintptr_t)type % BUCKETS];
}

/* MPI calls this for each operation of the program's. */
static void run_own(void *in, void *inout, int *len, MPI_Datatype *type)
{
    dart_operator_t function = NULL;
    void *user_data = NULL;

    pthread_mutex_lock(&mutex);
    for (struct operation *o = *bucket_of(*type); o; o = o->same_bucket) {
        if (o->type == *type) {
            function = o->function;
            user_data = o->user_data;
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    if (function)
        function(in, inout, (size_t)*len, user_data);
}

/* Where @made stays. */
static struct operation *operation_add(const struct operation *made)
{
    struct operation *o, **bucket = bucket_of(made->type), *next;

    pthread_mutex_lock(&mutex);
    o = free_operations;
    if (o) {
        free_operations = o->next_free;
    } else {
        o = calloc(1, sizeof(*o));
        if (o) {
            o->next = operations;
            operations = o;
        }
    }
    if (o) {
        next = o->next;
        *o = *made;
        o->next = next;
        o->same_bucket = *bucket;
        *bucket = o;
    }
    pthread_mutex_unlock(&mutex);
    return o;
}

static void operation_drop(struct operation *o)
{
    struct operation **link = bucket_of(o->type);
    MPI_Op mpi = o->mpi;
    MPI_Datatype type = o->type;

    pthread_mutex_lock(&mutex);
    while (*link != o)
        link = &(*link)->same_bucket;
    *link = o->same_bucket;
    o->function = NULL;
    o->next_free = free_operations;
    free_operations = o;
    pthread_mutex_unlock(&mutex);
    MPI_Op_free(&mpi);
    MPI_Type_free(&type);
}

dart_ret_t dart_op_create(dart_operator_t op, void *userdata, bool commute,
                          dart_datatype_t dtype, bool dtype_is_tmp,
                          dart_operation_t *new_op)
{
    const char *what = "dart_op_create";
    const struct type *type;
    struct operation made = {.function = op,
                             .user_data = userdata,
                             .dtype = dtype},
                     *o = NULL;

    (void)dtype_is_tmp;
    if (new_op)
        *new_op = DART_OP_UNDEFINED;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    type = type_of(dtype);
    if (!op || !new_op || !type_in_one_piece(type))
        return front_fail(DART_ERR_INVAL,
                          "%s: no function, nowhere to put the operation, or "
                          "not a basic or custom type",
                          what);
    made.bytes = type->bytes;
    if (MPI_Type_dup(type->mpi, &made.type))
        return front_fail(DART_ERR_NOMEM, "%s: no type of MPI's left", what);
    if (MPI_Op_create(run_own, commute, &made.mpi)) {
        MPI_Type_free(&made.type);
        return front_fail(DART_ERR_NOMEM, "%s: no operation of MPI's left",
                          what);
    }
    o = operation_add(&made);
    if (!o) {
        MPI_Op_free(&made.mpi);
        MPI_Type_free(&made.type);
        return front_fail(DART_ERR_NOMEM, "%s: out of memory", what);
    }
    *new_op = (dart_operation_t)o;
    return DART_OK;
}

dart_ret_t dart_op_destroy(dart_operation_t *op)
{
    struct operation *o;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT,
                          "dart_op_destroy: DART does not run");
    o = op && *op > DART_OP_LAST ? (struct operation *)*op : NULL;
    if (!o || !o->function)
        return front_fail(DART_ERR_INVAL,
                          "dart_op_destroy: not an operation of the program's, "
                          "or destroyed already");
    operation_drop(o);
    *op = DART_OP_UNDEFINED;
    return DART_OK;
}

dart_ret_t ops_start(void)
{
    for (int t = DART_TYPE_BYTE; t < DART_TYPE_LAST; t++) {
        minmax_ops[t] = unsigned_ops[t][0] = unsigned_ops[t][1] = MPI_OP_NULL;
        minmax_pairs[t] = MPI_DATATYPE_NULL;
    }
    for (int t = DART_TYPE_BYTE; t < DART_TYPE_LAST; t++) {
        if (MPI_Type_contiguous(2, types_basic[t].mpi, &minmax_pairs[t]) ||
            MPI_Type_commit(&minmax_pairs[t]) ||
            MPI_Op_create(minmax_functions[t], 1, &minmax_ops[t])) {
            ops_stop();
            return DART_ERR_NOMEM;
        }
        for (int i = 0; i < 2 && unsigned_functions[t][i]; i++) {
            if (MPI_Op_create(unsigned_functions[t][i], 1,
                              &unsigned_ops[t][i])) {
                ops_stop();
                return DART_ERR_NOMEM;
            }
        }
    }
    return DART_OK;
}

void ops_stop(void)
{
    for (int t = DART_TYPE_BYTE; t < DART_TYPE_LAST; t++) {
        if (minmax_ops[t] != MPI_OP_NULL)
            MPI_Op_free(&minmax_ops[t]);
        for (int i = 0; i < 2; i++) {
            if (unsigned_ops[t][i] != MPI_OP_NULL)
                MPI_Op_free(&unsigned_ops[t][i]);
        }
        if (minmax_pairs[t] != MPI_DATATYPE_NULL)
            MPI_Type_free(&minmax_pairs[t]);
    }
    for (struct operation *o = operations; o; o = o->next) {
        if (o->function)
            operation_drop(o);
    }
}
