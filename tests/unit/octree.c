/*
 * The numerical code of the octree exchange: cells and the field at points,
 * against the points themselves.
 */
#include <stdio.h>
#include <string.h>

#include "programs/octree/cloud.h"
#include "tap.h"

#define COUNT 3000

/* Does the cell say of the points from @first to before @last what is so, and
 * all its parts of theirs? */
static int cells_are_right(const struct cloud *cloud, size_t first, size_t last)
{
    struct cell cell = cloud_cell(cloud, first, last);
    size_t starts[9], parts = cloud_split(cloud, first, last, starts), part, i;
    uint64_t mass = 0, moment = 0;

    for (i = first; i < last; i++) {
        mass += cloud->points[i].mass;
        moment +=
            (uint64_t)cloud->points[i].mass * (uint64_t)cloud->points[i].at[1];
    }
    if (cell.mass != mass || cell.center[1] != (int32_t)(moment / mass))
        return 0;
    if (parts == 0)
        return cell.open_squared <= 0;
    if (parts < 2 || starts[0] != first || starts[parts] != last)
        return 0;
    for (part = 0; part < parts; part++)
        if (starts[part] >= starts[part + 1] ||
            !cells_are_right(cloud, starts[part], starts[part + 1]))
            return 0;
    return 1;
}

static int64_t field_of(const struct cloud *cloud, size_t first, size_t last,
                        const struct point *point)
{
    struct cell cell = cloud_cell(cloud, first, last);
    size_t starts[9], parts, part;
    int64_t field = 0;

    if (cell_adds(&cell, point, &field))
        return field;
    parts = cloud_split(cloud, first, last, starts);
    for (part = 0; part < parts; part++)
        field += field_of(cloud, starts[part], starts[part + 1], point);
    return field;
}

/* The largest error of the field of @cloud at @at's points, as a part of it. */
static double field_error(const struct cloud *cloud, const struct cloud *at)
{
    double error, largest = 0;

    for (size_t i = 0; i < at->count; i++) {
        const struct point *point = &at->points[i];
        int64_t tree = field_of(cloud, 0, cloud->count, point), direct = 0;

        for (size_t j = 0; j < cloud->count; j++) {
            struct cell cell = cloud_cell(cloud, j, j + 1);

            cell_adds(&cell, point, &direct);
        }
        error = fabs((double)(tree - direct) / (double)direct);
        largest = error > largest ? error : largest;
    }
    return largest;
}

static void test_field(double opening, double error_max, const char *what)
{
    struct cloud cloud, at;

    cloud_open(&cloud, COUNT, opening);
    cloud_reset(&cloud, 0);
    cloud_order(&cloud);
    cloud_open(&at, COUNT / 10, opening);
    cloud_reset(&at, 1);
    tap_ok(field_error(&cloud, &at) <= error_max, what);
    cloud_close(&cloud);
    cloud_close(&at);
}

static void test_steps(void)
{
    struct cloud cloud;
    int step, right = 1;

    cloud_open(&cloud, COUNT, 1);
    cloud_reset(&cloud, 3);
    for (step = 0; step < 20; step++) {
        cloud_order(&cloud);
        right = right && cells_are_right(&cloud, 0, cloud.count);
        cloud_move(&cloud);
    }
    tap_ok(right, "cells are right in every step");
    cloud_close(&cloud);
}

static void test_one_place(void)
{
    struct cloud cloud;
    size_t starts[9], i;

    cloud_open(&cloud, 10, 1);
    cloud_reset(&cloud, 0);
    for (i = 1; i < cloud.count; i++)
        memcpy(cloud.points[i].at, cloud.points[0].at, sizeof(int32_t[3]));
    cloud_order(&cloud);
    tap_ok(cloud_split(&cloud, 0, cloud.count, starts) == 0 &&
               cells_are_right(&cloud, 0, cloud.count),
           "points at one place are one cell without parts");
    cloud_close(&cloud);
}

int main(void)
{
    test_steps();
    test_one_place();
    test_field(1 << GRID_BITS, 0,
               "looking into all cells, the field is that "
               "of the points, to the last bit");
    test_field(1, 0.02, "from afar, it is nearly that");
    return tap_end();
}
