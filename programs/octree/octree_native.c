/*
 * Octree exchange on DRASync: each rank builds the tree of its points in a
 * region, and walks the others' trees where they are, as soon as they are new.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdlib.h>

#include "../common/check.h"
#include "../common/report.h"
#include "cloud.h"
#include "program.h"

struct node {
    struct cell cell;
    uint32_t parts_count;
    struct node *parts; /* side by side */
};

/* A region that a rank builds its tree in, in every other step, so that others
 * can walk the one while it builds the next. */
struct place {
    region region, tree; /* a subregion, new each time */
    uint64_t version;    /* that was walked last */
};

struct exchange {
    struct program program;
    struct place (*all)[2], *mine; /* all[r] is rank r's, mine this one's */
    uint64_t steps;
};

/* The tree of the points from @first to before @last, at @node. */
static void build(region region, const struct cloud *cloud, size_t first,
                  size_t last, struct node *node)
{
    size_t starts[9], count = cloud_split(cloud, first, last, starts);

    node->cell = cloud_cell(cloud, first, last);
    node->parts_count = (uint32_t)count;
    node->parts = count ? ralloc(region, count * sizeof(*node)) : NULL;
    for (size_t i = 0; i < count; i++)
        build(region, cloud, starts[i], starts[i + 1], &node->parts[i]);
}

static int64_t walk(const struct node *node, const struct point *point)
{
    int64_t field = 0;

    if (!cell_adds(&node->cell, point, &field))
        for (uint32_t i = 0; i < node->parts_count; i++)
            field += walk(&node->parts[i], point);
    return field;
}

/* Build a new tree in @place, instead of the one that is there. */
static void rebuild(struct place *place, const struct cloud *cloud)
{
    struct node *root;

    acquire_region(place->region, WRITE);
    if (place->tree)
        delete_region(place->tree);
    place->tree = new_subregion(place->region);
    root = ralloc(place->tree, sizeof(*root));
    build(place->tree, cloud, 0, cloud->count, root);
    check(drasync_set_root(place->region, root));
    release_region(place->region);
}

static void look(void *context)
{
    struct exchange *x = context;
    struct cloud *cloud = &x->program.cloud;
    int ranks = x->program.ranks, half = (int)(x->steps++ % 2);
    void *root;

    rebuild(&x->mine[half], cloud);
    for (int i = 1; i < ranks; i++) {
        struct place *place = &x->all[(x->program.rank + i) % ranks][half];

        check(drasync_acquire_newer(place->region, DRASYNC_READ,
                                    &place->version, DRASYNC_FOREVER));
        check(drasync_get_root(place->region, &root));
        for (size_t p = 0; p < cloud->count; p++)
            cloud->field[p] += walk(root, &cloud->points[p]);
        release_region(place->region);
    }
}

static void make_places(struct exchange *x)
{
    struct place mine[2];

    for (int half = 0; half < 2; half++) {
        mine[half].region = new_region();
        mine[half].tree = NULL;
        check(drasync_get_version(mine[half].region, &mine[half].version));
        release_region(mine[half].region);
    }
    x->all = report_malloc((size_t)x->program.ranks * sizeof(*x->all));
    x->mine = x->all[x->program.rank];
    MPI_Allgather(mine, sizeof(mine), MPI_BYTE, x->all, sizeof(mine), MPI_BYTE,
                  MPI_COMM_WORLD);
}

static void end(void *context)
{
    (void)context;
}

int main(int argc, char **argv)
{
    struct exchange x = {0};
    int status;

    status = program_start(&x.program, "octree_native", &argc, &argv);
    if (status >= 0)
        return status;
    make_places(&x);
    status = program_run(&x.program, look, end, &x);
    MPI_Barrier(MPI_COMM_WORLD); /* nobody looks at them any more */
    for (int half = 0; half < 2; half++)
        delete_region(x.mine[half].region);
    free(x.all);
    MPI_Finalize();
    return status;
}
