/* The oct-tree of a worker's bodies: see tree.h. */
#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "cell.h"

struct builder {
    struct node_source *source;
    double theta;
    const struct body **spare; /* as long as the list of bodies */
};

static struct node *new_node(struct node_source *source)
{
    if (source->left == 0) {
        source->get(source->context, TREE_BATCH, source->batch);
        source->left = TREE_BATCH;
    }
    /* From the front, so that neighbours in the tree are so in memory. */
    return source->batch[TREE_BATCH - source->left--];
}

static int all_in_one_place(const struct body **list, size_t count)
{
    size_t i;

    for (i = 1; i < count; i++)
        if (memcmp(list[i]->position, list[0]->position,
                   sizeof list[0]->position))
            return 0;
    return 1;
}

static struct node *leaf(struct builder *builder, const struct body *body,
                         struct node *next)
{
    struct node *node = new_node(builder->source);

    memcpy(node->center, body->position, sizeof node->center);
    node->mass = body->mass;
    node->open_squared = 0;
    node->more = NULL;
    node->next = next;
    return node;
}

/* Mass and its centre from the parts, and from where to look at them. */
static void sum_up(struct node *node, const struct cell *cell, double theta)
{
    double moment[3] = {0, 0, 0}, offset = 0, reach;
    const struct node *part;
    int k;

    node->mass = 0;
    for (part = node->more; part != node->next; part = part->next) {
        node->mass += part->mass;
        for (k = 0; k < 3; k++)
            moment[k] += part->mass * part->center[k];
    }
    for (k = 0; k < 3; k++) {
        node->center[k] =
            node->mass > 0 ? moment[k] / node->mass : cell->center[k];
        offset += (node->center[k] - cell->center[k]) *
                  (node->center[k] - cell->center[k]);
    }
    reach = theta > 0 ? 2 * cell->half / theta + sqrt(offset) : INFINITY;
    node->open_squared = reach * reach;
}

/* The first node of the list's tree; @next is what comes after it. */
static struct node *build(struct builder *builder, struct cell cell,
                          const struct body **list, size_t count,
                          struct node *next)
{
    size_t starts[9] = {0}, i;
    struct node *node;
    unsigned octant;

    if (count == 1)
        return leaf(builder, list[0], next);
    if (all_in_one_place(list, count)) {
        for (i = count; i > 0; i--)
            next = leaf(builder, list[i - 1], next);
        return next;
    }
    for (;;) {
        octant = cell_octant(&cell, list[0]);
        for (i = 1; i < count && cell_octant(&cell, list[i]) == octant; i++)
            ;
        if (i < count)
            break;
        /* Bodies closer than numbers can tell: they share this cell. */
        if (cell_is_point(&cell)) {
            for (i = count; i > 0; i--)
                next = leaf(builder, list[i - 1], next);
            return next;
        }
        cell = cell_part(&cell, octant);
    }
    cell_sort(&cell, list, count, builder->spare, starts);
    node = new_node(builder->source);
    node->next = next;
    for (octant = 8; octant-- > 0;) {
        if (starts[octant] < starts[octant + 1])
            next =
                build(builder, cell_part(&cell, octant), list + starts[octant],
                      starts[octant + 1] - starts[octant], next);
    }
    node->more = next;
    sum_up(node, &cell, builder->theta);
    return node;
}

struct node *tree_build(struct node_source *source, const struct body *bodies,
                        size_t count, double theta)
{
    struct builder builder = {source, theta, NULL};
    const struct body **list;
    struct node *root;
    size_t i;

    if (count == 0)
        return NULL;
    list = report_malloc(count * sizeof *list);
    builder.spare = report_malloc(count * sizeof *builder.spare);
    for (i = 0; i < count; i++)
        list[i] = &bodies[i];
    root = build(&builder, cell_around(list, count), list, count, NULL);
    free(builder.spare);
    free(list);
    return root;
}
