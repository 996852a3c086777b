/*
 * objects.h - many small objects, each written, in a chain: what the rows on
 * allocation do, with ralloc() on our side and malloc() on theirs.
 */
#ifndef BENCHMARKS_OBJECTS_H
#define BENCHMARKS_OBJECTS_H

#include <stddef.h>
#include <stdlib.h>

#include "drasync.h"

#define OBJECTS_MANY 10000000
#define OBJECTS_TINY 10000

/* 48 bytes. */
struct object {
    struct object *next;
    size_t value[5];
};

_Static_assert(sizeof(struct object) == 48, "as the row says");

static inline void object_write(struct object *o, struct object *next,
                                size_t value)
{
    o->next = next;
    for (int i = 0; i < 5; i++)
        o->value[i] = value;
}

static inline struct object *objects_ralloc(region r, size_t count)
{
    struct object *last = NULL;

    for (size_t i = 0; i < count; i++) {
        struct object *o = ralloc(r, sizeof(*o));

        object_write(o, last, i);
        last = o;
    }
    return last;
}

/* NULL: no memory. */
static inline struct object *objects_malloc(size_t count)
{
    struct object *last = NULL;

    for (size_t i = 0; i < count; i++) {
        struct object *o = malloc(sizeof(*o));

        if (!o)
            return NULL;
        object_write(o, last, i);
        last = o;
    }
    return last;
}

static inline void objects_free(struct object *last)
{
    while (last) {
        struct object *next = last->next;

        free(last);
        last = next;
    }
}

#endif
