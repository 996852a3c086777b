#include "tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

struct builder {
    struct node_source *source;
    double theta;
    const struct body **spare; /* as long as the list of bodies */
};

struct cell {
    double center[3];
    double half; /* of its side */
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

static unsigned octant_of(const struct cell *cell, const struct body *body)
{
    return (body->position[0] >= cell->center[0] ? 1u : 0u) |
           (body->position[1] >= cell->center[1] ? 2u : 0u) |
           (body->position[2] >= cell->center[2] ? 4u : 0u);
}

static struct cell part_of(const struct cell *cell, unsigned octant)
{
    struct cell part = {{0, 0, 0}, cell->half / 2};
    unsigned k;

    for (k = 0; k < 3; k++)
        part.center[k] =
            cell->center[k] + (octant >> k & 1 ? part.half : -part.half);
    return part;
}

/* Order the list by octant, otherwise as it was. */
static void sort_octants(struct builder *builder, const struct cell *cell,
                         const struct body **list, size_t count,
                         size_t starts[9])
{
    size_t place[8] = {0}, i;
    unsigned octant;

    for (i = 0; i < count; i++)
        place[octant_of(cell, list[i])]++;
    for (starts[0] = 0, octant = 0; octant < 8; octant++) {
        starts[octant + 1] = starts[octant] + place[octant];
        place[octant] = starts[octant];
    }
    for (i = 0; i < count; i++)
        builder->spare[place[octant_of(cell, list[i])]++] = list[i];
    memcpy(list, builder->spare, count * sizeof *list);
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
        struct cell part;

        octant = octant_of(&cell, list[0]);
        for (i = 1; i < count && octant_of(&cell, list[i]) == octant; i++)
            ;
        if (i < count)
            break;
        part = part_of(&cell, octant);
        /* Bodies closer than numbers can tell: they share this cell. */
        if (part.half < 1e-300 ||
            memcmp(part.center, cell.center, sizeof part.center) == 0) {
            for (i = count; i > 0; i--)
                next = leaf(builder, list[i - 1], next);
            return next;
        }
        cell = part;
    }
    sort_octants(builder, &cell, list, count, starts);
    node = new_node(builder->source);
    node->next = next;
    for (octant = 8; octant-- > 0;) {
        if (starts[octant] < starts[octant + 1])
            next = build(builder, part_of(&cell, octant), list + starts[octant],
                         starts[octant + 1] - starts[octant], next);
    }
    node->more = next;
    sum_up(node, &cell, builder->theta);
    return node;
}

/* A cube around all bodies. */
static struct cell cube_around(const struct body *bodies, size_t count)
{
    struct cell cell = {{0, 0, 0}, 0};
    double low, high;
    size_t i;
    int k;

    for (k = 0; k < 3; k++) {
        low = high = bodies[0].position[k];
        for (i = 1; i < count; i++) {
            low = fmin(low, bodies[i].position[k]);
            high = fmax(high, bodies[i].position[k]);
        }
        cell.center[k] = low + (high - low) / 2;
        cell.half = fmax(cell.half, (high - low) / 2);
    }
    cell.half *= 1.0000001;
    return cell;
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
    root = build(&builder, cube_around(bodies, count), list, count, NULL);
    free(builder.spare);
    free(list);
    return root;
}
