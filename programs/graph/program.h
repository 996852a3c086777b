/*
 * program.h - what both forms of the graph program share around the exchange
 * between ranks: the command line, the work that is measured, and the result.
 */
#ifndef GRAPH_PROGRAM_H
#define GRAPH_PROGRAM_H

#include <stdint.h>

#include "bfs.h"
#include "graph.h"
#include "pagerank.h"

enum {
    EXIT_VERIFY = 1, /* another result than the plain form's */
};

struct program {
    const char *name;
    uint64_t scale, seed;
    uint64_t iterations; /* of PageRank */
    uint64_t roots;      /* of searches */
    int runs;
    int verify;
};

/*
 * Read the command line, before MPI starts.  Returns -1 to go on, or the status
 * to exit with, after --help, --version or an error.
 */
int program_options(struct program *program, const char *name, int argc,
                    char **argv);

/* Make this rank's part of @graph.  After MPI_Init. */
void program_graph(const struct program *program, struct graph *graph,
                   graph_allocate *allocate, void *context);

/* PageRank and the searches, measured, and the result.  Collective; returns the
 * status to exit with. */
int program_run(const struct program *program, const struct graph *graph,
                const struct share_exchange *shares,
                const struct vertex_exchange *vertices);

/* How many of this rank's vertices have another score than a plain form gives,
 * or another level; @levels are those of a search from @root. */
uint64_t verify_scores(const struct graph *graph, const struct edges *edges,
                       uint64_t iterations, const uint64_t *scores);
uint64_t verify_levels(const struct graph *graph, const struct edges *edges,
                       uint32_t root, const uint32_t *levels);

#endif /* GRAPH_PROGRAM_H */
