/*
 * Delaunay triangulation with DRASync's own calls: regions are acquired and
 * released, and nothing is sent.
 *
 * Each leaf of the quadtree has two regions, made and held by its rank: one
 * with triangles, one with the description of its cell and the lists of that.
 * Where they are is all that ranks tell each other.  Whoever joins four cells
 * asks for the others' regions at the beginning, so that they come when their
 * rank releases them, whatever is done meanwhile; the lists first, with which
 * joining can begin.  The joined cell is where the first of the four was.
 *
 * Nothing is freed alone: it goes with its region.
 */
#include <drasync.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/report.h"
#include "program.h"

struct node {
    region triangles, lists;
    struct cell *cell; /* in lists */
};

struct worker {
    struct store store; /* first: the store is cast to its worker */
    struct program program;
    struct node *nodes;                   /* of all leaves */
    int first, end;                       /* this rank's */
    int current;                          /* where the store allocates */
    drasync_request_t *triangles, *lists; /* requests for each leaf's */
};

/* For the calls that return errors; those of the paper end the job. */
static void check(int err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "delaunay_native: %s: %s\n", what, drasync_strerror(err));
    MPI_Abort(MPI_COMM_WORLD, EXIT_INPUT);
}

/* --- The store ----------------------------------------------------------- */

static void *list_alloc(struct store *store, size_t size_bytes)
{
    struct worker *worker = (struct worker *)store;

    return ralloc(worker->nodes[worker->current].lists, size_bytes);
}

static void triangles_alloc(struct store *store, size_t size_bytes, int count,
                            void **objects)
{
    struct worker *worker = (struct worker *)store;
    char *block = ralloc(worker->nodes[worker->current].triangles,
                         (size_t)count * size_bytes);
    int i;

    for (i = 0; i < count; i++)
        objects[i] = block + (size_t)i * size_bytes;
}

static void free_nothing(struct store *store, void *object)
{
    (void)store;
    (void)object;
}

/* --- The quadtree -------------------------------------------------------- */

static int is_mine(const struct worker *worker, int leaf)
{
    return leaf >= worker->first && leaf < worker->end;
}

static void ask(region region, int mode, drasync_request_t *request)
{
    check(drasync_iacquire(region, mode, request), "asking for a region");
}

static void wait_for(drasync_request_t *request)
{
    check(drasync_wait(request, DRASYNC_FOREVER), "waiting for a region");
}

/* Does this rank join the node above its first leaf at @level? */
static int is_joiner(const struct worker *worker, int level)
{
    return level <= worker->program.levels &&
           worker->first % partition_span(level) == 0;
}

/* Ask for the cells that this rank joins. */
static void ask_for_cells(struct worker *worker)
{
    int level, leaf, c;

    for (level = 1; is_joiner(worker, level); level++) {
        for (c = 1; c < 4; c++) {
            leaf = worker->first + c * partition_span(level - 1);
            if (is_mine(worker, leaf))
                continue;
            ask(worker->nodes[leaf].lists, READ, &worker->lists[leaf]);
            ask(worker->nodes[leaf].triangles, WRITE, &worker->triangles[leaf]);
        }
    }
}

/*
 * Wait for the triangles of the cell whose first leaf is @leaf.  Its rank has
 * released those of the other @count - 1 leaves before.
 */
static void wait_for_triangles(struct worker *worker, int leaf, int count)
{
    int i;

    wait_for(&worker->triangles[leaf]);
    for (i = leaf + 1; i < leaf + count; i++)
        ask(worker->nodes[i].triangles, WRITE, &worker->triangles[i]);
    for (i = leaf + 1; i < leaf + count; i++)
        wait_for(&worker->triangles[i]);
}

static void do_leaf(struct worker *worker, int leaf)
{
    worker->current = leaf;
    program_leaf(&worker->program, leaf, worker->nodes[leaf].cell,
                 &worker->store);
}

/* Join the four cells of which this rank's first leaf begins the first. */
static void do_join(struct worker *worker, int level)
{
    int span = partition_span(level - 1), c, leaf;
    struct cell cells[4], *children[4], *joined;
    struct join join;

    for (c = 0; c < 4; c++) {
        leaf = worker->first + c * span;
        if (!is_mine(worker, leaf))
            wait_for(&worker->lists[leaf]);
        cells[c] = *worker->nodes[leaf].cell;
        children[c] = &cells[c];
    }
    worker->current = worker->first;
    joined = worker->nodes[worker->first].cell;
    program_join_begin(&worker->program, level, &join, joined, &worker->store,
                       children);
    for (c = 1; c < 4; c++) {
        leaf = worker->first + c * span;
        if (!is_mine(worker, leaf))
            wait_for_triangles(worker, leaf, span);
    }
    program_join_end(&worker->program, level, &join, joined, &worker->store,
                     children);
    for (c = 1; c < 4; c++)
        release_region(worker->nodes[worker->first + c * span].lists);
}

/* Release the cell of @count leaves from @leaf on to who has asked for it. */
static void release_cell(struct worker *worker, int leaf, int count)
{
    int i;

    release_region(worker->nodes[leaf].lists);
    for (i = leaf + count - 1; i >= leaf; i--)
        release_region(worker->nodes[i].triangles);
}

static int run(struct worker *worker)
{
    struct program *program = &worker->program;
    int level, leaf, status;

    ask_for_cells(worker);
    for (leaf = worker->first; leaf < worker->end; leaf++) {
        do_leaf(worker, leaf);
        if (!is_joiner(worker, 1))
            release_cell(worker, leaf, 1);
    }
    for (level = 1; is_joiner(worker, level); level++)
        do_join(worker, level);
    if (worker->first != 0) {
        if (level > 1)
            release_cell(worker, worker->first, partition_span(level - 1));
        return program_status(program);
    }
    MPI_Pcontrol(0);
    status = program_result(program, worker->nodes[0].cell);
    for (leaf = 0; leaf < partition_span(program->levels); leaf++) {
        delete_region(worker->nodes[leaf].triangles);
        delete_region(worker->nodes[leaf].lists);
    }
    return status;
}

/* --- The whole ----------------------------------------------------------- */

/* Make the regions of this rank's leaves, and learn where the others are. */
static void open_worker(struct worker *worker)
{
    size_t leaves = (size_t)partition_span(worker->program.levels);
    int count = worker->program.leaves, leaf, bytes;

    worker->store = (struct store){list_alloc, triangles_alloc, free_nothing};
    worker->nodes = report_malloc(leaves * sizeof(*worker->nodes));
    worker->triangles = report_malloc(leaves * sizeof(*worker->triangles));
    worker->lists = report_malloc(leaves * sizeof(*worker->lists));
    worker->first = worker->program.worker * count;
    worker->end = worker->first + count;
    for (leaf = worker->first; leaf < worker->end; leaf++) {
        struct node *node = &worker->nodes[leaf];

        node->triangles = new_region();
        node->lists = new_region();
        node->cell = ralloc(node->lists, sizeof(*node->cell));
    }
    bytes = count * (int)sizeof(*worker->nodes);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, worker->nodes, bytes,
                  MPI_BYTE, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct worker worker = {0};
    int status, rank, workers;

    status = program_options(&worker.program, "delaunay_native", argc, argv);
    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &workers);
    status = program_input(&worker.program, rank, workers, 2);
    if (status == 0) {
        open_worker(&worker);
        MPI_Barrier(MPI_COMM_WORLD);
        worker.program.start_seconds = report_now_seconds();
        MPI_Pcontrol(1); /* for profilers: what is timed begins */
        status = run(&worker);
    }
    free(worker.nodes);
    free(worker.triangles);
    free(worker.lists);
    program_free(&worker.program);
    MPI_Finalize();
    return status;
}
