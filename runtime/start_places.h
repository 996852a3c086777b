/* start_places.h - who is where, as all ranks conclude from their facts. */
#ifndef DRASYNC_RUNTIME_START_PLACES_H
#define DRASYNC_RUNTIME_START_PLACES_H

#include <stdbool.h>
#include <stddef.h>

struct start_facts;

/* Arrays for @ranks, in struct runtime's fields of these names; host_of: the
 * first rank of each one's host. */
struct start_places {
    int *node_of, *local_of, *leader_of, *host_of;
    int nodes, hosts;
};

/*
 * Ranks with the same host key are a host; a host is cut, in the order of ranks,
 * into nodes of @node_ranks (0: one node).  Nodes are numbered by their first
 * rank.  The arrays are in @room, of start_places_bytes(), which is the caller's.
 */
void start_places_find(const struct start_facts *facts, int ranks,
                       int node_ranks, void *room, struct start_places *out);
size_t start_places_bytes(int ranks);

/* Do the ranks on the machine of @rank outnumber its processors, or those who may
 * use just what @rank may? */
bool start_crowded(const struct start_facts *facts, int ranks, int rank);

/* Is that so of each rank? */
bool start_all_crowded(const struct start_facts *facts, int ranks);

#endif /* DRASYNC_RUNTIME_START_PLACES_H */
