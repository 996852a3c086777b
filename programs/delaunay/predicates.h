/*
 * predicates.h - the exact geometry that Delaunay triangulation stands on.
 *
 * Coordinates are integers of at most 26 bits and a sign, so 128-bit integers
 * hold every value exactly.  Four points on one circle are a tie; it is broken
 * by lifting every point by an infinitesimal height, the larger the later the
 * point comes in the order of point_compare().  These heights depend on the
 * points alone, and the points lifted onto the paraboloid are then in general
 * position: the Delaunay triangulation is unique, however it is computed.
 *
 * Heights do not move points in the plane: points on a line stay on it, and
 * points on the hull's edges are corners of the triangulation.
 *
 * Callers guarantee |x|, |y| <= POINT_COORDINATE_MAX unless said otherwise.
 */
#ifndef DELAUNAY_PREDICATES_H
#define DELAUNAY_PREDICATES_H

#include <stdint.h>

#define POINT_COORDINATE_MAX ((INT32_C(1) << 26) - 1)

struct point {
    int32_t x, y;
};

/* The corner at infinity of the triangles outside the hull. */
#define POINT_INFINITY ((struct point){INT32_MIN, INT32_MIN})

/* A rectangle; sides may be infinite. */
struct box {
    double x_min, y_min, x_max, y_max;
};

static inline int point_is_infinite(struct point a)
{
    return a.x == INT32_MIN;
}

static inline int point_equal(struct point a, struct point b)
{
    return a.x == b.x && a.y == b.y;
}

/* By x, then by y: below, at or above 0. */
static inline int point_compare(struct point a, struct point b)
{
    if (a.x != b.x)
        return a.x < b.x ? -1 : 1;
    return (a.y > b.y) - (a.y < b.y);
}

/* Twice the area of @a @b @c: above 0 if they turn left, 0 on a line. */
static inline int64_t point_orient(struct point a, struct point b,
                                   struct point c)
{
    return ((int64_t)b.x - a.x) * ((int64_t)c.y - a.y) -
           ((int64_t)b.y - a.y) * ((int64_t)c.x - a.x);
}

/*
 * 1 if @d is inside the circle through @a @b @c, which turn left, else 0; ties
 * are broken as said above.  The four points are distinct.
 */
int point_in_circle(struct point a, struct point b, struct point c,
                    struct point d);

/* 1 if @p, on the line through @a and @b, lies between them, else 0. */
int point_between(struct point a, struct point b, struct point p);

/*
 * 1 only if the closed disc through @a @b @c, which turn left, is inside the
 * open @box.  May say 0 when the disc is inside by a hair.
 */
int point_disc_in_box(struct point a, struct point b, struct point c,
                      const struct box *box);

/* A position on a Hilbert curve through the plane, 54 bits. */
uint64_t point_hilbert(struct point a);

#endif /* DELAUNAY_PREDICATES_H */
