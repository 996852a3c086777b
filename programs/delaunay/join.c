/*
 * Joining four cells: see cell.h for why this is right.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "cell.h"
#include "insert.h"

/* An edge where final triangles end: one of them on the left of @from @to. */
struct shore {
    struct point from, to;
    struct triangle *island; /* the final triangle */
    int island_index;        /* which neighbour of it is across the edge */
    struct triangle *cover;  /* the new triangle on the same side */
    int cover_index;
};

/* All of them, found by their ends: open addressing, at most half full. */
struct shores {
    struct shore *slots; /* free ones have no island */
    size_t mask;
};

static size_t shore_slot(const struct shores *shores, struct point from,
                         struct point to)
{
    uint64_t hash = report_hash(
        report_mix((uint64_t)(uint32_t)from.x << 32 | (uint32_t)from.y),
        (uint64_t)(uint32_t)to.x << 32 | (uint32_t)to.y);
    size_t i = (size_t)hash & shores->mask;

    while (shores->slots[i].island &&
           !(point_equal(shores->slots[i].from, from) &&
             point_equal(shores->slots[i].to, to)))
        i = (i + 1) & shores->mask;
    return i;
}

static struct shore *find_shore(const struct shores *shores,
                                const struct triangle *t, int k)
{
    struct point from = t->corner[triangle_next(k)];
    struct point to = t->corner[triangle_next(triangle_next(k))];
    struct shore *shore = &shores->slots[shore_slot(shores, from, to)];

    return shore->island ? shore : NULL;
}

/* Where the final triangles of the children end. */
static void find_shores(struct shores *shores, struct cell *children[4])
{
    size_t edges = 0, room = 16, i;
    struct triangle *t, *island;
    struct shore *shore;
    struct point from, to;
    int c, k;

    for (c = 0; c < 4; c++)
        edges += 3 * children[c]->open_count;
    while (room < 2 * edges)
        room *= 2;
    shores->slots = report_malloc(room * sizeof *shores->slots);
    memset(shores->slots, 0, room * sizeof *shores->slots);
    shores->mask = room - 1;
    for (c = 0; c < 4; c++) {
        for (i = 0; i < children[c]->open_count; i++) {
            t = children[c]->open[i];
            for (k = 0; k < 3; k++) {
                island = t->neighbour[k];
                if (!(island->flags & TRIANGLE_FINAL))
                    continue;
                to = t->corner[triangle_next(k)];
                from = t->corner[triangle_next(triangle_next(k))];
                shore = &shores->slots[shore_slot(shores, from, to)];
                *shore = (struct shore){
                    from, to, island, triangle_index_of(island, t), NULL, 0};
            }
        }
    }
}

/* The points that waited in the children; the caller frees them. */
static struct point *gather_waiting(struct cell *children[4], size_t *count_out)
{
    struct point *points;
    size_t count = 0;
    int c;

    for (c = 0; c < 4; c++)
        count += children[c]->waiting_count;
    points = report_malloc(count * sizeof *points);
    count = 0;
    for (c = 0; c < 4; c++) {
        if (children[c]->waiting_count)
            memcpy(points + count, children[c]->waiting,
                   children[c]->waiting_count * sizeof *points);
        count += children[c]->waiting_count;
    }
    *count_out = count;
    return points;
}

/* Free what the level above has taken over. */
static void free_open(struct store *store, struct cell *child)
{
    size_t i;

    for (i = 0; i < child->open_count; i++)
        store->free(store, child->open[i]);
    if (child->open)
        store->free(store, child->open);
    if (child->waiting)
        store->free(store, child->waiting);
    child->open = NULL;
    child->waiting = NULL;
    child->open_count = child->waiting_count = 0;
}

static void drop(struct triangle_list *dropped, struct triangle *t)
{
    if (t->flags & TRIANGLE_DROPPED)
        return;
    t->flags |= TRIANGLE_DROPPED;
    triangle_list_add(dropped, t);
}

/* The new triangles that lie where final ones are. */
static void find_dropped(const struct shores *shores,
                         const struct triangle_list *triangles,
                         struct triangle_list *dropped)
{
    struct shore *shore;
    struct triangle *t;
    size_t i;
    int k;

    for (i = 0; i < triangles->count; i++) {
        t = triangles->items[i];
        for (k = 0; k < 3; k++) {
            shore = find_shore(shores, t, k);
            if (!shore)
                continue;
            shore->cover = t;
            shore->cover_index = k;
            drop(dropped, t);
        }
    }
    for (i = 0; i < dropped->count; i++) {
        t = dropped->items[i];
        for (k = 0; k < 3; k++)
            if (!find_shore(shores, t, k))
                drop(dropped, t->neighbour[k]);
    }
}

/* Link final triangles and the new ones around them. */
static void link_shores(const struct shores *shores)
{
    struct triangle *outside;
    struct shore *shore;
    size_t i;

    for (i = 0; i <= shores->mask; i++) {
        shore = &shores->slots[i];
        if (!shore->island)
            continue;
        assert(shore->cover);
        outside = shore->cover->neighbour[shore->cover_index];
        assert(!(outside->flags & TRIANGLE_DROPPED));
        outside->neighbour[triangle_index_of(outside, shore->cover)] =
            shore->island;
        shore->island->neighbour[shore->island_index] = outside;
    }
}

/* Take the dropped triangles out of @triangles, and back into @pool. */
static void remove_dropped(struct pool *pool, struct triangle_list *triangles)
{
    size_t i, kept = 0;
    struct triangle *t;

    for (i = 0; i < triangles->count; i++) {
        t = triangles->items[i];
        if (t->flags & TRIANGLE_DROPPED)
            pool_put(pool, t);
        else
            triangles->items[kept++] = t;
    }
    triangles->count = kept;
}

/* Add up the children's counts; 0 if one of them failed. */
static int add_counts(struct cell *cell, struct cell *children[4],
                      uint64_t fingerprint)
{
    int c;

    cell->fingerprint = fingerprint;
    for (c = 0; c < 4; c++) {
        cell->points += children[c]->points;
        cell->repeated += children[c]->repeated;
        if (cell->failed)
            continue;
        if (children[c]->failed) {
            cell->failed = 1;
            memcpy(cell->error, children[c]->error, sizeof cell->error);
        } else if (children[c]->fingerprint != fingerprint) {
            cell->failed = 1;
            snprintf(cell->error, sizeof cell->error,
                     "the workers did not read the same points");
        }
    }
    return !cell->failed;
}

void cell_join_begin(struct join *join, struct cell *cell, struct store *store,
                     struct cell *children[4], uint64_t fingerprint,
                     cell_progress progress)
{
    memset(join, 0, sizeof *join);
    memset(cell, 0, sizeof *cell);
    if (!add_counts(cell, children, fingerprint))
        return;
    join->waiting = gather_waiting(children, &join->count);
    join->count = insert_order(join->waiting, join->count);
    pool_init(&join->pool, store);
    insert_points(&join->pool, join->waiting, join->count, &join->triangles,
                  progress);
}

void cell_join_end(struct join *join, struct cell *cell, struct store *store,
                   struct cell *children[4], const struct box *box)
{
    struct triangle_list dropped = {NULL, 0, 0};
    struct shores shores;
    int c;

    if (cell->failed)
        return;
    find_shores(&shores, children);
    for (c = 0; c < 4; c++)
        free_open(store, children[c]);
    find_dropped(&shores, &join->triangles, &dropped);
    link_shores(&shores);
    remove_dropped(&join->pool, &join->triangles);
    pool_drain(&join->pool);
    cell_close(cell, store, &join->triangles, join->waiting, join->count, box);

    free(join->waiting);
    free(shores.slots);
    triangle_list_free(&join->triangles);
    triangle_list_free(&dropped);
}

void cell_join(struct cell *cell, struct store *store, struct cell *children[4],
               const struct box *box, uint64_t fingerprint,
               cell_progress progress)
{
    struct join join;

    cell_join_begin(&join, cell, store, children, fingerprint, progress);
    cell_join_end(&join, cell, store, children, box);
}
