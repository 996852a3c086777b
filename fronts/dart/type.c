/* The predefined types, and those that the program builds of them. */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/types.h"

#define BASIC(number, c, mpi_type)         \
    [number] = {.kind = TYPE_BASIC,        \
                .base = number,            \
                .bytes = sizeof(c),        \
                .elements = 1,             \
                .extent_bytes = sizeof(c), \
                .mpi = mpi_type}

struct type types_basic[DART_TYPE_LAST] = {
    BASIC(DART_TYPE_BYTE, char, MPI_BYTE),
    BASIC(DART_TYPE_SHORT, short, MPI_SHORT),
    BASIC(DART_TYPE_INT, int, MPI_INT),
    BASIC(DART_TYPE_UINT, unsigned, MPI_UNSIGNED),
    BASIC(DART_TYPE_LONG, long, MPI_LONG),
    BASIC(DART_TYPE_ULONG, unsigned long, MPI_UNSIGNED_LONG),
    BASIC(DART_TYPE_LONGLONG, long long, MPI_LONG_LONG),
    BASIC(DART_TYPE_ULONGLONG, unsigned long long, MPI_UNSIGNED_LONG_LONG),
    BASIC(DART_TYPE_FLOAT, float, MPI_FLOAT),
    BASIC(DART_TYPE_DOUBLE, double, MPI_DOUBLE),
    BASIC(DART_TYPE_LONG_DOUBLE, long double, MPI_LONG_DOUBLE),
};

/*
 * A handle is the address of a slot.  Slots are used again but never given
 * back, so that the handle of a type that is gone is known for one.
 */
struct slot {
    struct type type; /* first: the handle's address */
    struct slot *next_free, *next;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct slot *slots, *free_slots;

static struct slot *slot_take(void)
{
    struct slot *slot;

    pthread_mutex_lock(&mutex);
    slot = free_slots;
    if (slot) {
        free_slots = slot->next_free;
    } else {
        slot = calloc(1, sizeof(*slot));
        if (slot) {
            slot->next = slots;
            slots = slot;
        }
    }
    pthread_mutex_unlock(&mutex);
    return slot;
}

static void slot_give(struct slot *slot)
{
    pthread_mutex_lock(&mutex);
    slot->next_free = free_slots;
    free_slots = slot;
    pthread_mutex_unlock(&mutex);
}

/* What @type points to, and MPI's type, go with it. */
static void type_clear(struct type *type)
{
    if (type->mpi != MPI_DATATYPE_NULL)
        MPI_Type_free(&type->mpi);
    free((void *)type->lengths);
    free((void *)type->offsets);
    memset(type, 0, sizeof(*type));
    type->kind = TYPE_FREED;
}

static dart_ret_t type_finish(const char *what, struct type *type,
                              dart_datatype_t *newtype)
{
    struct slot *slot = NULL;

    if (type->mpi != MPI_DATATYPE_NULL && !MPI_Type_commit(&type->mpi))
        slot = slot_take();
    if (!slot) {
        type_clear(type);
        return front_fail(DART_ERR_NOMEM, "%s: out of memory", what);
    }
    if (type->base == DART_TYPE_UNDEFINED)
        type->base = (dart_datatype_t)slot;
    slot->type = *type;
    *newtype = (dart_datatype_t)slot;
    return DART_OK;
}

/* Elements of @base, one after another, as a call to create a type has them. */
static dart_ret_t base_get(const char *what, dart_datatype_t basetype,
                           dart_datatype_t *newtype, const struct type **base)
{
    if (!newtype)
        return front_fail(DART_ERR_INVAL, "%s: nowhere to put the new type",
                          what);
    *newtype = DART_TYPE_UNDEFINED;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    *base = type_of(basetype);
    if (!type_in_one_piece(*base))
        return front_fail(DART_ERR_INVAL,
                          "%s: the base type is not a basic or custom one",
                          what);
    return DART_OK;
}

/* @base as MPI is to move it in pieces, the caller's to free.  Of a long double
 * in a derived type MPICH moves the 10 bytes that count: here it has 16. */
static MPI_Datatype mpi_element(const struct type *base)
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    int err = base->base == DART_TYPE_LONG_DOUBLE
                  ? MPI_Type_contiguous((int)base->bytes, MPI_BYTE, &made)
                  : MPI_Type_dup(base->mpi, &made);

    return err ? MPI_DATATYPE_NULL : made;
}

/* One block, as long as the way to the next. */
static MPI_Datatype mpi_block(const struct type *base, size_t blocklen,
                              size_t stride)
{
    MPI_Datatype element = mpi_element(base), block = MPI_DATATYPE_NULL,
                 made = MPI_DATATYPE_NULL;
    int err;

    if (element == MPI_DATATYPE_NULL)
        return MPI_DATATYPE_NULL;
    err = MPI_Type_contiguous((int)blocklen, element, &block);
    MPI_Type_free(&element);
    if (err)
        return MPI_DATATYPE_NULL;
    if (MPI_Type_create_resized(block, 0, (MPI_Aint)(stride * base->bytes),
                                &made))
        made = MPI_DATATYPE_NULL;
    MPI_Type_free(&block);
    return made;
}

dart_ret_t dart_type_create_strided(dart_datatype_t basetype, size_t stride,
                                    size_t blocklen, dart_datatype_t *newtype)
{
    const char *what = "dart_type_create_strided";
    const struct type *base;
    struct type type;
    dart_ret_t ret = base_get(what, basetype, newtype, &base);

    if (ret)
        return ret;
    if (blocklen == 0 || blocklen > INT_MAX || stride < blocklen ||
        stride > PTRDIFF_MAX / base->bytes)
        return front_fail(DART_ERR_INVAL,
                          "%s: blocks of %zu elements every %zu elements", what,
                          blocklen, stride);
    type = (struct type){.kind = TYPE_STRIDED,
                         .base = base->base,
                         .bytes = base->bytes,
                         .elements = blocklen,
                         .extent_bytes = stride * base->bytes,
                         .mpi = mpi_block(base, blocklen, stride),
                         .stride = stride,
                         .blocklen = blocklen};
    return type_finish(what, &type, newtype);
}

/* The elements in all, and from the first to the last; false: they cannot be. */
static bool indexed_measure(const struct type *base, size_t count,
                            const size_t *blocklen, const size_t *offset,
                            struct type *out)
{
    size_t limit = PTRDIFF_MAX / base->bytes, low = SIZE_MAX, high = 0;

    out->elements = 0;
    for (size_t i = 0; i < count; i++) {
        if (blocklen[i] > INT_MAX || offset[i] > limit - blocklen[i] ||
            out->elements > limit - blocklen[i])
            return false;
        out->elements += blocklen[i];
        if (blocklen[i] && offset[i] < low)
            low = offset[i];
        if (blocklen[i] && offset[i] + blocklen[i] > high)
            high = offset[i] + blocklen[i];
    }
    if (!out->elements)
        return false;
    out->extent_bytes = (high - low) * base->bytes;
    return true;
}

static MPI_Datatype mpi_indexed(const struct type *base, size_t count,
                                const size_t *blocklen, const size_t *offset)
{
    MPI_Datatype element = mpi_element(base), made = MPI_DATATYPE_NULL;
    int *lengths = malloc(count * sizeof(*lengths));
    MPI_Aint *at = malloc(count * sizeof(*at));
    int blocks = 0;

    for (size_t i = 0; i < count && lengths && at; i++) {
        if (!blocklen[i])
            continue;
        lengths[blocks] = (int)blocklen[i];
        at[blocks++] = (MPI_Aint)(offset[i] * base->bytes);
    }
    if (lengths && at && element != MPI_DATATYPE_NULL &&
        MPI_Type_create_hindexed(blocks, lengths, at, element, &made))
        made = MPI_DATATYPE_NULL;
    if (element != MPI_DATATYPE_NULL)
        MPI_Type_free(&element);
    free(lengths);
    free(at);
    return made;
}

static size_t *sizes_copy(const size_t *from, size_t count)
{
    size_t *copy = malloc(count * sizeof(*copy));

    if (copy)
        memcpy(copy, from, count * sizeof(*copy));
    return copy;
}

dart_ret_t dart_type_create_indexed(dart_datatype_t basetype, size_t count,
                                    const size_t blocklen[],
                                    const size_t offset[],
                                    dart_datatype_t *newtype)
{
    const char *what = "dart_type_create_indexed";
    const struct type *base;
    struct type type = {.kind = TYPE_INDEXED, .blocks = count};
    dart_ret_t ret = base_get(what, basetype, newtype, &base);

    if (ret)
        return ret;
    if (count == 0 || count > INT_MAX || !blocklen || !offset ||
        !indexed_measure(base, count, blocklen, offset, &type))
        return front_fail(DART_ERR_INVAL,
                          "%s: no elements, or more than memory can hold",
                          what);
    type.base = base->base;
    type.bytes = base->bytes;
    type.lengths = sizes_copy(blocklen, count);
    type.offsets = sizes_copy(offset, count);
    type.mpi = MPI_DATATYPE_NULL;
    if (type.lengths && type.offsets)
        type.mpi = mpi_indexed(base, count, blocklen, offset);
    return type_finish(what, &type, newtype);
}

dart_ret_t dart_type_create_custom(size_t num_bytes, dart_datatype_t *newtype)
{
    const char *what = "dart_type_create_custom";
    const struct type *base;
    struct type type = {.kind = TYPE_BASIC,
                        .base = DART_TYPE_UNDEFINED,
                        .bytes = num_bytes,
                        .elements = 1,
                        .extent_bytes = num_bytes};
    dart_ret_t ret = base_get(what, DART_TYPE_BYTE, newtype, &base);

    if (ret)
        return ret;
    if (num_bytes == 0 || num_bytes > INT_MAX)
        return front_fail(DART_ERR_INVAL, "%s: %zu bytes", what, num_bytes);
    if (MPI_Type_contiguous((int)num_bytes, MPI_BYTE, &type.mpi))
        type.mpi = MPI_DATATYPE_NULL;
    return type_finish(what, &type, newtype);
}

dart_ret_t dart_type_destroy(dart_datatype_t *dart_type)
{
    struct type *type;

    if (!front_up)
        return front_fail(DART_ERR_NOTINIT,
                          "dart_type_destroy: DART does not run");
    if (!dart_type || !type_of(*dart_type) || *dart_type < DART_TYPE_LAST)
        return front_fail(DART_ERR_INVAL,
                          "dart_type_destroy: not a type of the program's, or "
                          "destroyed already");
    type = (struct type *)*dart_type;
    *dart_type = DART_TYPE_UNDEFINED;
    type_clear(type);
    slot_give((struct slot *)type);
    return DART_OK;
}

dart_ret_t types_start(void)
{
    return DART_OK;
}

void types_stop(void)
{
    for (struct slot *s = slots; s; s = s->next) {
        if (s->type.kind == TYPE_FREED)
            continue;
        type_clear(&s->type);
        slot_give(s);
    }
}
