/*
 * mesh.h - triangles linked by pointers, and where their memory comes from.
 *
 * The plane outside the hull is triangles too: ghosts, one for each edge of the
 * hull, whose third corner is at infinity.  So every triangle has three
 * neighbours, and there is no bounding triangle to leave traces.
 *
 * Triangles live in regions, whichever system provides those: a store is the
 * few calls that the numerical code makes on it.  A failing store ends the job;
 * its calls do not return errors.
 */
#ifndef DELAUNAY_MESH_H
#define DELAUNAY_MESH_H

#include <stddef.h>
#include <stdint.h>

#include "predicates.h"

/* Triangles asked of the store at once. */
#define POOL_BATCH 256

/*
 * Allocates in one region, which this worker has; frees objects of any region
 * that it has.
 */
struct store {
    void *(*alloc)(struct store *store, size_t size_bytes);
    void (*alloc_batch)(struct store *store, size_t size_bytes, int count,
                        void **objects);
    void (*free)(struct store *store, void *object);
};

enum triangle_flags {
    TRIANGLE_FINAL = 1,   /* no point of another cell can remove it */
    TRIANGLE_DROPPED = 2, /* joining found it covered by final triangles */
    TRIANGLE_VISITED = 4, /* collected for the result */
};

/*
 * Corners turn left; neighbour[i] lies opposite corner[i].  Infinity, if it is
 * a corner, is corner[2].
 */
struct triangle {
    struct triangle *neighbour[3];
    struct point corner[3];
    uint32_t stamp;
    uint32_t flags;
};

static inline int triangle_is_ghost(const struct triangle *t)
{
    return point_is_infinite(t->corner[2]);
}

static inline int triangle_next(int i)
{
    return i == 2 ? 0 : i + 1;
}

/* Which neighbour of @t @other is, or -1. */
static inline int triangle_index_of(const struct triangle *t,
                                    const struct triangle *other)
{
    int i;

    for (i = 0; i < 3; i++)
        if (t->neighbour[i] == other)
            return i;
    return -1;
}

/* Spare triangles of one region. */
struct pool {
    struct store *store;
    struct triangle *spare; /* linked through neighbour[0] */
};

void pool_init(struct pool *pool, struct store *store);

/* A triangle with stamp and flags 0 and the rest unset. */
struct triangle *pool_get(struct pool *pool);

/* Keep @t, which pool_get() gave, for later. */
void pool_put(struct pool *pool, struct triangle *t);

/* Give the spare triangles back to the store. */
void pool_drain(struct pool *pool);

/* A growing list of triangles in private memory; zeros are an empty one. */
struct triangle_list {
    struct triangle **items;
    size_t count, room;
};

void triangle_list_add(struct triangle_list *list, struct triangle *t);
void triangle_list_free(struct triangle_list *list);

#endif /* DELAUNAY_MESH_H */
