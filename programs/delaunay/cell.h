/*
 * cell.h - the triangulation of one node of the quadtree of regions, made from
 * its points (a leaf) or from its four children.
 *
 * A triangle whose circle lies inside the cell is final: no point of another
 * cell can be in it, so it is one of the whole triangulation.  The points at
 * which some triangle is not final wait for the level above.  There, the
 * points that waited in four cells are inserted by Bowyer-Watson into a
 * triangulation of their own, and of that the triangles that lie outside the
 * final ones are kept, for
 *   - a triangle of the joined triangulation that is not final in a child has
 *     only waiting points as corners;
 *   - being empty of points, it is empty of waiting ones, and so it is in the
 *     triangulation of these too, as is each edge where final triangles end;
 * and the triangulation is unique.  So only what is near borders is done
 * again.  Final triangles stay where they are, in their region, and are linked
 * to the new ones by pointers.
 */
#ifndef DELAUNAY_CELL_H
#define DELAUNAY_CELL_H

#include "../common/csv.h"
#include "mesh.h"

/*
 * What the owner of a cell leaves in its region for the level above.  Zeros are
 * an empty cell.
 */
struct cell {
    struct triangle **open; /* every triangle that is not final */
    size_t open_count;
    struct point *waiting; /* their corners; all points if there are none */
    size_t waiting_count;
    uint64_t points;      /* in the cell, without repeated ones */
    uint64_t repeated;    /* points dropped because they were there already */
    uint64_t fingerprint; /* of the whole input that the owner read */
    uint32_t failed;      /* 1: something below failed, see error */
    char error[CSV_ERROR_BYTES];
};

typedef void (*cell_progress)(size_t done, size_t total);

/*
 * Triangulate @points, which are those of @box and get reordered, with
 * triangles and lists in @store's region.
 */
void cell_triangulate(struct cell *cell, struct store *store,
                      struct point *points, size_t count, const struct box *box,
                      cell_progress progress);

/*
 * Join four cells into *cell, that of @box.  New triangles are in @store's
 * region; what the children no longer need is freed.  Fails, as recorded in
 * *cell, if a child did or read another input than @fingerprint.
 */
void cell_join(struct cell *cell, struct store *store, struct cell *children[4],
               const struct box *box, uint64_t fingerprint,
               cell_progress progress);

/*
 * The same in two parts.  The first needs nothing of the children but *child
 * and the points that wait, so that their triangles can be on their way
 * meanwhile; the second needs these too.
 */
struct join {
    struct point *waiting; /* those of all children, once each */
    size_t count;
    struct triangle_list triangles; /* theirs alone */
    struct pool pool;
};
void cell_join_begin(struct join *join, struct cell *cell, struct store *store,
                     struct cell *children[4], uint64_t fingerprint,
                     cell_progress progress);
void cell_join_end(struct join *join, struct cell *cell, struct store *store,
                   struct cell *children[4], const struct box *box);

/*
 * End a cell: decide which of @triangles, all that are not final yet, are
 * final in @box, and list the others and the points that wait.  If there are
 * no triangles, all of @points wait.
 */
void cell_close(struct cell *cell, struct store *store,
                const struct triangle_list *triangles,
                const struct point *points, size_t count,
                const struct box *box);

#endif /* DELAUNAY_CELL_H */
