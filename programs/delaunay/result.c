/* The size and the hash of a triangulation: see result.h. */
#include "result.h"

#include <string.h>

#include "../common/report.h"

static void swap_if_after(struct point *a, struct point *b)
{
    struct point swap;

    if (point_compare(*a, *b) <= 0)
        return;
    swap = *a;
    *a = *b;
    *b = swap;
}

/* The same for the same three corners, whichever comes first. */
static uint64_t hash_triangle(const struct triangle *t)
{
    struct point corner[3];
    uint64_t hash = 0;
    int i;

    memcpy(corner, t->corner, sizeof corner);
    swap_if_after(&corner[0], &corner[1]);
    swap_if_after(&corner[1], &corner[2]);
    swap_if_after(&corner[0], &corner[1]);
    for (i = 0; i < 3; i++)
        hash = report_hash(hash, (uint64_t)(uint32_t)corner[i].x << 32 |
                                     (uint32_t)corner[i].y);
    return hash;
}

static void visit(struct triangle_list *list, struct triangle *t)
{
    if (t->flags & TRIANGLE_VISITED)
        return;
    t->flags |= TRIANGLE_VISITED;
    triangle_list_add(list, t);
}

void result_collect(const struct cell *root, struct result *result_out)
{
    struct triangle_list all = {NULL, 0, 0};
    struct triangle *t;
    size_t done;
    int k;

    memset(result_out, 0, sizeof *result_out);
    if (root->open_count == 0) {
        /* No triangles: every point is on the hull. */
        result_out->hull = root->points;
        return;
    }
    visit(&all, root->open[0]);
    for (done = 0; done < all.count; done++) {
        t = all.items[done];
        for (k = 0; k < 3; k++)
            visit(&all, t->neighbour[k]);
        if (triangle_is_ghost(t)) {
            result_out->ghosts++;
            continue;
        }
        triangle_list_add(&result_out->triangles, t);
        result_out->hash += hash_triangle(t);
    }
    result_out->hull = result_out->ghosts;
    triangle_list_free(&all);
}

void result_free(struct result *result)
{
    triangle_list_free(&result->triangles);
}
