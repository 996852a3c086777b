/*
 * pagerank.h - PageRank in whole numbers, so that the order of additions does
 * not matter.  How shares come to other ranks is the caller's matter.
 */
#ifndef GRAPH_PAGERANK_H
#define GRAPH_PAGERANK_H

#include <stdint.h>

#include "graph.h"

/* The score of each vertex at the beginning. */
#define PAGERANK_UNIT (UINT64_C(1) << 32)

/*
 * How shares, one of each vertex, come to the other ranks.
 *   show  offers @shares, one of each own vertex, to the other ranks
 *   poll  is called now and then between show and look; may be NULL
 *   look  returns the shares of all vertices at borders, by owner; those of
 *         this rank may be missing
 *   done  ends the use of what look returned
 */
struct share_exchange {
    void (*show)(void *context, const uint64_t *shares);
    void (*poll)(void *context);
    const uint64_t *const *(*look)(void *context);
    void (*done)(void *context);
    void *context;
};

/* A vertex's score when the shares of its neighbours add up to @sum. */
static inline uint64_t pagerank_score(uint64_t sum)
{
    return (15 * PAGERANK_UNIT + 85 * sum) / 100;
}

/* The scores of this rank's vertices after @iterations.  Collective. */
void pagerank(const struct graph *graph, const struct share_exchange *exchange,
              uint64_t iterations, uint64_t *scores);

#endif /* GRAPH_PAGERANK_H */
