/*
 * Delaunay triangulation with the Myrmics calls: regions are made, sent and
 * received.
 *
 * The quadtree is a tree of regions.  A node at level l above the leaves is
 * worked on by the first of its 4^l workers, who makes the regions of its
 * children, keeps the first and sends the others to their workers; each comes
 * back when it is triangulated, with all below it.  A worker allocates only in
 * regions that it made or was sent, and leaves alone what it sent until it
 * comes back.
 *
 * A region's number comes with it, but not the address of anything in it.
 * Where the cell's description is goes along in a message of its own, 8 bytes
 * from worker to worker, which is all that MPI is used for here.
 */
#include <mpi.h>
#include <myrmics.h>
#include <stdint.h>

#include "program.h"

#define CELL_TAG 4711

struct region_store {
    struct store store;
    rid_t region;
};

/* A node of the quadtree, at whatever level. */
struct node {
    rid_t region;
    struct cell *cell; /* in the region */
};

static void *region_alloc(struct store *store, size_t size_bytes)
{
    return sys_alloc(size_bytes, ((struct region_store *)store)->region);
}

static void region_alloc_batch(struct store *store, size_t size_bytes,
                               int count, void **objects)
{
    sys_balloc(size_bytes, ((struct region_store *)store)->region, count,
               objects);
}

static void region_free(struct store *store, void *object)
{
    (void)store;
    sys_free(object);
}

static struct region_store region_store_of(rid_t region)
{
    struct region_store store = {
        {region_alloc, region_alloc_batch, region_free}, region};

    return store;
}

static struct node make_node(rid_t parent, int level)
{
    struct node node;

    node.region = sys_ralloc(parent, level);
    node.cell = sys_alloc(sizeof *node.cell, node.region);
    return node;
}

/* Lend @node to @worker. */
static void send_node(const struct node *node, int worker)
{
    uint64_t address = (uint64_t)(uintptr_t)node->cell;

    sys_send(node->region, worker);
    MPI_Send(&address, 1, MPI_UINT64_T, worker, CELL_TAG, MPI_COMM_WORLD);
}

static struct node receive_node(int worker)
{
    struct node node;
    uint64_t address;

    node.region = sys_recv(0, worker);
    MPI_Recv(&address, 1, MPI_UINT64_T, worker, CELL_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    node.cell = (struct cell *)(uintptr_t)address;
    return node;
}

/* The highest level at which @worker is the first of its node. */
static int top_level(const struct program *program)
{
    int level = 0;

    while (level < program->levels &&
           program->worker % partition_span(level + 1) == 0)
        level++;
    return level;
}

/*
 * Make the nodes under @node, lend out those of other workers and triangulate
 * this one's leaf; then take them back and join them.
 */
static void work_on(struct program *program, struct node *node, int level)
{
    struct region_store store = region_store_of(node->region);
    struct cell *cells[4];
    struct node children[4];
    int c, span;

    if (level == 0) {
        program_leaf(program, program->worker, node->cell, &store.store);
        return;
    }
    span = partition_span(level - 1);
    for (c = 0; c < 4; c++)
        children[c] = make_node(node->region, level - 1);
    for (c = 1; c < 4; c++)
        send_node(&children[c], program->worker + c * span);
    work_on(program, &children[0], level - 1);
    for (c = 1; c < 4; c++)
        sys_recv(children[c].region, program->worker + c * span);
    for (c = 0; c < 4; c++)
        cells[c] = children[c].cell;
    program_join(program, level, node->cell, &store.store, cells);
}

static int run(struct program *program)
{
    int level = top_level(program), parent, status;
    struct node node;

    if (program->worker != 0) {
        parent = program->worker - program->worker % partition_span(level + 1);
        node = receive_node(parent);
        work_on(program, &node, level);
        sys_send(node.region, parent);
        return program_status(program);
    }
    node = make_node(0, level);
    work_on(program, &node, level);
    MPI_Pcontrol(0);
    status = program_result(program, node.cell);
    sys_rfree(node.region);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status;

    status = program_options(&program, "delaunay_myrmics", argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status =
        program_input(&program, sys_get_worker_id(), sys_get_num_workers(), 1);
    MPI_Pcontrol(1); /* for profilers: what is timed begins */
    if (status == 0)
        status = run(&program);
    program_free(&program);
    MPI_Finalize();
    return status;
}
