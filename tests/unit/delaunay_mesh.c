/*
 * Whole triangulations, as by 1, 4, 16 and 64 workers, against the definition:
 * a triple of points is a triangle exactly if no other point is in its circle.
 */
#include "delaunay_helpers.h"

#define POINTS_MAX 4000

static struct report_random source;

static int compare(const void *a, const void *b)
{
    return point_compare(*(const struct point *)a, *(const struct point *)b);
}

static size_t without_repeats(struct point *points, size_t count)
{
    size_t i, kept = 0;

    qsort(points, count, sizeof *points, compare);
    for (i = 0; i < count; i++)
        if (kept == 0 || compare(&points[kept - 1], &points[i]))
            points[kept++] = points[i];
    return kept;
}

/* Does any point but the corners lie in the circle through three of them? */
static int circle_is_empty(const struct point *p, size_t count, size_t i,
                           size_t j, size_t k)
{
    size_t other;

    for (other = 0; other < count; other++)
        if (other != i && other != j && other != k &&
            point_in_circle(p[i], p[j], p[k], p[other]))
            return 0;
    return 1;
}

/* All triangles by brute force, with the hash of them; returns how many. */
static size_t brute_force(const struct point *points, size_t count,
                          uint64_t *hash_out)
{
    struct point *p = report_malloc(count * sizeof *p);
    struct triangle t, ghost;
    struct cell cell = {0};
    struct result result;
    size_t i, j, k, found = 0;
    int side;

    memset(&ghost, 0, sizeof ghost);
    ghost.flags = TRIANGLE_VISITED;
    ghost.corner[2] = POINT_INFINITY;
    memcpy(p, points, count * sizeof *p);
    count = without_repeats(p, count);
    *hash_out = 0;
    for (i = 0; i < count; i++)
        for (j = i + 1; j < count; j++)
            for (k = j + 1; k < count; k++) {
                struct triangle *open[1] = {&t};

                if (point_orient(p[i], p[j], p[k]) == 0)
                    continue;
                side = point_orient(p[i], p[j], p[k]) > 0;
                if (!circle_is_empty(p, count, i, side ? j : k, side ? k : j))
                    continue;
                found++;
                memset(&t, 0, sizeof t);
                t.corner[0] = p[i];
                t.corner[1] = p[j];
                t.corner[2] = p[k];
                t.neighbour[0] = t.neighbour[1] = t.neighbour[2] = &ghost;
                cell.open = open;
                cell.open_count = 1;
                result_collect(&cell, &result);
                *hash_out += result.hash;
                result_free(&result);
            }
    free(p);
    return found;
}

/* The same triangulation for every number of workers, and nothing leaks. */
static int agrees(const struct point *points, size_t count, int check_brute)
{
    static const int workers[] = {1, 4, 16, 64};
    uint64_t hash = 0, hull = 0;
    size_t triangles = 0, i;
    struct result result;
    struct cell cell;
    int bad = 0;

    if (check_brute)
        triangles = brute_force(points, count, &hash);
    for (i = 0; i < sizeof workers / sizeof *workers; i++) {
        bad += job_run(&cell, &result, workers[i], points, count) != 0;
        if (i == 0 && !check_brute) {
            hash = result.hash;
            triangles = result.triangles.count;
        }
        if (i == 0)
            hull = result.hull;
        if (result.hash != hash || result.triangles.count != triangles ||
            result.hull != hull) {
            printf("# %d workers: %zu triangles, hash %llx; expected %zu, "
                   "%llx\n",
                   workers[i], result.triangles.count,
                   (unsigned long long)result.hash, triangles,
                   (unsigned long long)hash);
            bad++;
        }
        if (job_free(&cell, &result) != 0) {
            printf("# %d workers: %ld objects left\n", workers[i],
                   heap_objects);
            bad++;
        }
    }
    return bad == 0;
}

static void test_random_small(void)
{
    struct point points[60];
    int trial, bad = 0;
    size_t count, i;
    uint64_t size;

    for (trial = 0; trial < 150; trial++) {
        count = report_random_u64(&source) % 36;
        size = 2 + report_random_u64(&source) % (trial % 2 ? 8 : 1000);
        for (i = 0; i < count; i++) {
            points[i].x = (int32_t)(report_random_u64(&source) % size) - 5;
            points[i].y = (int32_t)(report_random_u64(&source) % size) - 5;
        }
        bad += !agrees(points, count, 1);
    }
    tap_ok(!bad, "small random sets are triangulated as brute force does");
}

static void test_grids(void)
{
    struct point points[1600];
    size_t count = 0;
    int x, y;

    for (y = 0; y < 10; y++)
        for (x = 0; x < 10; x++)
            points[count++] = (struct point){x, y};
    tap_ok(agrees(points, count, 1),
           "a lattice of 10 x 10 is triangulated as brute force does");
    for (count = 0, y = 0; y < 40; y++)
        for (x = 0; x < 40; x++)
            points[count++] = (struct point){1000 * x, -700 * y};
    tap_ok(agrees(points, count, 0),
           "a lattice of 40 x 40 is the same for all numbers of workers");
}

/* Points of one circle: x^2 + y^2 = 5^2 13^2 17^2. */
static void test_circle(void)
{
    int32_t radius = 5 * 13 * 17, x, y;
    struct point points[200];
    size_t count = 0;

    for (x = -radius; x <= radius; x++)
        for (y = -radius; y <= radius; y++)
            if (x * x + y * y == radius * radius && count < 198)
                points[count++] = (struct point){x, y};
    printf("# %zu points on a circle\n", count);
    tap_ok(agrees(points, count, 1),
           "points on one circle are triangulated as brute force does");
    points[count++] = (struct point){0, 0};
    tap_ok(agrees(points, count, 1), "and with their centre");
}

static void test_lines(void)
{
    struct point points[POINTS_MAX];
    struct result result;
    struct cell cell;
    size_t count = 0;
    int32_t i;

    for (i = 0; i < 300; i++)
        points[count++] = (struct point){3 * i, -2 * i};
    job_run(&cell, &result, 16, points, count);
    tap_ok(result.triangles.count == 0 && result.hull == 300 &&
               job_free(&cell, &result) == 0,
           "points on one line have no triangles, and all are on the hull");
    tap_ok(agrees(points, count, 0), "whatever the number of workers");
    points[count++] = (struct point){1, 1};
    tap_ok(agrees(points, count, 0),
           "a line and one point beside it: a fan without flat triangles");
    for (i = 0; i < 300; i++)
        points[count++] = (struct point){3 * i, 100000};
    tap_ok(agrees(points, count, 0), "two lines");
    for (count = 0, i = 0; i < 500; i++) {
        points[count++] = (struct point){0, i * i};
        points[count++] = (struct point){500, -i};
        points[count++] = (struct point){i, 0};
    }
    tap_ok(agrees(points, count, 0), "long columns of points of one x");
}

static void test_few(void)
{
    struct point points[64];
    size_t count;
    int i, bad = 0;

    for (count = 0; count < 4; count++) {
        points[count] =
            (struct point){(int32_t)count, (int32_t)(count * count)};
        bad += !agrees(points, count, 1);
    }
    tap_ok(!bad, "none, one, two and three points");
    for (i = 0; i < 64; i++)
        points[i] = (struct point){7, -7};
    tap_ok(agrees(points, 64, 1), "one point many times");
    for (i = 0; i < 64; i++)
        points[i] = (struct point){i % 3, i % 2};
    tap_ok(agrees(points, 64, 1), "few points many times");
}

static void test_large(void)
{
    struct point points[POINTS_MAX];
    int i, m = POINT_COORDINATE_MAX;

    for (i = 0; i < POINTS_MAX; i++) {
        points[i].x = (int32_t)(report_random_u64(&source) >> 37) - m;
        points[i].y = (int32_t)(report_random_u64(&source) >> 37) - m;
    }
    points[0] = (struct point){-m, -m};
    points[1] = (struct point){m, m};
    points[2] = (struct point){-m, m};
    points[3] = (struct point){m, -m};
    tap_ok(agrees(points, POINTS_MAX, 0),
           "random points to the largest coordinates");
    for (i = 0; i < POINTS_MAX; i++) {
        double angle = report_random_unit(&source), r;

        r = report_random_unit(&source);
        points[i].x = (int32_t)(1000 * r * r * r * r * (angle - 0.5));
        points[i].y = (int32_t)(30000 * r * r * r * r);
        if (i % 3 == 0)
            points[i].x += 1000000;
    }
    tap_ok(agrees(points, POINTS_MAX, 0), "crowded points with many repeats");
}

int main(void)
{
    report_random_seed(&source, 2);
    test_few();
    test_random_small();
    test_grids();
    test_circle();
    test_lines();
    test_large();
    return tap_end();
}
