/* PageRank on one rank's vertices: see pagerank.h. */
#include "pagerank.h"

#include <stdlib.h>

#include "../common/report.h"

/* Vertices between two polls. */
#define POLL_VERTICES 2048

/* The shares of own neighbours, while others' are on their way. */
static void add_near(const struct graph *graph,
                     const struct share_exchange *exchange,
                     const uint64_t *shares, uint64_t *sums)
{
    const struct block *block;
    uint64_t sum;
    uint32_t v, i;

    for (v = 0; v < graph->count; v++) {
        if (exchange->poll && v % POLL_VERTICES == 0)
            exchange->poll(exchange->context);
        sum = 0;
        for (block = graph->vertices[v].near; block; block = block->next)
            for (i = 0; i < block->count; i++)
                sum += shares[block->vertices[i]];
        sums[v] = sum;
    }
}

/* The shares of others' neighbours. */
static void add_far(const struct graph *graph, const uint64_t *const *shares,
                    uint64_t *sums)
{
    const struct block *block;
    uint64_t sum;
    uint32_t v, i;

    for (v = 0; v < graph->count; v++) {
        sum = sums[v];
        for (block = graph->vertices[v].far; block; block = block->next) {
            const uint64_t *of_owner = shares[block->owner];

            for (i = 0; i < block->count; i++)
                sum += of_owner[block->vertices[i]];
        }
        sums[v] = sum;
    }
}

void pagerank(const struct graph *graph, const struct share_exchange *exchange,
              uint64_t iterations, uint64_t *scores)
{
    uint64_t *shares = report_malloc(graph->count * sizeof(*shares)), i;
    uint64_t *sums = report_malloc(graph->count * sizeof(*sums));
    uint32_t v;

    for (v = 0; v < graph->count; v++)
        scores[v] = PAGERANK_UNIT;
    for (i = 0; i < iterations; i++) {
        for (v = 0; v < graph->count; v++)
            shares[v] = scores[v] / graph->vertices[v].degree;
        exchange->show(exchange->context, shares);
        add_near(graph, exchange, shares, sums);
        add_far(graph, exchange->look(exchange->context), sums);
        exchange->done(exchange->context);
        for (v = 0; v < graph->count; v++)
            scores[v] = pagerank_score(sums[v]);
    }
    free(shares);
    free(sums);
}
