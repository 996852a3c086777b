/*
 * graph.h - one rank's vertices of a Kronecker graph, with their neighbours.
 *
 * The graph is Graph500's: 16 edges for each of 2^scale vertices, drawn by
 * R-MAT, undirected, some of them more than once; vertices are numbered at
 * random.  Loops and vertices without edges are left out.  Each rank has an
 * equal range of vertices; a vertex is known by its owner and its number there.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#define SCALE_MIN 4
#define SCALE_MAX 22

/* Neighbours of a vertex that have the same owner; one cache line. */
#define BLOCK_VERTICES 12
struct block {
    struct block *next;
    uint32_t owner;
    uint32_t count;
    uint32_t vertices[BLOCK_VERTICES];
};

struct vertex {
    struct block *near; /* neighbours that this rank owns */
    struct block *far;  /* the others, ascending by owner */
    uint64_t degree;
};

/* What this rank and another one have to do with each other. */
struct link {
    uint32_t *border; /* own vertices that have neighbours there, ascending */
    uint32_t border_count;
    uint32_t *halo; /* vertices there that have neighbours here, ascending */
    uint32_t halo_count;
};

struct graph {
    uint64_t seed;
    unsigned scale;
    int rank, ranks;
    uint32_t total; /* vertices of all */
    uint32_t start, count;
    struct vertex *vertices;
    struct link *links; /* by rank */
};

/* Memory for vertices and blocks. */
typedef void *graph_allocate(void *context, size_t size);

/* Fill @graph, whose seed, scale, rank and ranks are set. */
void graph_build(struct graph *graph, graph_allocate *allocate, void *context);

/* Free the links; vertices and blocks are the caller's. */
void graph_free_links(struct graph *graph);

/* How many vertices @rank has. */
uint32_t graph_count(const struct graph *graph, int rank);

/* --- The edges of all ----------------------------------------------------- */

struct edge {
    uint32_t ends[2]; /* numbers in the whole graph */
};

struct edges {
    struct edge *list;
    size_t count;
    uint32_t vertices;
};

/* The same on all ranks; the caller frees the list. */
struct edges edges_make(unsigned scale, uint64_t seed);

#endif /* GRAPH_GRAPH_H */
