/* Triangles that are linked by pointers: see mesh.h. */
#include "mesh.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

void pool_init(struct pool *pool, struct store *store)
{
    pool->store = store;
    pool->spare = NULL;
}

struct triangle *pool_get(struct pool *pool)
{
    void *batch[POOL_BATCH];
    struct triangle *t;
    int i;

    if (!pool->spare) {
        pool->store->alloc_batch(pool->store, sizeof(struct triangle),
                                 POOL_BATCH, batch);
        for (i = POOL_BATCH - 1; i >= 0; i--)
            pool_put(pool, batch[i]);
    }
    t = pool->spare;
    pool->spare = t->neighbour[0];
    t->stamp = 0;
    t->flags = 0;
    return t;
}

void pool_put(struct pool *pool, struct triangle *t)
{
    t->neighbour[0] = pool->spare;
    pool->spare = t;
}

void pool_drain(struct pool *pool)
{
    struct triangle *t;

    while ((t = pool->spare) != NULL) {
        pool->spare = t->neighbour[0];
        pool->store->free(pool->store, t);
    }
}

void triangle_list_add(struct triangle_list *list, struct triangle *t)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 256;
        list->items =
            report_realloc(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count++] = t;
}

void triangle_list_free(struct triangle_list *list)
{
    free(list->items);
    memset(list, 0, sizeof *list);
}
