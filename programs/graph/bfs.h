/*
 * bfs.h - breadth-first search, level by level.  How the vertices that are
 * found come to the ranks that own them is the caller's matter.
 */
#ifndef GRAPH_BFS_H
#define GRAPH_BFS_H

#include <stdint.h>

#include "graph.h"

/* The level of a vertex that is not reached. */
#define BFS_NONE UINT32_MAX

struct search;

/*
 * How vertices that are found come to their owners, in each level:
 *   open   is called before the first push
 *   push   adds @vertex of @owner to what goes there; not twice in a search, so
 *          at most graph->links[owner].halo_count times
 *   close  is called after the last push
 *   take   calls bfs_visit() with what other ranks pushed, which are
 *          @counts[rank] vertices.  All ranks are past close, and all leave
 *          take before any is in the next but one open
 * @sent and @counts are by rank.
 */
struct vertex_exchange {
    void (*open)(void *context);
    void (*push)(void *context, uint32_t owner, uint32_t vertex);
    void (*close)(void *context);
    void (*take)(void *context, struct search *search, const uint32_t *sent,
                 const uint32_t *counts);
    void *context;
};

/* Vertices of this rank that others found. */
void bfs_visit(struct search *search, const uint32_t *vertices, uint32_t count);

/* The levels of this rank's vertices, as seen from vertex @root of the whole
 * graph.  Collective. */
void bfs(const struct graph *graph, const struct vertex_exchange *exchange,
         uint32_t root, uint32_t *levels);

#endif /* GRAPH_BFS_H */
