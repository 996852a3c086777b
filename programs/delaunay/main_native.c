/*
 * Delaunay triangulation with DRASync's own calls: regions are acquired and
 * released, and nothing is sent.
 *
 * Rank 0 makes the quadtree, a tree of regions, and gives every node a name.
 * A rank takes its leaf by that name, triangulates it and releases it; then it
 * publishes it once more, under a name that says that it is done.  Whoever
 * joins four nodes waits for these names, and acquires the node above them:
 * that covers all below, wherever it is.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdio.h>

#include "../common/report.h"
#include "program.h"

struct region_store {
    struct store store;
    region region;
};

/* For the calls that return errors; those of the paper end the job. */
static void check(int err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "delaunay_native: %s: %s\n", what, drasync_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, EXIT_INPUT);
}

static void *region_alloc(struct store *store, size_t size_bytes)
{
    return ralloc(((struct region_store *)store)->region, size_bytes);
}

static void region_alloc_batch(struct store *store, size_t size_bytes,
                               int count, void **objects)
{
    int i;

    for (i = 0; i < count; i++)
        objects[i] = region_alloc(store, size_bytes);
}

static void region_free(struct store *store, void *object)
{
    (void)store;
    check(drasync_free(object), "freeing an object");
}

static struct region_store region_store_of(region region)
{
    struct region_store store = {
        {region_alloc, region_alloc_batch, region_free}, region};

    return store;
}

/* --- Names --------------------------------------------------------------- */

/* @what is "cell" once the node is made, "done" once it is triangulated. */
static void publish(const char *what, int level, int index, region node)
{
    char name[DRASYNC_NAME_MAX + 1];

    snprintf(name, sizeof name, "delaunay/%s/%d/%d", what, level, index);
    check(drasync_publish(name, node), name);
}

/* Waits until somebody publishes it. */
static region lookup(const char *what, int level, int index)
{
    char name[DRASYNC_NAME_MAX + 1];
    region node;

    snprintf(name, sizeof name, "delaunay/%s/%d/%d", what, level, index);
    check(drasync_lookup(name, DRASYNC_FOREVER, &node), name);
    return node;
}

static struct cell *cell_of(region node)
{
    void *cell;

    check(drasync_get_root(node, &cell), "finding a cell's description");
    return cell;
}

/* --- The quadtree -------------------------------------------------------- */

/* Put an empty cell into the new region @node, and make the nodes below. */
static void make_node(region node, int level, int index)
{
    int c;

    check(drasync_set_root(node, ralloc(node, sizeof(struct cell))),
          "describing a cell");
    publish("cell", level, index, node);
    for (c = 0; level > 0 && c < 4; c++)
        make_node(new_subregion(node), level - 1, 4 * index + c);
}

static void do_leaf(struct program *program, int leaf)
{
    region node = lookup("cell", 0, leaf);
    struct region_store store = region_store_of(node);

    acquire_region(node, WRITE);
    program_leaf(program, leaf, cell_of(node), &store.store);
    release_region(node);
    publish("done", 0, leaf, node);
}

/* Join the four nodes below node @index of @level, which is then held. */
static region do_join(struct program *program, int level, int index)
{
    region node, children[4];
    struct region_store store;
    struct cell *cells[4];
    int c;

    for (c = 0; c < 4; c++)
        children[c] = lookup("done", level - 1, 4 * index + c);
    node = lookup("cell", level, index);
    store = region_store_of(node);
    acquire_region(node, WRITE);
    for (c = 0; c < 4; c++)
        cells[c] = cell_of(children[c]);
    program_join(program, level, cell_of(node), &store.store, cells);
    return node;
}

static int run(struct program *program)
{
    int first = program->worker * program->leaves, leaf, level, status;
    region node;

    if (program->worker == 0) {
        node = new_region();
        make_node(node, program->levels, 0);
        release_region(node);
    }
    for (leaf = first; leaf < first + program->leaves; leaf++)
        do_leaf(program, leaf);
    for (level = 1;
         level <= program->levels && first % partition_span(level) == 0;
         level++) {
        node = do_join(program, level, first / partition_span(level));
        release_region(node);
        publish("done", level, first / partition_span(level), node);
    }
    if (program->worker != 0)
        return program_status(program);
    node = lookup("done", program->levels, 0);
    acquire_region(node, WRITE);
    MPI_Pcontrol(0);
    status = program_result(program, cell_of(node));
    delete_region(node);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status, worker, workers;

    status = program_options(&program, "delaunay_native", argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &worker);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    status = program_input(&program, worker, workers, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    program.start_seconds = report_now_seconds();
    MPI_Pcontrol(1); /* for profilers: what is timed begins */
    if (status == 0)
        status = run(&program);
    program_free(&program);
    MPI_Finalize();
    return status;
}
