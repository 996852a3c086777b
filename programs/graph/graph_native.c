/*
 * PageRank and breadth-first search on DRASync.  Each rank has a region.  In
 * its subregions are its vertices, the shares that it writes and all ranks
 * read, and for each rank a list of vertices that were found there.  Who reads
 * shares waits until they are newer than those that it read before; there are two
 * sets, so a rank that is ahead does not write what others read.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/check.h"
#include "../common/report.h"
#include "drasync.h"
#include "program.h"

/* A list of vertices whose pieces stay for the next level. */
#define PIECE_VERTICES 1000
struct piece {
    struct piece *next;
    uint32_t vertices[PIECE_VERTICES];
};

struct list {
    region region;
    struct piece *first;
};

struct shares {
    region region;
    uint64_t *values;
    uint64_t version; /* of @region, when others learn of it */
};

/* Ranks write one while others may still read the other. */
struct half {
    struct shares mine, *all;
    const uint64_t **values;        /* of @all, while they are read */
    struct list *mine_for, *for_me; /* by rank */
};

struct world {
    struct graph graph;
    region mine, vertices;
    struct half halves[2];
    struct half *half;   /* the one in use */
    struct piece **last; /* of each list that is being filled */
    uint32_t *pushed;
};

/* --- What a rank has ------------------------------------------------------ */

static void *allocate_vertices(void *context, size_t size)
{
    struct world *world = context;

    return ralloc(world->vertices, size);
}

static struct piece *new_piece(region r)
{
    struct piece *piece = ralloc(r, sizeof(*piece));

    piece->next = NULL;
    return piece;
}

static void make_half(struct world *world, struct half *half)
{
    size_t ranks = (size_t)world->graph.ranks, rank;

    half->mine.region = new_subregion(world->mine);
    half->mine.values =
        ralloc(half->mine.region, world->graph.count * sizeof(uint64_t));
    check(drasync_get_version(half->mine.region, &half->mine.version));
    half->all = report_malloc(ranks * sizeof(*half->all));
    half->values = report_malloc(ranks * sizeof(*half->values));
    half->mine_for = report_malloc(ranks * sizeof(*half->mine_for));
    half->for_me = report_malloc(ranks * sizeof(*half->for_me));
    for (rank = 0; rank < ranks; rank++) {
        half->mine_for[rank].region = new_subregion(world->mine);
        half->mine_for[rank].first = new_piece(half->mine_for[rank].region);
    }
    MPI_Allgather(&half->mine, sizeof(half->mine), MPI_BYTE, half->all,
                  sizeof(half->mine), MPI_BYTE, MPI_COMM_WORLD);
    MPI_Alltoall(half->mine_for, sizeof(struct list), MPI_BYTE, half->for_me,
                 sizeof(struct list), MPI_BYTE, MPI_COMM_WORLD);
}

static void free_half(struct half *half)
{
    free(half->all);
    free(half->values);
    free(half->mine_for);
    free(half->for_me);
}

static void turn(struct world *world)
{
    world->half = &world->halves[world->half == world->halves];
}

/* --- Shares --------------------------------------------------------------- */

static void show(void *context, const uint64_t *shares)
{
    struct world *world = context;

    turn(world);
    acquire_region(world->half->mine.region, WRITE);
    memcpy(world->half->mine.values, shares,
           world->graph.count * sizeof(*shares));
    release_region(world->half->mine.region);
}

static const uint64_t *const *look(void *context)
{
    struct world *world = context;
    struct half *half = world->half;
    int rank;

    for (rank = 0; rank < world->graph.ranks; rank++) {
        check(drasync_acquire_newer(half->all[rank].region, DRASYNC_READ,
                                    &half->all[rank].version, DRASYNC_FOREVER));
        half->values[rank] = half->all[rank].values;
    }
    return half->values;
}

static void done(void *context)
{
    struct world *world = context;
    int rank;

    for (rank = 0; rank < world->graph.ranks; rank++)
        release_region(world->half->all[rank].region);
}

/* --- Lists of vertices ---------------------------------------------------- */

static void open_lists(void *context)
{
    struct world *world = context;

    turn(world);
    memset(world->pushed, 0,
           (size_t)world->graph.ranks * sizeof(*world->pushed));
}

static void push(void *context, uint32_t owner, uint32_t vertex)
{
    struct world *world = context;
    struct piece *last;
    uint32_t at;

    /* Only what is written: others read each version once, so it comes to them. */
    if (!world->pushed[owner]) {
        acquire_region(world->half->mine_for[owner].region, WRITE);
        world->last[owner] = world->half->mine_for[owner].first;
    }
    at = world->pushed[owner]++ % PIECE_VERTICES;
    last = world->last[owner];
    last->vertices[at] = vertex;
    if (at < PIECE_VERTICES - 1)
        return;
    if (!last->next)
        last->next = new_piece(world->half->mine_for[owner].region);
    world->last[owner] = last->next;
}

static void close_lists(void *context)
{
    struct world *world = context;
    int rank;

    for (rank = 0; rank < world->graph.ranks; rank++)
        if (world->pushed[rank])
            release_region(world->half->mine_for[rank].region);
}

static void take(void *context, struct search *search, const uint32_t *sent,
                 const uint32_t *counts)
{
    struct world *world = context;
    const struct piece *piece;
    uint32_t left, some;
    int rank;

    (void)sent;
    for (rank = 0; rank < world->graph.ranks; rank++) {
        const struct list *list = &world->half->for_me[rank];

        if (!counts[rank])
            continue;
        acquire_region(list->region, READ);
        piece = list->first;
        for (left = counts[rank]; left > 0; left -= some) {
            some = left < PIECE_VERTICES ? left : PIECE_VERTICES;
            bfs_visit(search, piece->vertices, some);
            piece = piece->next;
        }
        release_region(list->region);
    }
}

/* --- The whole ------------------------------------------------------------ */

static int run(const struct program *program)
{
    struct world world = {0};
    struct share_exchange shares = {show, NULL, look, done, &world};
    struct vertex_exchange vertices = {open_lists, push, close_lists, take,
                                       &world};
    size_t ranks;
    int status, h;

    world.mine = new_region();
    world.vertices = new_subregion(world.mine);
    program_graph(program, &world.graph, allocate_vertices, &world);
    ranks = (size_t)world.graph.ranks;
    world.last = report_malloc(ranks * sizeof(*world.last));
    world.pushed = report_malloc(ranks * sizeof(*world.pushed));
    for (h = 0; h < 2; h++)
        make_half(&world, &world.halves[h]);
    release_region(world.mine);

    acquire_region(world.vertices, READ);
    status = program_run(program, &world.graph, &shares, &vertices);
    release_region(world.vertices);
    delete_region(world.mine);
    for (h = 0; h < 2; h++)
        free_half(&world.halves[h]);
    graph_free_links(&world.graph);
    free(world.last);
    free(world.pushed);
    return status;
}

int main(int argc, char **argv)
{
    struct program program;
    int status = program_options(&program, "graph_native", argc, argv);

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    status = run(&program);
    MPI_Finalize();
    return status;
}
