/*
 * Worker 0 sends the same to everybody, who then have it each for themselves:
 * rounds of a region of BYTES that is as it was, changed, or another one.
 * Usage: myrmics_everybody BYTES ROUNDS
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "myrmics_check.h"

/* As it was; changed in a word; changed again while it is on its way; all
 * changed; as it was. */
enum { KINDS = 5 };

static size_t words;

struct thing {
    rid_t region;
    uint64_t *data;
    uint64_t seed, last; /* what worker 0 has there, and in the last word */
};

static void fill(struct thing *thing, uint64_t seed)
{
    thing->seed = seed;
    for (size_t i = 0; i < words; i++)
        thing->data[i] = seed * 1000003 + i;
    thing->last = thing->data[words - 1];
}

static void look(const struct thing *thing)
{
    for (size_t i = 0; i + 1 < words; i++)
        CHECK(thing->data[i] == thing->seed * 1000003 + i);
    CHECK(thing->data[words - 1] == thing->last);
}

/* Some receive at once; some when all has been sent, and sent again. */
static void receive(struct thing *thing, int times)
{
    for (int i = 0; i < times; i++) {
        CHECK(sys_recv(thing->region, 0) == thing->region);
        look(thing);
        /* Its own from now on: nobody else may see that. */
        memset(thing->data, 0xee, words * sizeof(*thing->data));
    }
}

/* Once more to each after the first, to some twice in a row. */
static void send_to_all(struct thing *thing)
{
    for (int worker = 1; worker < workers; worker++)
        for (int times = 0; times < 1 + worker % 2; times++)
            sys_send(thing->region, worker);
}

static void one_round(struct thing *thing, uint64_t seed, int kind)
{
    int late = me % 3 == 1;
    uint64_t sent[2];

    if (me == 0) {
        if (kind == 1)
            thing->data[words - 1] = ++thing->last;
        else if (kind == 2 || kind == 3)
            fill(thing, seed);
        send_to_all(thing);
    }
    sent[0] = thing->seed;
    sent[1] = thing->last;
    if (me == 0 && kind == 2)
        fill(thing, seed + 1);
    MPI_Bcast(sent, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (me != 0) {
        thing->seed = sent[0];
        thing->last = sent[1];
    }
    if (late)
        sys_barrier();
    if (me != 0)
        receive(thing, 1 + me % 2);
    else
        look(thing);
    if (!late)
        sys_barrier();
}

int main(int argc, char **argv)
{
    struct thing things[2];
    uint64_t addresses[4] = {0};
    int rounds;

    MPI_Init(&argc, &argv);
    me = sys_get_worker_id();
    workers = sys_get_num_workers();
    words = strtoul(argv[1], NULL, 10) / sizeof(uint64_t);
    rounds = atoi(argv[2]);
    for (int i = 0; i < 2 && me == 0; i++) {
        things[i].region = sys_ralloc(0, 0);
        things[i].data = sys_alloc(words * sizeof(uint64_t), things[i].region);
        fill(&things[i], (uint64_t)i);
        addresses[2 * i] = (uint64_t)things[i].region;
        addresses[2 * i + 1] = (uint64_t)(uintptr_t)things[i].data;
    }
    MPI_Bcast(addresses, 4, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) {
        things[i].region = (rid_t)addresses[2 * i];
        things[i].data = (uint64_t *)(uintptr_t)addresses[2 * i + 1];
    }
    for (int i = 0; i < rounds; i++)
        one_round(&things[i / KINDS % 2], 10 + 2 * (uint64_t)i, i % KINDS);
    sys_barrier();
    if (me == 0)
        sys_rfree(things[0].region);
    sys_barrier();
    if (me == 0)
        printf("ok %d rounds\n", rounds);
    MPI_Finalize();
    return 0;
}
