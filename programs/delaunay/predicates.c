/* Exact geometry with 128-bit integers: see predicates.h. */
#include "predicates.h"

#include <math.h>

/* Hilbert curve over a square of this many bits a side. */
#define HILBERT_BITS 27

/* Four points on one circle: the one lifted highest decides. */
static int break_tie(struct point a, struct point b, struct point c,
                     struct point d)
{
    /* In each case, the sign of how much lifting that point lifts the plane
     * through a, b and c at d, against d itself. */
    if (point_compare(d, a) > 0 && point_compare(d, b) > 0 &&
        point_compare(d, c) > 0)
        return 0;
    if (point_compare(a, b) > 0 && point_compare(a, c) > 0)
        return point_orient(d, b, c) > 0;
    if (point_compare(b, c) > 0)
        return point_orient(d, c, a) > 0;
    return point_orient(d, a, b) > 0;
}

int point_in_circle(struct point a, struct point b, struct point c,
                    struct point d)
{
    int64_t ax = (int64_t)a.x - d.x, ay = (int64_t)a.y - d.y;
    int64_t bx = (int64_t)b.x - d.x, by = (int64_t)b.y - d.y;
    int64_t cx = (int64_t)c.x - d.x, cy = (int64_t)c.y - d.y;
    __int128 det;

    /* Differences have 27 bits, squares' sums and minors 55, products 110. */
    det = (__int128)(ax * ax + ay * ay) * (bx * cy - by * cx) +
          (__int128)(bx * bx + by * by) * (cx * ay - cy * ax) +
          (__int128)(cx * cx + cy * cy) * (ax * by - ay * bx);
    if (det != 0)
        return det > 0;
    return break_tie(a, b, c, d);
}

int point_between(struct point a, struct point b, struct point p)
{
    return point_compare(a, p) * point_compare(p, b) > 0;
}

int point_disc_in_box(struct point a, struct point b, struct point c,
                      const struct box *box)
{
    int64_t bx = (int64_t)b.x - a.x, by = (int64_t)b.y - a.y;
    int64_t cx = (int64_t)c.x - a.x, cy = (int64_t)c.y - a.y;
    int64_t bb = bx * bx + by * by, cc = cx * cx + cy * cy;
    double area4 = 2.0 * (double)(bx * cy - by * cx);
    double x, y, radius, margin;

    /* The centre, relative to a: exact but for the last roundings, so that
     * its error is relative to its size, and a margin covers it. */
    x = (double)((__int128)cy * bb - (__int128)by * cc) / area4;
    y = (double)((__int128)bx * cc - (__int128)cx * bb) / area4;
    radius = sqrt(x * x + y * y);
    margin = 1e-14 * (radius + (double)POINT_COORDINATE_MAX);
    return a.x + x - radius > box->x_min + margin &&
           a.x + x + radius < box->x_max - margin &&
           a.y + y - radius > box->y_min + margin &&
           a.y + y + radius < box->y_max - margin;
}

uint64_t point_hilbert(struct point a)
{
    uint32_t x = (uint32_t)(a.x + (1 << 26)), y = (uint32_t)(a.y + (1 << 26));
    uint32_t side, right, up, swap;
    uint64_t index = 0;

    for (side = UINT32_C(1) << (HILBERT_BITS - 1); side > 0; side /= 2) {
        right = (x & side) != 0;
        up = (y & side) != 0;
        index += (uint64_t)side * side * ((3 * right) ^ up);
        if (!up) {
            if (right) {
                x = ~x;
                y = ~y;
            }
            swap = x;
            x = y;
            y = swap;
        }
    }
    return index;
}
