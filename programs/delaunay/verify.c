/* Is a triangulation right?  Corners, neighbours, circles: see result.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "result.h"

/* The input, sorted and without repeated points, and what was found of it. */
struct input {
    struct point *points;
    unsigned char *is_corner;
    size_t count;
};

__attribute__((format(printf, 2, 3))) static int fail(char *error,
                                                      const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, VERIFY_ERROR_BYTES, format, args);
    va_end(args);
    return -1;
}

static int compare_points(const void *a, const void *b)
{
    return point_compare(*(const struct point *)a, *(const struct point *)b);
}

static void sort_input(struct input *input, const struct point *points,
                       size_t count)
{
    size_t i;

    input->points = report_malloc(count * sizeof *points);
    if (count)
        memcpy(input->points, points, count * sizeof *points);
    qsort(input->points, count, sizeof *points, compare_points);
    input->count = 0;
    for (i = 0; i < count; i++)
        if (i == 0 ||
            !point_equal(input->points[input->count - 1], input->points[i]))
            input->points[input->count++] = input->points[i];
    input->is_corner = report_malloc(input->count);
    memset(input->is_corner, 0, input->count);
}

/* --- Each triangle and its neighbours ------------------------------------ */

static int check_edge(const struct triangle *t, int k, char *error)
{
    int next = triangle_next(k), last = triangle_next(next), back;
    const struct triangle *other = t->neighbour[k];

    back = triangle_index_of(other, t);
    if (back < 0 ||
        !point_equal(other->corner[triangle_next(back)], t->corner[last]) ||
        !point_equal(other->corner[triangle_next(triangle_next(back))],
                     t->corner[next]))
        return fail(error,
                    "neighbours do not agree on the edge (%d, %d) (%d, %d)",
                    t->corner[next].x, t->corner[next].y, t->corner[last].x,
                    t->corner[last].y);
    if (triangle_is_ghost(other))
        return 0;
    if (point_in_circle(t->corner[0], t->corner[1], t->corner[2],
                        other->corner[back]))
        return fail(error, "the edge (%d, %d) (%d, %d) is not Delaunay",
                    t->corner[next].x, t->corner[next].y, t->corner[last].x,
                    t->corner[last].y);
    return 0;
}

static int check_corner(const struct input *input, struct point corner,
                        char *error)
{
    struct point *found;

    found = bsearch(&corner, input->points, input->count, sizeof corner,
                    compare_points);
    if (!found)
        return fail(error, "the corner (%d, %d) is not a point of the input",
                    corner.x, corner.y);
    input->is_corner[found - input->points] = 1;
    return 0;
}

/* Also counts the edges that have nothing but a ghost beyond them. */
static int check_triangles(const struct triangle_list *triangles,
                           const struct input *input, uint64_t *outer_out,
                           char *error)
{
    const struct triangle *t;
    uint64_t outer = 0;
    size_t i;
    int k;

    for (i = 0; i < triangles->count; i++) {
        t = triangles->items[i];
        for (k = 0; k < 3; k++)
            if (check_corner(input, t->corner[k], error))
                return -1;
        if (point_orient(t->corner[0], t->corner[1], t->corner[2]) <= 0)
            return fail(error, "the triangle at (%d, %d) does not turn left",
                        t->corner[0].x, t->corner[0].y);
        for (k = 0; k < 3; k++) {
            if (check_edge(t, k, error))
                return -1;
            outer += (uint64_t)triangle_is_ghost(t->neighbour[k]);
        }
    }
    *outer_out = outer;
    return 0;
}

/* --- The whole ----------------------------------------------------------- */

/*
 * Half of the hull's border, by sorted points forward or back: keeps points on
 * its edges.  Returns how many points, with both ends; @chain has room for all.
 */
static size_t half_hull(const struct input *input, int back,
                        struct point *chain)
{
    size_t i, count = 0;
    struct point p;

    for (i = 0; i < input->count; i++) {
        p = input->points[back ? input->count - 1 - i : i];
        while (count >= 2 &&
               point_orient(chain[count - 2], chain[count - 1], p) < 0)
            count--;
        chain[count++] = p;
    }
    return count;
}

static __int128 chain_area2(const struct point *chain, size_t count)
{
    __int128 area2 = 0;
    size_t i;

    for (i = 0; i + 1 < count; i++)
        area2 += (int64_t)chain[i].x * chain[i + 1].y -
                 (int64_t)chain[i].y * chain[i + 1].x;
    return area2;
}

/* Edges of the hull, with points on them as ends, and twice its area. */
static uint64_t find_hull(const struct input *input, __int128 *area2_out)
{
    struct point *chain = report_malloc(input->count * sizeof *chain);
    size_t lower, upper;

    lower = half_hull(input, 0, chain);
    *area2_out = chain_area2(chain, lower);
    upper = half_hull(input, 1, chain);
    *area2_out += chain_area2(chain, upper);
    free(chain);
    return lower + upper - 2;
}

static int check_whole(const struct triangle_list *triangles, uint64_t outer,
                       uint64_t ghosts, const struct input *input, char *error)
{
    __int128 area2 = 0, hull_area2 = 0;
    uint64_t hull, t_count = triangles->count;
    const struct triangle *t;
    size_t i;

    hull = input->count ? find_hull(input, &hull_area2) : 0;
    for (i = 0; i < triangles->count; i++) {
        t = triangles->items[i];
        area2 += point_orient(t->corner[0], t->corner[1], t->corner[2]);
    }
    if (area2 != hull_area2)
        return fail(error,
                    "the triangles' areas do not add up to the hull's: "
                    "%.17g instead of %.17g (halves of squares)",
                    (double)area2, (double)hull_area2);
    if (triangles->count == 0)
        return 0; /* the hull has no area: all points lie on a line */
    if (outer != hull || ghosts != hull)
        return fail(error,
                    "%llu outer edges and %llu ghosts, but the hull has %llu",
                    (unsigned long long)outer, (unsigned long long)ghosts,
                    (unsigned long long)hull);
    for (i = 0; i < input->count; i++)
        if (!input->is_corner[i])
            return fail(error, "the point (%d, %d) is in no triangle",
                        input->points[i].x, input->points[i].y);
    /* V - E + F = 2, where 2 E = 3 T + outer and F = T + 1. */
    if (2 * input->count + 2 * (t_count + 1) != 4 + 3 * t_count + outer)
        return fail(error,
                    "Euler's formula does not hold: %zu points, %llu "
                    "triangles, %llu outer edges",
                    input->count, (unsigned long long)t_count,
                    (unsigned long long)outer);
    return 0;
}

int verify(const struct triangle_list *triangles, uint64_t ghosts,
           const struct point *points, size_t count,
           char error[VERIFY_ERROR_BYTES])
{
    uint64_t outer = 0;
    struct input input;
    int err;

    sort_input(&input, points, count);
    err = check_triangles(triangles, &input, &outer, error);
    if (!err)
        err = check_whole(triangles, outer, ghosts, &input, error);
    free(input.points);
    free(input.is_corner);
    return err;
}
