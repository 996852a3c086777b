/*
 * A search tree that grows step by step, by one rank after the other, and is
 * saved now and then; a run goes on where the last one was killed.
 *
 *   save_steps FILE STEPS [KILLED]   at step KILLED the rank whose turn it is
 *                                    kills itself
 */
#include <signal.h>
#include <unistd.h>

#include "native_check.h"

#define STEPS_PER_SAVE 7
#define WAIT_US        ((uint64_t)20000000)

struct node {
    struct node *child[2];
    uint64_t key, count;
};

struct state {
    uint64_t step;
    uint64_t random;
    struct node *top;
};

static uint64_t next(uint64_t *random)
{
    *random =
        *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

static void add(drasync_region_t region, struct node **at, uint64_t key)
{
    void *ptr;

    while (*at && (*at)->key != key)
        at = &(*at)->child[key > (*at)->key];
    if (!*at) {
        OK(drasync_alloc(region, sizeof(**at), &ptr));
        *at = ptr;
        **at = (struct node){.key = key};
    }
    (*at)->count++;
}

/* Take the leftmost leaf out. */
static void take_out(struct node **at)
{
    struct node *gone;

    while ((*at)->child[0] || (*at)->child[1])
        at = &(*at)->child[(*at)->child[0] == NULL];
    gone = *at;
    *at = NULL;
    OK(drasync_free(gone));
}

static uint64_t hash(const struct node *n, uint64_t value)
{
    if (!n)
        return value * 31 + 1;
    value = hash(n->child[0], value);
    value = (value ^ n->key ^ n->count << 40) * UINT64_C(0x100000001b3);
    return hash(n->child[1], value);
}

static struct state *state_of(drasync_region_t region)
{
    void *root;

    OK(drasync_get_root(region, &root));
    return root;
}

/* By rank 0: what was saved, or a state at the beginning. */
static void begin(const char *file)
{
    drasync_region_t region;
    void *ptr;

    if (!access(file, F_OK)) {
        OK(drasync_load(file, &region));
        printf("goes on after step %llu\n",
               (unsigned long long)state_of(region)->step);
    } else {
        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, sizeof(struct state), &ptr));
        *(struct state *)ptr = (struct state){.random = 2014};
        OK(drasync_set_root(region, ptr));
        OK(drasync_publish("state", region));
    }
    OK(drasync_release(region));
}

static void step(drasync_region_t region, uint64_t killed)
{
    struct state *s = state_of(region);

    s->step++;
    for (int i = 0; i < 200; i++)
        add(region, &s->top, next(&s->random) % 100000);
    for (int i = 0; i < 20; i++)
        take_out(&s->top);
    if (s->step == killed)
        raise(SIGKILL);
}

int main(int argc, char **argv)
{
    uint64_t steps = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t killed = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    const char *file = argc > 1 ? argv[1] : "save_steps.saved";
    drasync_region_t region;
    uint64_t now, done = 0;

    check_start(&argc, &argv);
    if (check_rank == 0)
        begin(file);
    OK(drasync_lookup("state", WAIT_US, &region));
    while (done < steps) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        now = state_of(region)->step;
        if (now < steps && now % (uint64_t)check_ranks == (uint64_t)check_rank)
            step(region, killed);
        done = state_of(region)->step;
        OK(drasync_release(region));
        if (done != now && done % STEPS_PER_SAVE == 0)
            OK(drasync_save(region, file));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        OK(drasync_acquire(region, DRASYNC_READ));
        printf("hash %016llx\n",
               (unsigned long long)hash(state_of(region)->top, 0));
        OK(drasync_release(region));
    }
    return check_end("steps");
}
