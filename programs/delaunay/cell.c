/* The triangulation of one cell: see cell.h. */
#include "cell.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "insert.h"

static int compare_points(const void *a, const void *b)
{
    return point_compare(*(const struct point *)a, *(const struct point *)b);
}

/* Sort and drop repeated points; returns how many are left. */
static size_t unique(struct point *points, size_t count)
{
    size_t i, kept = 0;

    qsort(points, count, sizeof *points, compare_points);
    for (i = 0; i < count; i++)
        if (kept == 0 || !point_equal(points[kept - 1], points[i]))
            points[kept++] = points[i];
    return kept;
}

/* A copy in @store's region. */
static void *store_copy(struct store *store, const void *data,
                        size_t size_bytes)
{
    void *copy;

    if (size_bytes == 0)
        return NULL;
    copy = store->alloc(store, size_bytes);
    memcpy(copy, data, size_bytes);
    return copy;
}

static int is_final(const struct triangle *t, const struct box *box)
{
    return !triangle_is_ghost(t) &&
           point_disc_in_box(t->corner[0], t->corner[1], t->corner[2], box);
}

void cell_close(struct cell *cell, struct store *store,
                const struct triangle_list *triangles,
                const struct point *points, size_t count, const struct box *box)
{
    struct triangle_list open = {NULL, 0, 0};
    struct point *corners;
    size_t i, corner_count = 0;
    struct triangle *t;
    int k;

    for (i = 0; i < triangles->count; i++) {
        t = triangles->items[i];
        if (is_final(t, box))
            t->flags |= TRIANGLE_FINAL;
        else
            triangle_list_add(&open, t);
    }
    cell->open = store_copy(store, open.items, open.count * sizeof *open.items);
    cell->open_count = open.count;
    if (triangles->count == 0) {
        cell->waiting = store_copy(store, points, count * sizeof *points);
        cell->waiting_count = count;
        return;
    }
    corners = report_malloc(3 * open.count * sizeof *corners);
    for (i = 0; i < open.count; i++)
        for (k = 0; k < 3; k++)
            if (!point_is_infinite(open.items[i]->corner[k]))
                corners[corner_count++] = open.items[i]->corner[k];
    corner_count = unique(corners, corner_count);
    cell->waiting = store_copy(store, corners, corner_count * sizeof *corners);
    cell->waiting_count = corner_count;
    free(corners);
    triangle_list_free(&open);
}

void cell_triangulate(struct cell *cell, struct store *store,
                      struct point *points, size_t count, const struct box *box,
                      cell_progress progress)
{
    struct triangle_list triangles = {NULL, 0, 0};
    struct pool pool;
    size_t distinct = insert_order(points, count);

    cell->points = distinct;
    cell->repeated = count - distinct;
    pool_init(&pool, store);
    insert_points(&pool, points, distinct, &triangles, progress);
    pool_drain(&pool);
    cell_close(cell, store, &triangles, points, distinct, box);
    triangle_list_free(&triangles);
}
