/*
 * cloud.h - a rank's points, ordered so that every cell of their octree is a
 * range of them, and what a cell or a point adds to the field at another point.
 *
 * All is computed from integers, or rounded to integers before it is added: the
 * sums are the same in every order.  Points of all ranks are spread over the
 * whole cube, as in programs that deal them out by number, so that no rank can
 * leave a part of its tree out.
 */
#ifndef OCTREE_CLOUD_H
#define OCTREE_CLOUD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Coordinates are from 0 to before 2^GRID_BITS. */
#define GRID_BITS 20

struct point {
    int32_t at[3];
    uint32_t mass;
    uint64_t id; /* unique in the job */
};

/* What is known of a cell from afar; a single point is a cell, too. */
struct cell {
    int32_t center[3]; /* of mass */
    uint32_t mass;
    float open_squared; /* look at the parts nearer than its root; 0: none */
};

/* Sums over the points before one. */
struct moment {
    uint64_t mass, times_at[3];
};

struct cloud {
    size_t count;
    double opening; /* look into cells from nearer than their side times this */
    uint64_t answer; /* of all steps so far */
    struct point *points;
    int64_t *field; /* at each point, to be added to */

    /* For cloud.c. */
    struct moment *moments; /* count + 1 */
    struct key {
        uint64_t code; /* the digits of the cells that it is in */
        uint64_t index;
    } * keys, *spare_keys;
    struct point *spare_points;
};

void cloud_open(struct cloud *cloud, size_t count, double opening);
void cloud_close(struct cloud *cloud);

/* Put the points back to where those of @rank start, and the answer to 0. */
void cloud_reset(struct cloud *cloud, int rank);

/* Order the points for cloud_split() and cloud_cell(), and clear the field. */
void cloud_order(struct cloud *cloud);

/* Move each point a little, by the field at it, which goes into the answer. */
void cloud_move(struct cloud *cloud);

/*
 * The parts of the smallest cell that has the points from @first to before
 * @last: part i is from starts[i] to before starts[i + 1].  Returns how many
 * parts there are, or 0 if all points are at one place.
 */
size_t cloud_split(const struct cloud *cloud, size_t first, size_t last,
                   size_t starts[9]);

/* That cell. */
struct cell cloud_cell(const struct cloud *cloud, size_t first, size_t last);

/* A tree has fewer nodes than this, as each cell has two parts or more. */
static inline size_t cloud_nodes_max(const struct cloud *cloud)
{
    return 2 * cloud->count;
}

/*
 * Add what @cell does to the field at @point; false: it is too near for its
 * size, and its parts are to be looked at instead.
 */
static inline bool cell_adds(const struct cell *cell, const struct point *point,
                             int64_t *field)
{
    double x = cell->center[0] - point->at[0];
    double y = cell->center[1] - point->at[1];
    double z = cell->center[2] - point->at[2];
    double squared = x * x + y * y + z * z;

    if (squared < (double)cell->open_squared)
        return false;
    *field += (int64_t)((double)cell->mass * 0x1p32 / sqrt(squared + 1));
    return true;
}

#endif /* OCTREE_CLOUD_H */
