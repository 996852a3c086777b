/*
 * types.h - DART's data types and operations, as bytes and as MPI has them.
 */
#ifndef DRASYNC_FRONTS_DART_TYPES_H
#define DRASYNC_FRONTS_DART_TYPES_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dash/dart/if/dart_types.h"
#include "runtime/rma/rma.h"

enum type_kind {
    TYPE_FREED,
    TYPE_BASIC,   /* and custom: @bytes in one piece */
    TYPE_STRIDED, /* blocks of @blocklen elements, @stride elements apart */
    TYPE_INDEXED, /* @blocks blocks, each with a length and an offset */
};

/*
 * Programs count in elements of the base type: of a strided or indexed type
 * they name a multiple of @elements.
 */
struct type {
    enum type_kind kind;
    dart_datatype_t base; /* of a basic type, or a custom one: itself */
    size_t bytes;         /* of one element of the base type */
    size_t elements;      /* base elements in one of this type; basic: 1 */
    size_t extent_bytes;  /* from one of this type to the next */
    MPI_Datatype mpi;     /* one of this type (strided: a block and its gap) */
    size_t stride, blocklen;         /* strided; blocklen <= stride */
    size_t blocks;                   /* indexed */
    const size_t *lengths, *offsets; /* indexed, in base elements */
};

extern struct type types_basic[];

/* NULL: not a type, or one that was destroyed.  Predefined ones are small
 * numbers, others are pointers to memory that stays until dart_exit. */
static inline const struct type *type_of(dart_datatype_t dtype)
{
    const struct type *type;

    if (dtype > DART_TYPE_UNDEFINED && dtype < DART_TYPE_LAST)
        return &types_basic[dtype];
    if (dtype <= DART_TYPE_LAST)
        return NULL;
    type = (const struct type *)dtype;
    return type->kind == TYPE_FREED ? NULL : type;
}

/* Elements in one piece: basic or custom. */
static inline bool type_in_one_piece(const struct type *type)
{
    return type && type->kind == TYPE_BASIC;
}

/* For atomic operations: false if there are none on that type, that
 * operation. */
bool type_rma(dart_datatype_t dtype, enum rma_type *out);
bool op_rma(dart_operation_t op, enum rma_op *out);

dart_ret_t types_start(void);
void types_stop(void);

#endif /* DRASYNC_FRONTS_DART_TYPES_H */
