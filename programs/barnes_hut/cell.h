/*
 * cell.h - cubes of space, each of them eight smaller ones.
 *
 * All cells of all workers are of one grid: a root is around the origin, its side
 * a power of two, and so on down.  So a worker's tree of its own bodies has the
 * cells that a tree of all bodies would have, and its share of them is a run of
 * whole cells but for those at its two ends (bodies_share()).
 */
#ifndef BARNES_HUT_CELL_H
#define BARNES_HUT_CELL_H

#include <stddef.h>

#include "bodies.h"

struct cell {
    double center[3];
    double half; /* of its side */
};

/* A root that all bodies are in. */
struct cell cell_around(const struct body *const *list, size_t count);

unsigned cell_octant(const struct cell *cell, const struct body *body);

/* One eighth. */
struct cell cell_part(const struct cell *cell, unsigned octant);

/* So small that numbers cannot tell its parts from it. */
int cell_is_point(const struct cell *cell);

/*
 * Order the list by octant, otherwise as it was; octant i is from starts[i] to
 * before starts[i + 1].  @spare has room for as many.
 */
void cell_sort(const struct cell *cell, const struct body **list, size_t count,
               const struct body **spare, size_t starts[9]);

#endif /* BARNES_HUT_CELL_H */
