/* PageRank and breadth-first search from the list of all edges, as plainly as
 * can be, to compare with. */
#include <stdlib.h>

#include "../common/report.h"
#include "program.h"

uint64_t verify_scores(const struct graph *graph, const struct edges *edges,
                       uint64_t iterations, const uint64_t *scores)
{
    size_t vertices = edges->vertices, v, e;
    uint64_t *score = report_malloc(vertices * sizeof(*score));
    uint64_t *degree = report_malloc(vertices * sizeof(*degree)), wrong = 0;
    uint64_t *sum = report_malloc(vertices * sizeof(*sum));

    for (v = 0; v < vertices; v++) {
        score[v] = PAGERANK_UNIT;
        degree[v] = 0;
    }
    for (e = 0; e < edges->count; e++) {
        degree[edges->list[e].ends[0]]++;
        degree[edges->list[e].ends[1]]++;
    }
    while (iterations-- > 0) {
        for (v = 0; v < vertices; v++)
            sum[v] = 0;
        for (e = 0; e < edges->count; e++) {
            uint32_t a = edges->list[e].ends[0], b = edges->list[e].ends[1];

            sum[a] += score[b] / degree[b];
            sum[b] += score[a] / degree[a];
        }
        for (v = 0; v < vertices; v++)
            score[v] = pagerank_score(sum[v]);
    }
    for (v = 0; v < graph->count; v++)
        wrong += scores[v] != score[graph->start + v];
    free(score);
    free(degree);
    free(sum);
    return wrong;
}

uint64_t verify_levels(const struct graph *graph, const struct edges *edges,
                       uint32_t root, const uint32_t *levels)
{
    uint32_t *level = report_malloc(edges->vertices * sizeof(*level)), reached;
    uint64_t wrong = 0;
    size_t v, e;
    int end, changed;

    for (v = 0; v < edges->vertices; v++)
        level[v] = BFS_NONE;
    level[root] = 0;
    for (reached = 0, changed = 1; changed; reached++) {
        changed = 0;
        for (e = 0; e < edges->count; e++) {
            for (end = 0; end < 2; end++) {
                uint32_t from = edges->list[e].ends[end];
                uint32_t to = edges->list[e].ends[1 - end];

                if (level[from] == reached && level[to] == BFS_NONE) {
                    level[to] = reached + 1;
                    changed = 1;
                }
            }
        }
    }
    for (v = 0; v < graph->count; v++)
        wrong += levels[v] != level[graph->start + v];
    free(level);
    return wrong;
}
