/*
 * Managed regions: each rank reads, copies, gives on and gives back references
 * as they come, and all regions end.
 *
 * native_managed_random [ROUNDS]
 */
#include <stdlib.h>

#include "native_managed.h"

#define REGIONS   16 /* of each rank */
#define TAG_GIVEN 7

struct token {
    drasync_region_t region;
    uint64_t number;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Do something with a reference: read, drop, copy, give. */
static void step(struct token *tokens, int *count, int room, uint64_t *random)
{
    int i = (int)(next_random(random) % (uint64_t)*count);
    struct token token = tokens[i];
    int to = (int)(next_random(random) % (uint64_t)check_ranks);
    drasync_weak_t weak;

    switch (next_random(random) % 8) {
    case 0:
        OK(drasync_unref(token.region));
        tokens[i] = tokens[--*count];
        break;
    case 1:
        if (*count >= room)
            break;
        OK(drasync_ref(token.region));
        tokens[(*count)++] = token;
        break;
    case 2:
        if (*count >= room)
            break;
        OK(drasync_weak(token.region, &weak));
        OK(drasync_weak_lock(&weak, &tokens[*count].region));
        CHECK(tokens[*count].region == token.region);
        tokens[(*count)++].number = token.number;
        break;
    case 3:
    case 4:
        OK(drasync_ref_give(token.region, to));
        /* MPI_Send() to oneself would wait. */
        if (to == check_rank)
            break;
        MPI_Send(&token, sizeof(token), MPI_BYTE, to, TAG_GIVEN,
                 MPI_COMM_WORLD);
        tokens[i] = tokens[--*count];
        break;
    default:
        read_it(token.region, token.number);
        break;
    }
}

/* What others gave. */
static void receive(struct token *tokens, int *count)
{
    int there = 1;

    while (there) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_GIVEN, MPI_COMM_WORLD, &there,
                   MPI_STATUS_IGNORE);
        if (there)
            MPI_Recv(&tokens[(*count)++], sizeof(*tokens), MPI_BYTE,
                     MPI_ANY_SOURCE, TAG_GIVEN, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void random_walk(int rounds)
{
    /* Each round makes one more at most, and all may come to one rank. */
    const int room = 64, most = (REGIONS + rounds) * check_ranks;
    struct token *tokens = malloc((size_t)most * sizeof(*tokens));
    uint64_t random = (uint64_t)check_rank + 1;
    int count = 0, everywhere;
    struct node *node;

    CHECK(tokens);
    for (int i = 0; i < REGIONS; i++) {
        tokens[count].number = (uint64_t)(check_rank * REGIONS + i);
        tokens[count].region = make(&node, tokens[count].number);
        count++;
    }
    for (int i = 0; i < rounds; i++) {
        receive(tokens, &count);
        if (count)
            step(tokens, &count, room, &random);
    }
    /* What is under way comes in; then all is given back. */
    MPI_Barrier(MPI_COMM_WORLD);
    do {
        receive(tokens, &count);
        while (count)
            OK(drasync_unref(tokens[--count].region));
        check_barrier();
        receive(tokens, &count);
        MPI_Allreduce(&count, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (everywhere);
    wait_for_ends();
    free(tokens);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 200;

    check_start(&argc, &argv);
    random_walk(rounds);
    return check_end("managed_random");
}
