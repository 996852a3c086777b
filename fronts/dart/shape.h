/*
 * shape.h - how the elements of a type lie in memory, and copying from one
 * shape into another.
 *
 * Types are as dart_type_create_*() made them; counts are in elements of the
 * base type and a multiple of the type's.
 */
#ifndef DRASYNC_FRONTS_DART_SHAPE_H
#define DRASYNC_FRONTS_DART_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "fronts/dart/types.h"

/* From the first byte's base to the end of the last; false: it is too much. */
bool shape_span(const struct type *type, size_t nelem, size_t *bytes_out);

/* On both sides @nelem elements of the same size. */
void shape_copy(char *to, const struct type *to_type, const char *from,
                const struct type *from_type, size_t nelem);

/* The pieces of a shape, one after the other, in bytes. */
struct shape_cursor {
    const struct type *type;
    size_t base; /* of this one of the type's, indexed */
    size_t block;
    size_t at, bytes; /* the piece that is next; not 0 while any are left */
};

void shape_begin(struct shape_cursor *cursor, const struct type *type,
                 size_t nelem);
/* @bytes of the piece are done. */
void shape_advance(struct shape_cursor *cursor, size_t bytes);

/* The same as runs of blocks; where pieces lie regularly they become one. */
struct shape_runs {
    struct rma_runs runs; /* first */
    struct shape_cursor cursor;
    size_t left;
};

void shape_runs_begin(struct shape_runs *runs, const struct type *type,
                      size_t nelem);

/* Do they lie in one piece? */
bool shape_in_one_piece(const struct type *type, size_t nelem);

/* Small sizes without a call, and in one access.  They may overlap: a buffer may
 * be a part of what it is moved to. */
static inline void shape_copy_bytes(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1:
        memcpy(to, from, 1);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memmove(to, from, bytes);
    }
}

#endif /* DRASYNC_FRONTS_DART_SHAPE_H */
