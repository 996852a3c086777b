/*
 * native_objects.h - lists of objects of many sizes, for the tests of
 * allocation.
 */
#ifndef NATIVE_OBJECTS_H
#define NATIVE_OBJECTS_H

#include "native_check.h"

struct object {
    struct object *next;
    size_t bytes;
    unsigned char fill[];
};

/* An object of some size on @list, filled with @tag. */
static inline struct object *make(drasync_region_t r, struct object *list,
                                  size_t i, unsigned char tag)
{
    size_t bytes = i * 37 % (i % 50 ? 120 : 900);
    void *v;

    OK(drasync_alloc(r, sizeof(struct object) + bytes, &v));
    struct object *o = v;
    o->next = list;
    o->bytes = bytes;
    memset(o->fill, tag, bytes);
    return o;
}

/* How many there are; all must be as they were made. */
static inline size_t look(const struct object *o, unsigned char tag)
{
    size_t count = 0;

    for (; o; o = o->next, count++)
        for (size_t i = 0; i < o->bytes; i++)
            CHECK(o->fill[i] == tag);
    return count;
}

/* Free every other one. */
static inline void thin(struct object *o)
{
    while (o && o->next) {
        struct object *gone = o->next;

        o->next = gone->next;
        OK(drasync_free(gone));
        o = o->next;
    }
}

static inline void three(drasync_region_t r)
{
    void *v;

    for (int i = 0; i < 3; i++) {
        OK(drasync_alloc(r, 48, &v));
        memset(v, 7, 48);
    }
}

#endif /* NATIVE_OBJECTS_H */
