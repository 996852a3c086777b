/*
 * result.h - the finished triangulation: its size, its hash, and whether it is
 * right.
 */
#ifndef DELAUNAY_RESULT_H
#define DELAUNAY_RESULT_H

#include "cell.h"

#define VERIFY_ERROR_BYTES 256

struct result {
    struct triangle_list triangles; /* without ghosts */
    uint64_t ghosts;                /* triangles outside, one a hull edge */
    uint64_t hull;                  /* points on the hull's border */
    uint64_t hash; /* over the set of triangles, in whatever order */
};

/* Collect the triangulation of the root cell, by its pointers, once. */
void result_collect(const struct cell *root, struct result *result_out);

void result_free(struct result *result);

/*
 * Is @triangles the Delaunay triangulation of @points (repeated ones allowed)
 * with @ghosts triangles outside?  Goes by the definition, not by how it was
 * made:
 *   - every triangle turns left, and neighbours agree on their common edge;
 *   - across every edge, the far corner is not inside the triangle's circle;
 *   - corners are input points, and every input point is a corner;
 *   - the triangles' areas add up to that of the hull, found separately;
 *   - Euler's formula holds, and the outer edges are those of the hull.
 *
 * Returns 0, or -1 with a line that says what is wrong first in @error.
 */
int verify(const struct triangle_list *triangles, uint64_t ghosts,
           const struct point *points, size_t count,
           char error[VERIFY_ERROR_BYTES]);

#endif /* DELAUNAY_RESULT_H */
