/*
 * Verification finds what is wrong: a right triangulation is damaged in every
 * way that the checks name, and each must be seen.
 */
#include "delaunay_helpers.h"

#define POINTS 200

static struct point points[POINTS];
static struct cell cell;
static struct result result;

static void make(void)
{
    struct report_random random;
    int i;

    report_random_seed(&random, 3);
    for (i = 0; i < POINTS; i++) {
        points[i].x = (int32_t)(report_random_u64(&random) % 1000);
        points[i].y = (int32_t)(report_random_u64(&random) % 1000);
    }
    job_node(&cell, 0, 0, 0, points, POINTS);
    result_collect(&cell, &result);
}

/* Is this what verification says? */
static void expect(const char *error_part, const char *what, uint64_t ghosts,
                   size_t count)
{
    char error[VERIFY_ERROR_BYTES] = "";
    int err;

    err = verify(&result.triangles, ghosts, points, count, error);
    printf("# %s\n", error);
    tap_ok(error_part ? err && strstr(error, error_part) : !err, what);
}

/* A triangle without ghosts around it, made the first to be looked at. */
static struct triangle *inner_triangle(void)
{
    struct triangle *t;
    size_t i;
    int k;

    for (i = 0; i < result.triangles.count; i++) {
        t = result.triangles.items[i];
        for (k = 0; k < 3; k++)
            if (triangle_is_ghost(t->neighbour[k]))
                break;
        if (k < 3)
            continue;
        result.triangles.items[i] = result.triangles.items[0];
        result.triangles.items[0] = t;
        return t;
    }
    abort();
}

/* Turn the edge 0 of @t, in a quadrilateral that allows it, or return 0. */
static int flip(struct triangle *t)
{
    struct triangle *u = t->neighbour[0], *ta, *ub;
    int k = triangle_index_of(u, t);
    struct point p = t->corner[0], q = u->corner[k];
    struct point a = t->corner[1], b = t->corner[2];

    if (triangle_is_ghost(u) || point_orient(p, a, q) <= 0 ||
        point_orient(p, q, b) <= 0)
        return 0;
    ta = t->neighbour[1];                /* beyond b p */
    ub = u->neighbour[triangle_next(k)]; /* beyond a q */
    t->corner[2] = q;
    u->corner[triangle_next(triangle_next(k))] = p;
    t->neighbour[0] = ub;
    t->neighbour[1] = u;
    u->neighbour[k] = ta;
    u->neighbour[triangle_next(k)] = t;
    ta->neighbour[triangle_index_of(ta, t)] = u;
    ub->neighbour[triangle_index_of(ub, u)] = t;
    return 1;
}

static void test_damage(void)
{
    struct triangle *t = inner_triangle(), saved = *t;
    size_t count = result.triangles.count;
    struct point moved;

    t->neighbour[1] = t->neighbour[0];
    expect("do not agree", "a neighbour that is not one", result.ghosts,
           POINTS);
    *t = saved;

    t->corner[0].x += 1;
    expect("not a point of the input", "a corner moved by one unit",
           result.ghosts, POINTS);
    *t = saved;

    t->corner[0] = saved.corner[1];
    t->corner[1] = saved.corner[0];
    expect("does not turn left", "a triangle turned over", result.ghosts,
           POINTS);
    *t = saved;

    result.triangles.count--;
    expect("areas", "a missing triangle", result.ghosts, POINTS);
    result.triangles.count = count;

    expect("ghosts", "a missing ghost", result.ghosts - 1, POINTS);

    moved = points[0];
    points[0] = (struct point){5000, 5000};
    expect("not a point of the input", "a point missing from the input",
           result.ghosts, POINTS);
    points[0] = moved;
}

static void test_missing_point(void)
{
    struct point extra = {points[0].x + 1, points[0].y + 1}, moved = points[1];
    struct cell less;
    struct result kept = result;

    /* Triangulate all but the first two points, and put one inside. */
    job_node(&less, 0, 0, 0, points + 2, POINTS - 2);
    result_collect(&less, &result);
    points[1] = extra;
    expect("is in no triangle", "a point that no triangle has", result.ghosts,
           POINTS);
    points[1] = moved;
    job_free(&less, &result);
    result = kept;
}

static void test_flip(void)
{
    size_t i = 0;

    while (!flip(result.triangles.items[i]))
        i++;
    expect("is not Delaunay", "one edge turned", result.ghosts, POINTS);
}

int main(void)
{
    make();
    expect(NULL, "a right triangulation is right", result.ghosts, POINTS);
    test_damage();
    expect(NULL, "damage mended is right again", result.ghosts, POINTS);
    test_missing_point();
    test_flip();
    job_free(&cell, &result);
    return tap_end();
}
