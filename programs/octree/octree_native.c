/*
 * Octree exchange on DRASync: each rank builds the tree of its points in a
 * region that is new in each step, and walks the others' trees where they are.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdlib.h>

#include "../common/report.h"
#include "cloud.h"
#include "program.h"

struct node {
    struct cell cell;
    struct node *more; /* the first of its parts */
    struct node *next; /* after it and all its parts */
};

struct tree {
    region region;
    struct node *root;
};

struct exchange {
    struct program program;
    struct tree mine, *all; /* all[r] is rank r's */
};

/* The tree of the points from @first to before @last; @next comes after it. */
static struct node *build(region region, const struct cloud *cloud,
                          size_t first, size_t last, struct node *next)
{
    size_t starts[9], part = cloud_split(cloud, first, last, starts);
    struct node *node, *more = next;

    /* The last part first, as each points to what comes after it. */
    while (part-- > 0)
        more = build(region, cloud, starts[part], starts[part + 1], more);
    node = ralloc(region, sizeof(*node));
    node->cell = cloud_cell(cloud, first, last);
    node->more = more;
    node->next = next;
    return node;
}

static int64_t walk(const struct node *node, const struct point *point)
{
    int64_t field = 0;

    while (node)
        node = cell_adds(&node->cell, point, &field) ? node->next : node->more;
    return field;
}

static void look(void *context)
{
    struct exchange *x = context;
    struct cloud *cloud = &x->program.cloud;
    region old = x->mine.region;
    int ranks = x->program.ranks;

    x->mine.region = new_region();
    x->mine.root = build(x->mine.region, cloud, 0, cloud->count, NULL);
    release_region(x->mine.region);
    MPI_Allgather(&x->mine, sizeof(x->mine), MPI_BYTE, x->all, sizeof(x->mine),
                  MPI_BYTE, MPI_COMM_WORLD);
    /* All ranks are here, so nobody looks at the last step's trees any more. */
    if (old)
        delete_region(old);

    for (int i = 1; i < ranks; i++) {
        const struct tree *tree = &x->all[(x->program.rank + i) % ranks];

        acquire_region(tree->region, READ);
        for (size_t p = 0; p < cloud->count; p++)
            cloud->field[p] += walk(tree->root, &cloud->points[p]);
        release_region(tree->region);
    }
}

static void end(void *context)
{
    struct exchange *x = context;

    MPI_Barrier(MPI_COMM_WORLD);
    delete_region(x->mine.region);
    x->mine.region = NULL;
}

int main(int argc, char **argv)
{
    struct exchange x = {0};
    int status;

    status = program_start(&x.program, "octree_native", &argc, &argv);
    if (status >= 0)
        return status;
    x.all = report_malloc((size_t)x.program.ranks * sizeof(*x.all));
    status = program_run(&x.program, look, end, &x);
    free(x.all);
    MPI_Finalize();
    return status;
}
