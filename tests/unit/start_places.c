/* Who is where: hosts and nodes from what ranks tell. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/start_facts.h"
#include "runtime/start_places.h"
#include "tap.h"

/* Ranks on hosts of these keys, in nodes of @node_ranks. */
static struct start_places places_of(const uint64_t *keys, int ranks,
                                     int node_ranks)
{
    struct start_facts *facts = calloc((size_t)ranks, sizeof(*facts));
    struct start_places places;
    void *room = malloc(start_places_bytes(ranks));

    if (!facts || !room)
        abort();
    for (int i = 0; i < ranks; i++)
        facts[i].host_key = keys[i];
    start_places_find(facts, ranks, node_ranks, room, &places);
    free(facts);
    return places;
}

static void drop(struct start_places *places)
{
    free(places->node_of); /* the first in the room */
}

static bool same(const int *found, const int *expected, int count)
{
    for (int i = 0; i < count; i++)
        if (found[i] != expected[i])
            return false;
    return true;
}

/* Hosts of ranks 0 2 4 6 7, 1 5 and 3; 0 is a key like others. */
static const uint64_t mixed[] = {7, 0, 7, UINT64_MAX, 7, 0, 7, 7};

static void hosts_are_nodes(void)
{
    struct start_places p = places_of(mixed, 8, 0);

    tap_ok(p.hosts == 3 && p.nodes == 3 &&
               same(p.node_of, (int[]){0, 1, 0, 2, 0, 1, 0, 0}, 8) &&
               same(p.local_of, (int[]){0, 0, 1, 0, 2, 1, 3, 4}, 8) &&
               same(p.leader_of, (int[]){0, 1, 3}, 3) &&
               same(p.host_of, (int[]){0, 1, 0, 3, 0, 1, 0, 0}, 8),
           "each host is a node, numbered by its first rank");
    drop(&p);
}

static void hosts_are_cut(void)
{
    struct start_places p = places_of(mixed, 8, 2);

    tap_ok(p.hosts == 3 && p.nodes == 5 &&
               same(p.node_of, (int[]){0, 1, 0, 2, 3, 1, 3, 4}, 8) &&
               same(p.local_of, (int[]){0, 0, 1, 0, 0, 1, 1, 0}, 8) &&
               same(p.leader_of, (int[]){0, 1, 3, 4, 7}, 5) &&
               same(p.host_of, (int[]){0, 1, 0, 3, 0, 1, 0, 0}, 8),
           "hosts are cut into nodes of two ranks, the last one smaller");
    drop(&p);
    p = places_of(mixed, 8, 1);
    tap_ok(p.nodes == 8 &&
               same(p.node_of, (int[]){0, 1, 2, 3, 4, 5, 6, 7}, 8) &&
               same(p.local_of, (int[8]){0}, 8),
           "every rank a node");
    drop(&p);
    p = places_of(mixed, 1, 64);
    tap_ok(p.nodes == 1 && p.hosts == 1, "one rank");
    drop(&p);
}

/* 10,000 ranks, dealt out to hosts in turn, whose keys differ in high bits
 * only. */
static void many(void)
{
    enum { RANKS = 10000, HOSTS = 2500 };
    static uint64_t keys[RANKS];
    bool good = true;

    for (int i = 0; i < RANKS; i++)
        keys[i] = (uint64_t)(i % HOSTS) << 50;
    struct start_places p = places_of(keys, RANKS, 3);
    for (int i = 0; i < RANKS; i++) {
        int local = i / HOSTS, host = i % HOSTS;
        good &= p.host_of[i] == host && p.local_of[i] == local % 3 &&
                p.node_of[i] == (local < 3 ? host : HOSTS + host);
    }
    tap_ok(good && p.hosts == HOSTS && p.nodes == 2 * HOSTS, "10,000 ranks");
    drop(&p);
}

static void crowds_are_found(void)
{
    struct start_facts facts[5] = {{.machine_key = 1, .processors = 2},
                                   {.machine_key = 1, .processors = 2},
                                   {.machine_key = 2, .processors = 2},
                                   {.machine_key = 2, .processors = 2},
                                   {.machine_key = 2, .processors = 2}};

    for (int i = 0; i < 5; i++)
        facts[i].allowed = 2;

    tap_ok(!start_crowded(facts, 5, 0) && !start_crowded(facts, 5, 1),
           "as many ranks as processors are no crowd");
    tap_ok(start_crowded(facts, 5, 2) && start_crowded(facts, 5, 4),
           "more are");
    for (int i = 0; i < 5; i++) {
        facts[i].machine_key = 1;
        facts[i].processors = 64;
        facts[i].allowed = i < 3 ? 2 : 1;
        facts[i].allowed_key = i < 3 ? 7 : (uint32_t)i;
    }
    tap_ok(start_crowded(facts, 5, 0) && !start_crowded(facts, 5, 3),
           "three ranks that may use the same two are, one for each is not");
    tap_ok(!start_all_crowded(facts, 5) && start_all_crowded(facts, 3),
           "so not all are, but the three are all of three");
}

int main(void)
{
    hosts_are_nodes();
    hosts_are_cut();
    many();
    crowds_are_found();
    return tap_end();
}
