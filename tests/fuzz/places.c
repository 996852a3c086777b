/*
 * places.c - facts that ranks tell each other at the start: who is where.  Each
 * rank gets a place, whatever the keys are, and the places agree.
 */
#include "runtime/start_facts.h"
#include "runtime/start_places.h"
#include "tests/fuzz/fuzz.h"

enum { RANKS_MAX = 64 };

static void check(const struct start_facts *facts, int ranks, int node_ranks,
                  const struct start_places *p)
{
    int of_node[RANKS_MAX] = {0};

    FUZZ_HOLDS(p->hosts >= 1 && p->hosts <= p->nodes && p->nodes <= ranks);
    for (int i = 0; i < ranks; i++) {
        int node = p->node_of[i], host = p->host_of[i];

        FUZZ_HOLDS(node >= 0 && node < p->nodes && host >= 0 && host <= i);
        FUZZ_HOLDS(facts[host].host_key == facts[i].host_key);
        FUZZ_HOLDS(p->local_of[i] == of_node[node]++);
        FUZZ_HOLDS(!node_ranks || of_node[node] <= node_ranks);
        FUZZ_HOLDS((p->leader_of[node] == i) == (p->local_of[i] == 0));
        FUZZ_HOLDS(p->host_of[p->leader_of[node]] == host);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_input in = {data, bytes};
    struct start_facts facts[RANKS_MAX];
    struct start_places places;
    int ranks = 1 + (int)(fuzz_number(&in, 1) % RANKS_MAX);
    int node_ranks = (int)(fuzz_number(&in, 1) % (RANKS_MAX + 1));
    void *room = malloc(start_places_bytes(ranks));

    FUZZ_HOLDS(room);
    memset(facts, 0, sizeof(facts));
    for (int i = 0; i < ranks; i++)
        facts[i].host_key = fuzz_number(&in, i % 2 ? 8 : 1);
    start_places_find(facts, ranks, node_ranks, room, &places);
    check(facts, ranks, node_ranks, &places);
    free(room);
    return 0;
}
