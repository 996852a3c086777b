/* One rank's part of a graph: see graph.h. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "../common/report.h"

/* --- Whose a vertex is ---------------------------------------------------- */

static uint32_t start_of(const struct graph *graph, int rank)
{
    return (uint32_t)((uint64_t)graph->total * (uint64_t)rank /
                      (uint64_t)graph->ranks);
}

static int owner_of(const struct graph *graph, uint32_t vertex)
{
    return (int)(((uint64_t)(vertex + 1) * (uint64_t)graph->ranks - 1) /
                 graph->total);
}

uint32_t graph_count(const struct graph *graph, int rank)
{
    return start_of(graph, rank + 1) - start_of(graph, rank);
}

/* --- Neighbours ----------------------------------------------------------- */

/* The neighbours of own vertex i are @list[@starts[i]] to @list[@starts[i + 1]
 * - 1], ascending. */
struct adjacency {
    size_t *starts;
    uint32_t *list;
};

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Add up how many edges each own vertex has. */
static void count_edges(const struct graph *graph, const struct edges *edges,
                        size_t *counts)
{
    size_t e;
    int end;

    for (e = 0; e < edges->count; e++) {
        for (end = 0; end < 2; end++) {
            uint32_t index = edges->list[e].ends[end] - graph->start;

            if (index < graph->count)
                counts[index]++;
        }
    }
}

static struct adjacency adjacency_make(const struct graph *graph,
                                       const struct edges *edges)
{
    struct adjacency adjacency;
    uint32_t count = graph->count, index;
    size_t *ends = report_malloc((count + 1) * sizeof(*ends)), sum = 0, e;
    int end;

    memset(ends, 0, (count + 1) * sizeof(*ends));
    count_edges(graph, edges, ends);
    adjacency.starts = report_malloc((count + 1) * sizeof(*ends));
    for (index = 0; index <= count; index++) {
        adjacency.starts[index] = sum;
        sum += ends[index];
        ends[index] = adjacency.starts[index];
    }
    adjacency.list = report_malloc(sum * sizeof(*adjacency.list));
    for (e = 0; e < edges->count; e++) {
        for (end = 0; end < 2; end++) {
            index = edges->list[e].ends[end] - graph->start;
            if (index < count)
                adjacency.list[ends[index]++] = edges->list[e].ends[1 - end];
        }
    }
    for (index = 0; index < count; index++)
        qsort(adjacency.list + adjacency.starts[index],
              adjacency.starts[index + 1] - adjacency.starts[index],
              sizeof(*adjacency.list), compare_numbers);
    free(ends);
    return adjacency;
}

/* --- Blocks --------------------------------------------------------------- */

/* A list of blocks that grows at its end. */
struct chain {
    struct block **end, *last;
};

static void chain_add(struct chain *chain, uint32_t owner, uint32_t vertex,
                      graph_allocate *allocate, void *context)
{
    struct block *block = chain->last;

    if (!block || block->owner != owner || block->count == BLOCK_VERTICES) {
        block = allocate(context, sizeof(*block));
        block->next = NULL;
        block->owner = owner;
        block->count = 0;
        *chain->end = chain->last = block;
        chain->end = &block->next;
    }
    block->vertices[block->count++] = vertex;
}

static void make_vertices(struct graph *graph,
                          const struct adjacency *adjacency,
                          graph_allocate *allocate, void *context)
{
    uint32_t index;
    size_t i;

    graph->vertices =
        allocate(context, graph->count * sizeof(*graph->vertices));
    for (index = 0; index < graph->count; index++) {
        struct vertex *vertex = &graph->vertices[index];
        struct chain near = {&vertex->near, NULL}, far = {&vertex->far, NULL};

        vertex->near = vertex->far = NULL;
        vertex->degree =
            adjacency->starts[index + 1] - adjacency->starts[index];
        for (i = adjacency->starts[index]; i < adjacency->starts[index + 1];
             i++) {
            int owner = owner_of(graph, adjacency->list[i]);

            chain_add(owner == graph->rank ? &near : &far, (uint32_t)owner,
                      adjacency->list[i] - start_of(graph, owner), allocate,
                      context);
        }
    }
}

/* --- Links ---------------------------------------------------------------- */

/* Mark vertices of others that have neighbours here, by number. */
static uint8_t *mark_halo(const struct graph *graph,
                          const struct adjacency *adjacency)
{
    uint8_t *marks = report_malloc(graph->total);
    size_t i;

    memset(marks, 0, graph->total);
    for (i = 0; i < adjacency->starts[graph->count]; i++)
        marks[adjacency->list[i]] = 1;
    return marks;
}

/* Add own vertex @index to the border of each rank that has a neighbour. */
static void add_to_borders(struct graph *graph, uint32_t index)
{
    const struct block *block;

    for (block = graph->vertices[index].far; block; block = block->next) {
        struct link *link = &graph->links[block->owner];

        if (!link->border_count ||
            link->border[link->border_count - 1] != index)
            link->border[link->border_count++] = index;
    }
}

/* Being a neighbour is mutual, so each rank knows what the others need. */
static void make_links(struct graph *graph, const struct adjacency *adjacency)
{
    uint8_t *marks = mark_halo(graph, adjacency);
    uint32_t index;
    int rank;

    graph->links = report_malloc((size_t)graph->ranks * sizeof(*graph->links));
    for (rank = 0; rank < graph->ranks; rank++) {
        uint32_t count = graph_count(graph, rank);
        struct link *link = &graph->links[rank];

        link->border = report_malloc(graph->count * sizeof(*link->border));
        link->halo = report_malloc(count * sizeof(*link->halo));
        link->border_count = link->halo_count = 0;
        for (index = 0; rank != graph->rank && index < count; index++) {
            if (marks[start_of(graph, rank) + index])
                link->halo[link->halo_count++] = index;
        }
    }
    for (index = 0; index < graph->count; index++)
        add_to_borders(graph, index);
    free(marks);
}

void graph_free_links(struct graph *graph)
{
    int rank;

    for (rank = 0; rank < graph->ranks; rank++) {
        free(graph->links[rank].border);
        free(graph->links[rank].halo);
    }
    free(graph->links);
}

void graph_build(struct graph *graph, graph_allocate *allocate, void *context)
{
    struct edges edges = edges_make(graph->scale, graph->seed);
    struct adjacency adjacency;

    graph->total = edges.vertices;
    graph->start = start_of(graph, graph->rank);
    graph->count = graph_count(graph, graph->rank);
    adjacency = adjacency_make(graph, &edges);
    make_vertices(graph, &adjacency, allocate, context);
    make_links(graph, &adjacency);
    free(adjacency.starts);
    free(adjacency.list);
    free(edges.list);
}
