/*
 * A rank's points in Morton order: each cell of the octree is a range of them,
 * whose mass and center come from sums over all points before a point.
 */
#include "cloud.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* Masses are from 1 to this. */
#define MASS_MAX 16

/* A step moves a point by less than this, in each direction. */
#define MOVE_MAX 1024

/* Keys are sorted by so many bits at a time. */
#define DIGIT_BITS 12
#define DIGITS     (1 << DIGIT_BITS)

void cloud_open(struct cloud *cloud, size_t count, double opening)
{
    memset(cloud, 0, sizeof(*cloud));
    cloud->count = count;
    cloud->opening = opening;
    cloud->points = report_malloc(count * sizeof(*cloud->points));
    cloud->spare_points = report_malloc(count * sizeof(*cloud->points));
    cloud->field = report_malloc(count * sizeof(*cloud->field));
    cloud->moments = report_malloc((count + 1) * sizeof(*cloud->moments));
    cloud->keys = report_malloc(count * sizeof(*cloud->keys));
    cloud->spare_keys = report_malloc(count * sizeof(*cloud->keys));
}

void cloud_close(struct cloud *cloud)
{
    free(cloud->points);
    free(cloud->spare_points);
    free(cloud->field);
    free(cloud->moments);
    free(cloud->keys);
    free(cloud->spare_keys);
}

void cloud_reset(struct cloud *cloud, int rank)
{
    struct report_random random;
    size_t i;
    int d;

    report_random_seed(&random, (uint64_t)rank);
    for (i = 0; i < cloud->count; i++) {
        struct point *point = &cloud->points[i];

        for (d = 0; d < 3; d++)
            point->at[d] =
                (int32_t)(report_random_u64(&random) >> (64 - GRID_BITS));
        point->mass = 1 + (uint32_t)(report_random_u64(&random) % MASS_MAX);
        point->id = (uint64_t)rank * cloud->count + i;
    }
    cloud->answer = 0;
}

/* --- Order --------------------------------------------------------------- */

/* Two zero bits before each of the lowest 20 bits of @x. */
static uint64_t spread(uint64_t x)
{
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    x = (x | x << 2) & UINT64_C(0x1249249249249249);
    return x;
}

/* One pass of a radix sort, from keys to spare_keys; then they change names. */
static void sort_digit(struct cloud *cloud, unsigned shift)
{
    size_t places[DIGITS] = {0}, place = 0, i, count;
    struct key *sorted = cloud->spare_keys;

    for (i = 0; i < cloud->count; i++)
        places[cloud->keys[i].code >> shift & (DIGITS - 1)]++;
    for (i = 0; i < DIGITS; i++) {
        count = places[i];
        places[i] = place;
        place += count;
    }
    for (i = 0; i < cloud->count; i++) {
        struct key key = cloud->keys[i];

        sorted[places[key.code >> shift & (DIGITS - 1)]++] = key;
    }
    cloud->spare_keys = cloud->keys;
    cloud->keys = sorted;
}

static void sum_moments(struct cloud *cloud)
{
    struct moment moment = {0};
    size_t i;
    int d;

    for (i = 0; i < cloud->count; i++) {
        const struct point *point = &cloud->points[i];

        cloud->moments[i] = moment;
        moment.mass += point->mass;
        for (d = 0; d < 3; d++)
            moment.times_at[d] += (uint64_t)point->at[d] * point->mass;
    }
    cloud->moments[i] = moment;
}

void cloud_order(struct cloud *cloud)
{
    struct point *sorted = cloud->spare_points;
    unsigned shift;
    size_t i;

    for (i = 0; i < cloud->count; i++) {
        const int32_t *at = cloud->points[i].at;

        cloud->keys[i].code = spread((uint64_t)at[0]) << 2 |
                              spread((uint64_t)at[1]) << 1 |
                              spread((uint64_t)at[2]);
        cloud->keys[i].index = i;
    }
    for (shift = 0; shift < 3 * GRID_BITS; shift += DIGIT_BITS)
        sort_digit(cloud, shift);
    for (i = 0; i < cloud->count; i++)
        sorted[i] = cloud->points[cloud->keys[i].index];
    cloud->spare_points = cloud->points;
    cloud->points = sorted;
    sum_moments(cloud);
    memset(cloud->field, 0, cloud->count * sizeof(*cloud->field));
}

/* --- Cells --------------------------------------------------------------- */

/*
 * Of the smallest cell that has these points: how far up in a key the digit is
 * that tells its parts apart; -1 if all are at one place.
 */
static int digit_shift(const struct cloud *cloud, size_t first, size_t last)
{
    uint64_t differing = cloud->keys[first].code ^ cloud->keys[last - 1].code;

    return differing ? (63 - __builtin_clzll(differing)) / 3 * 3 : -1;
}

size_t cloud_split(const struct cloud *cloud, size_t first, size_t last,
                   size_t starts[9])
{
    int shift = digit_shift(cloud, first, last);
    size_t parts = 0, i;

    if (shift < 0)
        return 0;
    for (i = first; i < last; i++) {
        if (i == first ||
            cloud->keys[i].code >> shift != cloud->keys[i - 1].code >> shift)
            starts[parts++] = i;
    }
    starts[parts] = last;
    return parts;
}

struct cell cloud_cell(const struct cloud *cloud, size_t first, size_t last)
{
    const struct moment *before = &cloud->moments[first];
    const struct moment *through = &cloud->moments[last];
    uint64_t mass = through->mass - before->mass;
    int shift = digit_shift(cloud, first, last), d;
    struct cell cell = {.mass = (uint32_t)mass};
    double side;

    for (d = 0; d < 3; d++)
        cell.center[d] =
            (int32_t)((through->times_at[d] - before->times_at[d]) / mass);
    side = shift < 0 ? 0 : (double)(UINT64_C(2) << shift / 3);
    side *= cloud->opening;
    cell.open_squared = (float)(side * side);
    return cell;
}

/* --- Moves --------------------------------------------------------------- */

void cloud_move(struct cloud *cloud)
{
    size_t i;
    int d;

    for (i = 0; i < cloud->count; i++) {
        struct point *point = &cloud->points[i];
        uint64_t mixed = report_hash(point->id, (uint64_t)cloud->field[i]);

        cloud->answer += mixed;
        for (d = 0; d < 3; d++, mixed >>= 11)
            point->at[d] =
                (point->at[d] + (int32_t)(mixed % (2 * MOVE_MAX)) - MOVE_MAX) &
                ((1 << GRID_BITS) - 1);
    }
}
