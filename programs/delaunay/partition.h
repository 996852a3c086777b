/*
 * partition.h - which part of the plane each worker triangulates.
 *
 * The cells are the leaves of a quadtree: each node is split at the median x,
 * then each half at its own median y, so that crowded parts have small cells.
 * Every worker computes the cells on its way from the root by itself, from the
 * same points, and gets the same ones whatever order they are in.
 */
#ifndef DELAUNAY_PARTITION_H
#define DELAUNAY_PARTITION_H

#include <stddef.h>

#include "predicates.h"

/* Levels above the leaves: at most 4^3 = 64 of them. */
#define LEVELS_MAX 3

/*
 * Levels above the leaves if @workers have the same number of leaves, up to
 * @leaves_max, or -1 if there is no such quadtree.
 */
int partition_levels(int workers, int leaves_max);

/* Leaves under a node @level levels above them. */
static inline int partition_span(int level)
{
    return 1 << (2 * level);
}

/*
 * Move the points of leaf @leaf to the front of @points and return how many
 * they are.  boxes[level], for each level up to @levels, is the part of the
 * plane of the node above this leaf; no point of another node is strictly
 * inside it.
 */
size_t partition_select(struct point *points, size_t count, int levels,
                        int leaf, struct box boxes[LEVELS_MAX + 1]);

#endif /* DELAUNAY_PARTITION_H */
