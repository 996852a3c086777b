/*
 * PageRank and breadth-first search by message passing.  Shares and vertices
 * that were found go packed, in one collective operation for all ranks, that of
 * shares beside the work on own neighbours.  Where all ranks share memory both
 * lie in a shared window instead, where the others read them.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"
#include "program.h"

/* Ranks write one while others may still read the other. */
struct half {
    uint64_t *shares;       /* in the window: of all own vertices */
    const uint64_t **seen;  /* shares by owner */
    uint32_t **boxes;       /* vertices that were found, by owner */
    const uint32_t **inbox; /* in the window: those of this rank, by finder */
};

struct world {
    struct graph graph;
    struct half halves[2];
    struct half *half; /* the one in use */
    uint32_t *pushed;
    MPI_Win window; /* MPI_WIN_NULL: by messages */

    /* Counts and places in packed messages, by rank: what has a neighbour
     * there, and what there has a neighbour here. */
    int *border_counts, *border_starts, *halo_counts, *halo_starts;
    int border, halo; /* of all ranks */
    uint64_t *packed, *arrived;
    uint32_t *found, *arrived_found;
    int *sent, *coming;
    uint64_t **dense; /* shares that came, by owner and vertex */
    MPI_Request request;
};

/* --- What a rank has ------------------------------------------------------ */

static void *allocate_vertices(void *context, size_t size)
{
    (void)context;
    return report_malloc(size);
}

static void free_blocks(struct block *block)
{
    struct block *next;

    for (; block; block = next) {
        next = block->next;
        free(block);
    }
}

static void free_graph(struct graph *graph)
{
    uint32_t v;

    for (v = 0; v < graph->count; v++) {
        free_blocks(graph->vertices[v].near);
        free_blocks(graph->vertices[v].far);
    }
    free(graph->vertices);
    graph_free_links(graph);
}

static void make_counts(struct world *world)
{
    size_t ranks = (size_t)world->graph.ranks, rank;

    world->border_counts = report_malloc(ranks * sizeof(int));
    world->border_starts = report_malloc(ranks * sizeof(int));
    world->halo_counts = report_malloc(ranks * sizeof(int));
    world->halo_starts = report_malloc(ranks * sizeof(int));
    for (rank = 0; rank < ranks; rank++) {
        world->border_starts[rank] = world->border;
        world->halo_starts[rank] = world->halo;
        world->border_counts[rank] = (int)world->graph.links[rank].border_count;
        world->halo_counts[rank] = (int)world->graph.links[rank].halo_count;
        world->border += world->border_counts[rank];
        world->halo += world->halo_counts[rank];
    }
}

/* Buffers for messages; both halves are the same. */
static void make_buffers(struct world *world)
{
    size_t ranks = (size_t)world->graph.ranks, rank;
    size_t border = (size_t)world->border, halo = (size_t)world->halo;
    int h;

    world->packed = report_malloc(border * sizeof(*world->packed));
    world->arrived = report_malloc(halo * sizeof(*world->arrived));
    world->found = report_malloc(halo * sizeof(*world->found));
    world->arrived_found =
        report_malloc(border * sizeof(*world->arrived_found));
    world->dense = report_malloc(ranks * sizeof(*world->dense));
    world->sent = report_malloc(ranks * sizeof(int));
    world->coming = report_malloc(ranks * sizeof(int));
    for (rank = 0; rank < ranks; rank++) {
        world->dense[rank] = report_malloc(
            graph_count(&world->graph, (int)rank) * sizeof(uint64_t));
        for (h = 0; h < 2; h++) {
            world->halves[h].seen[rank] = world->dense[rank];
            world->halves[h].boxes[rank] =
                world->found + world->halo_starts[rank];
        }
    }
}

/* Where in a rank's part of the window its halves begin, and in each of them
 * what it found of another rank. */
struct place {
    uint64_t half_bytes, box_start;
};

static void make_window(struct world *world, MPI_Comm node)
{
    size_t ranks = (size_t)world->graph.ranks, rank;
    uint64_t shares = world->graph.count * sizeof(uint64_t);
    uint64_t half_bytes =
        (shares + (uint64_t)world->halo * sizeof(uint32_t) + 63) / 64 * 64;
    struct place *mine = report_malloc(ranks * sizeof(*mine));
    struct place *theirs = report_malloc(ranks * sizeof(*theirs));
    MPI_Aint size;
    char *base;
    int unit, h;

    for (rank = 0; rank < ranks; rank++)
        mine[rank] = (struct place){
            half_bytes,
            shares + (uint64_t)world->halo_starts[rank] * sizeof(uint32_t)};
    MPI_Win_allocate_shared((MPI_Aint)(2 * half_bytes), 1, MPI_INFO_NULL, node,
                            &base, &world->window);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, world->window);
    MPI_Alltoall(mine, 2, MPI_UINT64_T, theirs, 2, MPI_UINT64_T, node);
    for (h = 0; h < 2; h++) {
        char *own = base + (uint64_t)h * half_bytes;
        struct half *half = &world->halves[h];

        half->shares = (uint64_t *)own;
        for (rank = 0; rank < ranks; rank++) {
            char *other;

            MPI_Win_shared_query(world->window, (int)rank, &size, &unit,
                                 &other);
            other += (uint64_t)h * theirs[rank].half_bytes;
            half->seen[rank] = (uint64_t *)other;
            half->boxes[rank] = (uint32_t *)(own + mine[rank].box_start);
            half->inbox[rank] = (uint32_t *)(other + theirs[rank].box_start);
        }
    }
    free(mine);
    free(theirs);
}

static void make_exchange(struct world *world)
{
    size_t ranks = (size_t)world->graph.ranks;
    MPI_Comm node;
    int h, size;

    make_counts(world);
    world->pushed = report_malloc(ranks * sizeof(*world->pushed));
    for (h = 0; h < 2; h++) {
        struct half *half = &world->halves[h];

        half->seen = report_malloc(ranks * sizeof(*half->seen));
        half->boxes = report_malloc(ranks * sizeof(*half->boxes));
        half->inbox = report_malloc(ranks * sizeof(*half->inbox));
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world->graph.rank,
                        MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &size);
    world->window = MPI_WIN_NULL;
    if (size == world->graph.ranks)
        make_window(world, node);
    else
        make_buffers(world);
    MPI_Comm_free(&node);
}

static void free_exchange(struct world *world)
{
    int rank, h;

    if (world->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(world->window);
        MPI_Win_free(&world->window);
    } else {
        for (rank = 0; rank < world->graph.ranks; rank++)
            free(world->dense[rank]);
        free(world->dense);
        free(world->packed);
        free(world->arrived);
        free(world->found);
        free(world->arrived_found);
        free(world->sent);
        free(world->coming);
    }
    for (h = 0; h < 2; h++) {
        free(world->halves[h].seen);
        free(world->halves[h].boxes);
        free(world->halves[h].inbox);
    }
    free(world->border_counts);
    free(world->border_starts);
    free(world->halo_counts);
    free(world->halo_starts);
    free(world->pushed);
}

static void turn(struct world *world)
{
    world->half = &world->halves[world->half == world->halves];
}

/* --- Shares --------------------------------------------------------------- */

static void pack(struct world *world, const uint64_t *shares)
{
    uint64_t *to = world->packed;
    int rank;
    uint32_t i;

    for (rank = 0; rank < world->graph.ranks; rank++) {
        const struct link *link = &world->graph.links[rank];

        for (i = 0; i < link->border_count; i++)
            *to++ = shares[link->border[i]];
    }
}

static void unpack(struct world *world)
{
    const uint64_t *from = world->arrived;
    int rank;
    uint32_t i;

    for (rank = 0; rank < world->graph.ranks; rank++) {
        const struct link *link = &world->graph.links[rank];

        for (i = 0; i < link->halo_count; i++)
            world->dense[rank][link->halo[i]] = *from++;
    }
}

static void show(void *context, const uint64_t *shares)
{
    struct world *world = context;

    turn(world);
    if (world->window != MPI_WIN_NULL) {
        memcpy(world->half->shares, shares,
               world->graph.count * sizeof(*shares));
        MPI_Win_sync(world->window);
        MPI_Ibarrier(MPI_COMM_WORLD, &world->request);
        return;
    }
    pack(world, shares);
    MPI_Ialltoallv(world->packed, world->border_counts, world->border_starts,
                   MPI_UINT64_T, world->arrived, world->halo_counts,
                   world->halo_starts, MPI_UINT64_T, MPI_COMM_WORLD,
                   &world->request);
}

static void poll(void *context)
{
    struct world *world = context;
    int arrived;

    MPI_Test(&world->request, &arrived, MPI_STATUS_IGNORE);
}

static const uint64_t *const *look(void *context)
{
    struct world *world = context;

    MPI_Wait(&world->request, MPI_STATUS_IGNORE);
    if (world->window != MPI_WIN_NULL)
        MPI_Win_sync(world->window);
    else
        unpack(world);
    return world->half->seen;
}

static void done(void *context)
{
    (void)context;
}

/* --- Vertices that were found --------------------------------------------- */

static void open_boxes(void *context)
{
    struct world *world = context;

    turn(world);
    memset(world->pushed, 0,
           (size_t)world->graph.ranks * sizeof(*world->pushed));
}

static void push(void *context, uint32_t owner, uint32_t vertex)
{
    struct world *world = context;

    world->half->boxes[owner][world->pushed[owner]++] = vertex;
}

static void close_boxes(void *context)
{
    struct world *world = context;

    if (world->window != MPI_WIN_NULL)
        MPI_Win_sync(world->window);
}

static void take(void *context, struct search *search, const uint32_t *sent,
                 const uint32_t *counts)
{
    struct world *world = context;
    int rank;

    if (world->window != MPI_WIN_NULL) {
        MPI_Win_sync(world->window);
        for (rank = 0; rank < world->graph.ranks; rank++)
            bfs_visit(search, world->half->inbox[rank], counts[rank]);
        return;
    }
    for (rank = 0; rank < world->graph.ranks; rank++) {
        world->sent[rank] = (int)sent[rank];
        world->coming[rank] = (int)counts[rank];
    }
    MPI_Alltoallv(world->found, world->sent, world->halo_starts, MPI_UINT32_T,
                  world->arrived_found, world->coming, world->border_starts,
                  MPI_UINT32_T, MPI_COMM_WORLD);
    for (rank = 0; rank < world->graph.ranks; rank++)
        bfs_visit(search, world->arrived_found + world->border_starts[rank],
                  counts[rank]);
}

/* --- The whole ------------------------------------------------------------ */

static int run(const struct program *program)
{
    struct world world = {0};
    struct share_exchange shares = {show, poll, look, done, &world};
    struct vertex_exchange vertices = {open_boxes, push, close_boxes, take,
                                       &world};
    int status;

    program_graph(program, &world.graph, allocate_vertices, NULL);
    make_exchange(&world);
    status = program_run(program, &world.graph, &shares, &vertices);
    free_exchange(&world);
    free_graph(&world.graph);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status = program_options(&program, "graph_mpi", argc, argv);

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status = run(&program);
    MPI_Finalize();
    return status;
}
