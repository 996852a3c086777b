/* Who is where: hosts and nodes, from what the ranks have told. */
#include "runtime/start_places.h"

#include <stddef.h>

#include "runtime/start_facts.h"

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

/* Slots for hosts: a power of two, twice as many as there may be. */
static size_t slots_for(int ranks)
{
    size_t slots = 2;

    while (slots < 2 * (size_t)ranks)
        slots *= 2;
    return slots;
}

size_t start_places_bytes(int ranks)
{
    return (6 * (size_t)ranks + slots_for(ranks)) * sizeof(int);
}

void start_places_find(const struct start_facts *facts, int ranks,
                       int node_ranks, void *room, struct start_places *out)
{
    int *arrays = room;
    struct hosts hosts = {.slots = slots_for(ranks),
                          .first = arrays + 6 * (size_t)ranks};

    *out = (struct start_places){
        .node_of = arrays,
        .local_of = arrays + ranks,
        .leader_of = arrays + 2 * (size_t)ranks,
        .host_of = arrays + 3 * (size_t)ranks,
    };
    for (size_t i = 0; i < hosts.slots; i++)
        hosts.first[i] = -1;
    find(facts, ranks, node_ranks, &hosts, arrays + 4 * (size_t)ranks,
         arrays + 5 * (size_t)ranks, out);
}

static bool is_alike(const struct start_facts *a, const struct start_facts *b)
{
    return a->machine_key == b->machine_key && a->allowed == b->allowed &&
           a->allowed_key == b->allowed_key;
}

bool start_crowded(const struct start_facts *facts, int ranks, int rank)
{
    const struct start_facts *own = &facts[rank];
    uint32_t there = 0, alike = 0;

    for (int i = 0; i < ranks; i++) {
        there += facts[i].machine_key == own->machine_key;
        alike += is_alike(&facts[i], own);
    }
    return there > own->processors || alike > own->allowed;
}

/* Where ranks have processors of their own the first one answers; else those
 * that follow one another are mostly alike. */
bool start_all_crowded(const struct start_facts *facts, int ranks)
{
    for (int i = 0; i < ranks; i++)
        if ((i == 0 || !is_alike(&facts[i], &facts[i - 1])) &&
            !start_crowded(facts, ranks, i))
            return false;
    return true;
}
