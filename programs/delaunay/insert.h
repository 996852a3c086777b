/*
 * insert.h - Delaunay triangulation of points by incremental insertion
 * (Bowyer-Watson).
 *
 * A point goes in by removing the triangles whose circle contains it, its
 * cavity, and joining it to the cavity's border.  The next point is found by
 * walking from the last one; points go in in rounds of growing size, each along
 * a Hilbert curve, so that walks are short and no order of the input is bad.
 */
#ifndef DELAUNAY_INSERT_H
#define DELAUNAY_INSERT_H

#include "mesh.h"

/*
 * Order @points as they should be inserted, and drop repeated ones.  Returns
 * how many are left.
 */
size_t insert_order(struct point *points, size_t count);

/*
 * Triangulate @points, ordered by insert_order(), with triangles from @pool,
 * and add all of them, ghosts too, to @triangles.  None are made if the points
 * lie on one line.  @progress, if not NULL, is called now and then.
 */
void insert_points(struct pool *pool, const struct point *points, size_t count,
                   struct triangle_list *triangles,
                   void (*progress)(size_t done, size_t total));

#endif /* DELAUNAY_INSERT_H */
