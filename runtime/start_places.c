/* Who is where: hosts and nodes, from what the ranks have told. */
#include "runtime/start.h"

#include <stdlib.h>

/* The hosts found so far, by key: open addressing. */
struct hosts {
    int *first; /* [slots] the first rank of a host; -1: free */
    size_t slots;
};

/* The slot of the host with this key, or the free one where it belongs. */
static int *host_slot(const struct hosts *hosts,
                      const struct start_facts *facts, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & (hosts->slots - 1);

    while (hosts->first[at] >= 0 && facts[hosts->first[at]].host_key != key)
        at = (at + 1) & (hosts->slots - 1);
    return &hosts->first[at];
}

/* @seen: [ranks] how many ranks of a host there were, by its first rank; @node:
 * [ranks] the node that is being filled there. */
static void find(const struct start_facts *facts, int ranks, int node_ranks,
                 const struct hosts *hosts, int *seen, int *node,
                 struct start_places *out)
{
    for (int rank = 0; rank < ranks; rank++) {
        int *slot = host_slot(hosts, facts, facts[rank].host_key);

        if (*slot < 0) {
            *slot = rank;
            seen[rank] = 0;
            out->hosts++;
        }
        int host = *slot, local = seen[host]++;
        if (node_ranks)
            local %= node_ranks;
        if (local == 0) {
            node[host] = out->nodes;
            out->leader_of[out->nodes++] = rank;
        }
        out->host_of[rank] = host;
        out->node_of[rank] = node[host];
        out->local_of[rank] = local;
    }
}

int start_places_find(const struct start_facts *facts, int ranks,
                      int node_ranks, struct start_places *out)
{
    size_t bytes = (size_t)ranks * sizeof(int);
    int *seen = malloc(bytes), *node = malloc(bytes);
    struct hosts hosts = {.slots = 2};

    while (hosts.slots < 2 * (size_t)ranks)
        hosts.slots *= 2;
    hosts.first = malloc(hosts.slots * sizeof(int));
    *out = (struct start_places){
        .node_of = malloc(bytes),
        .local_of = malloc(bytes),
        .leader_of = malloc(bytes),
        .host_of = malloc(bytes),
    };
    bool enough = seen && node && hosts.first && out->node_of &&
                  out->local_of && out->leader_of && out->host_of;
    for (size_t i = 0; enough && i < hosts.slots; i++)
        hosts.first[i] = -1;
    if (enough) {
        find(facts, ranks, node_ranks, &hosts, seen, node, out);
    } else {
        free(out->node_of);
        free(out->local_of);
        free(out->leader_of);
        free(out->host_of);
    }
    free(seen);
    free(node);
    free(hosts.first);
    return enough ? 0 : DRASYNC_ENOMEM;
}
