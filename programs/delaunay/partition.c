/* Which part of the plane is whose: see partition.h. */
#include "partition.h"

#include <math.h>

#include "../common/report.h"

int partition_levels(int workers, int leaves_max)
{
    int level, leaves;

    for (level = 0; level <= LEVELS_MAX; level++)
        for (leaves = 1; leaves <= leaves_max; leaves++)
            if (partition_span(level) == workers * leaves)
                return level;
    return -1;
}

static int32_t coordinate(const struct point *p, int use_y)
{
    return use_y ? p->y : p->x;
}

/*
 * Move the points below @value to the front; returns how many they are.
 */
static size_t split(struct point *points, size_t count, int use_y,
                    int64_t value)
{
    struct point swap;
    size_t i, below = 0;

    for (i = 0; i < count; i++) {
        if (coordinate(&points[i], use_y) >= value)
            continue;
        swap = points[below];
        points[below++] = points[i];
        points[i] = swap;
    }
    return below;
}

/* The coordinate that would stand at count / 2 if they were sorted. */
static int32_t median(struct point *points, size_t count, int use_y)
{
    struct report_random random;
    size_t rank = count / 2, below, equal;
    int32_t pivot;

    report_random_seed(&random, count);
    for (;;) {
        pivot = coordinate(&points[report_random_u64(&random) % count], use_y);
        below = split(points, count, use_y, pivot);
        if (rank < below) {
            count = below;
            continue;
        }
        equal = split(points + below, count - below, use_y, (int64_t)pivot + 1);
        if (rank < below + equal)
            return pivot;
        points += below + equal;
        count -= below + equal;
        rank -= below + equal;
    }
}

/* Keep one half of @points, and of the interval from *min to *max. */
static size_t keep_half(struct point *points, size_t count, int use_y,
                        int upper, double *min, double *max)
{
    struct point swap;
    size_t below, i;
    int32_t value;

    if (count == 0)
        return 0; /* no triangle will ask for the box */
    value = median(points, count, use_y);
    below = split(points, count, use_y, value);
    if (!upper) {
        *max = value;
        return below;
    }
    *min = value;
    for (i = 0; i < count - below && below > 0; i++) {
        swap = points[i];
        points[i] = points[below + i];
        points[below + i] = swap;
    }
    return count - below;
}

size_t partition_select(struct point *points, size_t count, int levels,
                        int leaf, struct box boxes[LEVELS_MAX + 1])
{
    struct box box = {-INFINITY, -INFINITY, INFINITY, INFINITY};
    int level, child;

    boxes[levels] = box;
    for (level = levels - 1; level >= 0; level--) {
        child = leaf / partition_span(level) % 4;
        count = keep_half(points, count, 0, child & 1, &box.x_min, &box.x_max);
        count = keep_half(points, count, 1, child >> 1, &box.y_min, &box.y_max);
        boxes[level] = box;
    }
    return count;
}
