/* Breadth-first search on one rank's vertices: see bfs.h. */
#include "bfs.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* What a rank tells each other one at the end of a level. */
struct tally {
    uint32_t for_you; /* vertices that were pushed */
    uint32_t found;   /* vertices for all, itself among them */
};

struct search {
    const struct graph *graph;
    uint32_t *levels;
    uint32_t level; /* of the vertices that are being found */
    uint32_t *frontier, *next;
    uint32_t frontier_count, next_count;
    uint8_t **pushed; /* by owner and vertex */
    uint32_t *sent, *counts;
    struct tally *told, *heard;
};

static void visit(struct search *search, uint32_t vertex)
{
    if (search->levels[vertex] != BFS_NONE)
        return;
    search->levels[vertex] = search->level;
    search->next[search->next_count++] = vertex;
}

void bfs_visit(struct search *search, const uint32_t *vertices, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        visit(search, vertices[i]);
}

/* The neighbours of the frontier: own ones are visited, others pushed once. */
static void expand(struct search *search,
                   const struct vertex_exchange *exchange)
{
    const struct block *block;
    uint32_t f, i;

    for (f = 0; f < search->frontier_count; f++) {
        const struct vertex *vertex =
            &search->graph->vertices[search->frontier[f]];

        for (block = vertex->near; block; block = block->next)
            bfs_visit(search, block->vertices, block->count);
        for (block = vertex->far; block; block = block->next) {
            uint8_t *pushed = search->pushed[block->owner];

            for (i = 0; i < block->count; i++) {
                if (pushed[block->vertices[i]])
                    continue;
                pushed[block->vertices[i]] = 1;
                search->sent[block->owner]++;
                exchange->push(exchange->context, block->owner,
                               block->vertices[i]);
            }
        }
    }
}

/* Tell all ranks how many vertices there are for them; returns whether anybody
 * found any. */
static int tell(struct search *search)
{
    int ranks = search->graph->ranks, rank;
    uint32_t found = search->next_count, any = 0;

    for (rank = 0; rank < ranks; rank++)
        found += search->sent[rank];
    for (rank = 0; rank < ranks; rank++)
        search->told[rank] = (struct tally){search->sent[rank], found};
    MPI_Alltoall(search->told, 2, MPI_UINT32_T, search->heard, 2, MPI_UINT32_T,
                 MPI_COMM_WORLD);
    for (rank = 0; rank < ranks; rank++) {
        search->counts[rank] = search->heard[rank].for_you;
        any |= search->heard[rank].found;
    }
    return any != 0;
}

static void make(struct search *search, const struct graph *graph,
                 uint32_t *levels)
{
    size_t ranks = (size_t)graph->ranks;
    uint32_t rank, count, v;

    memset(search, 0, sizeof(*search));
    search->graph = graph;
    search->levels = levels;
    search->frontier = report_malloc(graph->count * sizeof(*search->frontier));
    search->next = report_malloc(graph->count * sizeof(*search->next));
    search->sent = report_malloc(ranks * sizeof(*search->sent));
    search->counts = report_malloc(ranks * sizeof(*search->counts));
    search->told = report_malloc(ranks * sizeof(*search->told));
    search->heard = report_malloc(ranks * sizeof(*search->heard));
    search->pushed = report_malloc(ranks * sizeof(*search->pushed));
    for (rank = 0; rank < ranks; rank++) {
        count = graph_count(graph, (int)rank);
        search->pushed[rank] = report_malloc(count);
        memset(search->pushed[rank], 0, count);
    }
    for (v = 0; v < graph->count; v++)
        levels[v] = BFS_NONE;
}

static void unmake(struct search *search)
{
    int rank;

    for (rank = 0; rank < search->graph->ranks; rank++)
        free(search->pushed[rank]);
    free(search->pushed);
    free(search->heard);
    free(search->told);
    free(search->counts);
    free(search->sent);
    free(search->next);
    free(search->frontier);
}

void bfs(const struct graph *graph, const struct vertex_exchange *exchange,
         uint32_t root, uint32_t *levels)
{
    struct search search;

    make(&search, graph, levels);
    if (root - graph->start < graph->count)
        visit(&search, root - graph->start);
    do {
        uint32_t *empty = search.frontier;

        search.frontier = search.next;
        search.frontier_count = search.next_count;
        search.next = empty;
        search.next_count = 0;
        search.level++;
        memset(search.sent, 0, (size_t)graph->ranks * sizeof(*search.sent));
        exchange->open(exchange->context);
        expand(&search, exchange);
        exchange->close(exchange->context);
        if (!tell(&search))
            break;
        exchange->take(exchange->context, &search, search.sent, search.counts);
    } while (1);
    unmake(&search);
}
