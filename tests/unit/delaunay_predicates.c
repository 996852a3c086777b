/*
 * The exact predicates: against the definitions computed another way, on small
 * coordinates with many ties and on the largest ones.
 */
#include "delaunay_helpers.h"

#define TRIALS 300000

static struct report_random source;

static int32_t draw(int32_t size)
{
    return (int32_t)(report_random_u64(&source) % (uint64_t)(2 * size + 1)) -
           size;
}

static struct point draw_point(int32_t size)
{
    struct point p = {draw(size), 0};

    p.y = draw(size);
    return p;
}

/* The determinant of a 3x3 matrix. */
static __int128 det3(__int128 m[3][3])
{
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
           m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
           m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

/* The determinant of rows (x, y, w, 1) of four points, w given: above 0 if the
 * fourth is below the plane of the others, for these turning left. */
static __int128 det4(const struct point p[4], const __int128 w[4])
{
    __int128 m[3][3];
    int i;

    for (i = 0; i < 3; i++) {
        m[i][0] = p[i].x - p[3].x;
        m[i][1] = p[i].y - p[3].y;
        m[i][2] = w[i] - w[3];
    }
    return det3(m);
}

/*
 * In-circle by real heights: x^2 + y^2, times a large number, plus a small
 * height for each point that grows steeply with its rank among the four.
 */
static int in_circle_by_heights(const struct point p[4])
{
    __int128 w[4];
    int i, j, rank;

    for (i = 0; i < 4; i++) {
        for (rank = 0, j = 0; j < 4; j++)
            rank += point_compare(p[i], p[j]) > 0;
        w[i] = ((__int128)p[i].x * p[i].x + (__int128)p[i].y * p[i].y) *
                   ((__int128)1 << 60) +
               ((__int128)1 << (15 * rank));
    }
    return det4(p, w) > 0;
}

static int distinct(const struct point p[4])
{
    int i, j;

    for (i = 0; i < 4; i++)
        for (j = 0; j < i; j++)
            if (point_equal(p[i], p[j]))
                return 0;
    return 1;
}

static void test_in_circle_small(void)
{
    int wrong = 0, ties = 0, i;
    struct point p[4];
    __int128 w[4];

    for (i = 0; i < TRIALS; i++) {
        int k;

        for (k = 0; k < 4; k++) {
            p[k] = draw_point(i % 2 ? 3 : 40);
            w[k] = p[k].x * p[k].x + p[k].y * p[k].y;
        }
        if (!distinct(p) || point_orient(p[0], p[1], p[2]) <= 0)
            continue;
        ties += det4(p, w) == 0;
        wrong +=
            point_in_circle(p[0], p[1], p[2], p[3]) != in_circle_by_heights(p);
    }
    printf("# %d ties\n", ties);
    tap_ok(wrong == 0 && ties > 1000,
           "in-circle agrees with points lifted by real heights");
}

static void test_in_circle_large(void)
{
    int32_t m = POINT_COORDINATE_MAX;
    struct point square[4] = {{-m, -m}, {m, -m}, {m, m}, {-m, m}};
    struct point inside = {m, m - 1}, near[3] = {{-m, -m}, {m, -m}, {m - 1, m}};
    int first, second;

    tap_ok(point_in_circle(square[0], square[1], square[2], inside) == 1,
           "in-circle tells a point inside by one unit, largest coordinates");
    tap_ok(point_in_circle(near[0], near[1], near[2], square[2]) == 0,
           "in-circle tells a point outside by one unit, largest coordinates");
    first = point_in_circle(square[0], square[1], square[2], square[3]);
    second = point_in_circle(square[1], square[2], square[3], square[0]);
    tap_ok(first != second &&
               first == point_in_circle(square[2], square[3], square[0],
                                        square[1]) &&
               second ==
                   point_in_circle(square[3], square[0], square[1], square[2]),
           "of the largest square one diagonal is right, from both sides");
}

static void test_orient(void)
{
    struct point a = {-POINT_COORDINATE_MAX, -POINT_COORDINATE_MAX};
    struct point b = {0, 0};
    struct point c = {POINT_COORDINATE_MAX, POINT_COORDINATE_MAX};
    struct point above = {POINT_COORDINATE_MAX - 1, POINT_COORDINATE_MAX};

    tap_ok(point_orient(a, b, c) == 0 && point_orient(a, c, above) > 0 &&
               point_orient(c, a, above) < 0,
           "orientation is exact at the largest coordinates");
    tap_ok(point_between(a, c, b) && !point_between(a, b, c) &&
               !point_between(a, c, a),
           "between means strictly between");
}

/* A disc said to be inside has no integer point of the box's border in it. */
static void test_disc(void)
{
    struct box box = {-20, -20, 20, 20};
    int wrong = 0, inside = 0, i, k;
    struct point p[4];

    for (i = 0; i < TRIALS / 10; i++) {
        for (k = 0; k < 3; k++)
            p[k] = draw_point(15);
        if (point_orient(p[0], p[1], p[2]) <= 0 ||
            !point_disc_in_box(p[0], p[1], p[2], &box))
            continue;
        inside++;
        for (k = -20; k <= 20; k++) {
            struct point border[4] = {{k, -20}, {k, 20}, {-20, k}, {20, k}};
            int b;

            for (b = 0; b < 4; b++)
                wrong += point_in_circle(p[0], p[1], p[2], border[b]);
        }
    }
    tap_ok(wrong == 0 && inside > 1000,
           "discs inside a box hold no point of its border");
}

static void test_hilbert(void)
{
    struct point p = {-(1 << 26) + 1, -(1 << 26) + 1}, q = p;

    q.x++;
    tap_ok(point_hilbert(p) != point_hilbert(q) &&
               point_hilbert(p) < (UINT64_C(1) << 54),
           "Hilbert positions are distinct and have 54 bits");
}

int main(void)
{
    report_random_seed(&source, 1);
    test_orient();
    test_in_circle_small();
    test_in_circle_large();
    test_disc();
    test_hilbert();
    return tap_end();
}
