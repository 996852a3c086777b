/*
 * delaunay_helpers.h - what the unit tests of the Delaunay program share: a
 * store in private memory that counts objects, and a run of all workers of a
 * job one after the other in one process.
 */
#ifndef TESTS_UNIT_DELAUNAY_HELPERS_H
#define TESTS_UNIT_DELAUNAY_HELPERS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "programs/common/report.h"
#include "programs/delaunay/partition.h"
#include "programs/delaunay/result.h"
#include "tap.h"

/* --- A store ------------------------------------------------------------- */

static long heap_objects;

static inline void *heap_alloc(struct store *store, size_t size_bytes)
{
    (void)store;
    heap_objects++;
    return report_malloc(size_bytes);
}

static inline void heap_alloc_batch(struct store *store, size_t size_bytes,
                                    int count, void **objects)
{
    int i;

    for (i = 0; i < count; i++)
        objects[i] = heap_alloc(store, size_bytes);
}

static inline void heap_free(struct store *store, void *object)
{
    (void)store;
    heap_objects--;
    free(object);
}

static struct store heap_store = {heap_alloc, heap_alloc_batch, heap_free};

/* --- A job --------------------------------------------------------------- */

/* Triangulate the node of @worker at @level and all below it. */
static inline void job_node(struct cell *cell, int level, int levels,
                            int worker, const struct point *points,
                            size_t count)
{
    struct cell children[4], *pointers[4];
    struct box boxes[LEVELS_MAX + 1];
    struct point *copy;
    size_t selected;
    int c;

    copy = report_malloc(count * sizeof *copy);
    if (count)
        memcpy(copy, points, count * sizeof *copy);
    selected = partition_select(copy, count, levels, worker, boxes);
    if (level == 0) {
        memset(cell, 0, sizeof *cell);
        cell_triangulate(cell, &heap_store, copy, selected, &boxes[0], NULL);
        free(copy);
        return;
    }
    free(copy);
    for (c = 0; c < 4; c++) {
        pointers[c] = &children[c];
        job_node(&children[c], level - 1, levels,
                 worker + c * partition_span(level - 1), points, count);
    }
    cell_join(cell, &heap_store, pointers, &boxes[level], 0, NULL);
}

/*
 * Triangulate @points as @workers would, into *cell and *result, and verify.
 * Returns 0, or -1 after a TAP comment that says what is wrong.
 */
static inline int job_run(struct cell *cell, struct result *result, int workers,
                          const struct point *points, size_t count)
{
    char error[VERIFY_ERROR_BYTES];
    int levels = partition_levels(workers, 1);

    job_node(cell, levels, levels, 0, points, count);
    result_collect(cell, result);
    if (verify(&result->triangles, result->ghosts, points, count, error)) {
        printf("# %d workers: %s\n", workers, error);
        return -1;
    }
    return 0;
}

/* Free what job_run() made; returns how many objects are left over. */
static inline long job_free(struct cell *cell, struct result *result)
{
    struct triangle_list all = {NULL, 0, 0};
    struct triangle *t;
    size_t i;
    int k;

    /* Each ghost is the neighbour of one triangle, across a hull edge. */
    for (i = 0; i < result->triangles.count; i++)
        triangle_list_add(&all, result->triangles.items[i]);
    for (i = 0; i < result->triangles.count; i++) {
        t = result->triangles.items[i];
        for (k = 0; k < 3; k++)
            if (triangle_is_ghost(t->neighbour[k]))
                triangle_list_add(&all, t->neighbour[k]);
    }
    for (i = 0; i < all.count; i++)
        heap_free(&heap_store, all.items[i]);
    triangle_list_free(&all);
    if (cell->open)
        heap_free(&heap_store, cell->open);
    if (cell->waiting)
        heap_free(&heap_store, cell->waiting);
    result_free(result);
    return heap_objects;
}

#endif /* TESTS_UNIT_DELAUNAY_HELPERS_H */
