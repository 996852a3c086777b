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
#include "runtime/rma.h"

enum type_kind {
    TYPE_BASIC,   /* and custom: @bytes in one piece */
    TYPE_STRIDED, /* blocks of @blocklen elements, @stride elements apart */
    TYPE_INDEXED, /* @blocks blocks, each with a length and an offset */
};

struct type {
    enum type_kind kind;
    dart_datatype_t base;    /* of a basic type: itself */
    size_t bytes;            /* of one element of the base type */
    size_t elements;         /* base elements in one of this type; basic: 1 */
    MPI_Datatype mpi;        /* strided: of one block with its gap, resized */
    size_t stride, blocklen; /* strided */
    size_t blocks;           /* indexed */
    const size_t *lengths, *offsets; /* indexed, in base elements */
};

extern const struct type types_basic[];

/* NULL: not a type.  Predefined ones are small numbers, others are pointers. */
static inline const struct type *type_of(dart_datatype_t dtype)
{
    if (dtype > DART_TYPE_UNDEFINED && dtype < DART_TYPE_LAST)
        return &types_basic[dtype];
    return dtype > DART_TYPE_LAST ? (const struct type *)dtype : NULL;
}

/* For atomic operations: false if there are none on that type, that operation. */
bool type_rma(dart_datatype_t dtype, enum rma_type *out);
bool op_rma(dart_operation_t op, enum rma_op *out);

/* For reductions of @dtype; MPI_OP_NULL: none.  DART_OP_MINMAX and the program's
 * own included. */
MPI_Op op_mpi(dart_operation_t op, dart_datatype_t dtype);

dart_ret_t types_start(void);
void types_stop(void);

#endif /* DRASYNC_FRONTS_DART_TYPES_H */
