/*
 * The directory of replicated regions, several nodes in one process: random
 * calls, messages delivered in random order (in order between two nodes), and
 * checks of what nobody may see: an address that comes back while somebody
 * still has it, a region that outlives its parent, a question without answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/drasync.h"
#include "protocol/replica.h"

#define NODES     5
#define SLOTS     12 /* addresses of a node */
#define QUEUE_MAX 65536
#define FREES_MAX 100000
#define CHECK(c)                                                              \
    do {                                                                      \
        if (!(c)) {                                                           \
            fprintf(stderr, "seed %u: %s:%d: %s\n", seed, __FILE__, __LINE__, \
                    #c);                                                      \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

struct queue {
    struct replica_message *items;
    size_t head, tail;
};

struct node {
    struct replica_dir dir;
    struct replica_env env;
    struct replica_entry root;
    struct replica_entry *entries[NODES * SLOTS + 1];
    uint8_t asked[NODES * SLOTS + 1];
};

static unsigned seed;
static uint64_t random_state;
static struct node nodes[NODES];
static struct queue queues[NODES][NODES];
static int freed[FREES_MAX];
static uint64_t freed_address[FREES_MAX], freed_incarnation[FREES_MAX];
static size_t frees, freed_count;
static uint64_t links;
static unsigned nodes_used, slots_used; /* the first ones */
static unsigned slow;                   /* a channel, or none: it waits */
/* Of each region that has not been recycled: what it was made under. */
static struct {
    uint64_t address, incarnation;
} made_parent[NODES * SLOTS + 1];

static unsigned pick(unsigned below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % below);
}

static size_t slot_of(uint64_t address)
{
    return (size_t)(address >> 12);
}

static struct replica_entry *env_find(void *ctx, uint64_t address)
{
    struct node *node = ctx;

    return address ? node->entries[slot_of(address)] : &node->root;
}

static struct replica_entry *env_make(void *ctx, uint64_t address)
{
    struct node *node = ctx;
    struct replica_entry *entry = calloc(1, sizeof(*entry));

    CHECK(!node->entries[slot_of(address)]);
    entry->address = address;
    node->entries[slot_of(address)] = entry;
    return entry;
}

static struct replica_link *env_link_new(void *ctx)
{
    (void)ctx;
    links++;
    return calloc(1, sizeof(struct replica_link));
}

static void env_link_free(void *ctx, struct replica_link *link)
{
    (void)ctx;
    links--;
    free(link);
}

static uint32_t env_home_of(void *ctx, uint64_t address)
{
    uint32_t home = (uint32_t)((slot_of(address) - 1) / SLOTS);

    (void)ctx;
    /* Of every node's last addresses only node 0 knows whose they are. */
    if ((slot_of(address) - 1) % SLOTS >= SLOTS - 3 && ctx != &nodes[home])
        return ctx == &nodes[0] ? home : 0;
    return home;
}

static void env_send(void *ctx, uint32_t to, const struct replica_message *m)
{
    struct queue *q = &queues[(struct node *)ctx - nodes][to];

    CHECK(to < NODES && &nodes[to] != ctx);
    CHECK(q->tail < QUEUE_MAX);
    q->items[q->tail++] = *m;
}

static void env_known(void *ctx, struct replica_entry *entry, int found)
{
    struct node *node = ctx;

    (void)found;
    node->asked[slot_of(entry->address)] = 0;
}

static void env_drop(void *ctx, struct replica_entry *entry)
{
    CHECK(env_find(ctx, entry->address) == entry);
    CHECK(entry->state == REPLICA_DYING || entry->state == REPLICA_DROPPED);
}

static void env_recycle(void *ctx, struct replica_entry *entry)
{
    struct node *node = ctx;
    size_t slot = slot_of(entry->address);

    CHECK(node->entries[slot] == entry);
    CHECK(!entry->first_child && !entry->nodes && !entry->parent);
    if (entry->state == REPLICA_DYING)
        for (int i = 0; i < NODES; i++) {
            struct replica_entry *other = nodes[i].entries[slot];

            CHECK(&nodes[i] == node || !other ||
                  other->state == REPLICA_DROPPED ||
                  other->state == REPLICA_ASKING);
        }
    if (entry->state == REPLICA_DYING)
        memset(&made_parent[slot], 0, sizeof(made_parent[slot]));
    node->entries[slot] = NULL;
    free(entry);
}

/* What lay below a freed region is gone from every home when we hear of it. */
static void check_gone(uint64_t address, uint64_t incarnation)
{
    for (int i = 0; i < NODES; i++)
        for (size_t slot = 1; slot <= NODES * SLOTS; slot++) {
            struct replica_entry *entry = nodes[i].entries[slot];

            if (!entry || entry->home != (uint32_t)i)
                continue;
            while ((entry = entry->parent))
                CHECK(entry->address != address ||
                      entry->incarnation != incarnation);
        }
    for (size_t i = 0; i < NODES * SLOTS + 1; i++)
        CHECK(!made_parent[i].incarnation ||
              made_parent[i].incarnation != incarnation ||
              made_parent[i].address != address);
}

static void start_free(struct node *node, struct replica_entry *entry)
{
    CHECK(frees < FREES_MAX);
    freed_address[frees] = entry->address;
    freed_incarnation[frees] = entry->incarnation;
    frees++;
    replica_free(&node->dir, entry, frees - 1);
}

static void env_freed(void *ctx, uint64_t token, int result)
{
    (void)ctx;
    CHECK(token < frees && !freed[token]);
    CHECK(result == 0 || result == DRASYNC_ENOREGION);
    freed[token] = 1;
    freed_count++;
    if (!result)
        check_gone(freed_address[token], freed_incarnation[token]);
}

static struct replica_entry *any_live(struct node *node, int root_too)
{
    struct replica_entry *live[NODES * SLOTS + 1];
    unsigned count = 0;

    for (size_t i = 1; i <= NODES * SLOTS; i++)
        if (node->entries[i] && node->entries[i]->state == REPLICA_LIVE)
            live[count++] = node->entries[i];
    if (root_too)
        live[count++] = &node->root;
    return count ? live[pick(count)] : NULL;
}

static void step(struct node *node)
{
    unsigned what = pick(10);
    size_t slot = 1 + pick(nodes_used) * SLOTS + pick(slots_used);
    uint64_t address = (uint64_t)slot << 12;
    struct replica_entry *entry;

    if (what < 4) {
        entry = any_live(node, 1);
        slot = 1 + (size_t)(node - nodes) * SLOTS + pick(slots_used);
        if (!node->entries[slot]) {
            made_parent[slot].address = entry->address;
            made_parent[slot].incarnation = entry->incarnation;
            replica_create(&node->dir, env_make(node, (uint64_t)slot << 12),
                           entry);
        }
    } else if (what < 9) {
        if (node->entries[slot])
            return;
        node->asked[slot] = 1;
        if (replica_attach(&node->dir, address, 0))
            node->asked[slot] = 0;
    } else {
        entry = any_live(node, 0);
        if (entry)
            start_free(node, entry);
    }
}

/* Deliver one message of a random channel, but the slow one; 0: there is none. */
static int deliver(void)
{
    unsigned start = pick(NODES * NODES);

    for (unsigned i = 0; i < NODES * NODES; i++) {
        unsigned at = (start + i) % (NODES * NODES);
        struct queue *q = &queues[at / NODES][at % NODES];
        struct replica_message m;

        if (q->head == q->tail || at == slow)
            continue;
        m = q->items[q->head++];
        if (q->head == q->tail)
            q->head = q->tail = 0;
        CHECK(!replica_receive(&nodes[at % NODES].dir, at / NODES, &m));
        return 1;
    }
    return 0;
}

static void check_quiet(void)
{
    CHECK(freed_count == frees);
    for (size_t slot = 1; slot <= NODES * SLOTS; slot++) {
        struct node *home = &nodes[(slot - 1) / SLOTS];
        struct replica_entry *truth = home->entries[slot];

        CHECK(!truth || truth->state == REPLICA_LIVE);
        for (int i = 0; i < NODES; i++) {
            struct replica_entry *entry = nodes[i].entries[slot];

            CHECK(!nodes[i].asked[slot]);
            if (!entry)
                continue;
            CHECK(truth && entry->incarnation == truth->incarnation);
            CHECK(entry->state == REPLICA_LIVE && entry->parent);
            CHECK(entry->parent->address == truth->parent->address);
        }
    }
}

static void deliver_all(void)
{
    slow = NODES * NODES;
    while (deliver())
        continue;
}

static void run(unsigned steps)
{
    struct replica_env env = {
        .nodes = NODES,
        .find = env_find,
        .make = env_make,
        .link_new = env_link_new,
        .link_free = env_link_free,
        .home_of = env_home_of,
        .send = env_send,
        .known = env_known,
        .drop = env_drop,
        .recycle = env_recycle,
        .freed = env_freed,
    };

    random_state = seed;
    /* Few addresses are used again sooner. */
    nodes_used = seed % 2 ? NODES : 3;
    slots_used = seed % 2 ? SLOTS : 1 + seed / 2 % 3;
    slow = NODES * NODES;
    memset(nodes, 0, sizeof(nodes));
    memset(freed, 0, sizeof(freed));
    memset(made_parent, 0, sizeof(made_parent));
    frees = freed_count = links = 0;
    for (int i = 0; i < NODES; i++) {
        nodes[i].env = env;
        nodes[i].env.ctx = &nodes[i];
        replica_dir_init(&nodes[i].dir, (uint32_t)i, &nodes[i].env,
                         &nodes[i].root);
    }
    for (unsigned i = 0; i < steps; i++) {
        if (pick(3) == 0)
            step(&nodes[pick(nodes_used)]);
        else
            deliver();
        if (pick(100) == 0)
            slow = pick(2) ? pick(NODES * NODES) : NODES * NODES;
        if (pick(500) == 0) {
            deliver_all();
            check_quiet();
        }
    }
    deliver_all();
    check_quiet();
    /* All is freed from the top; nothing may be left. */
    for (int i = 0; i < NODES; i++) {
        struct replica_entry *entry;

        while ((entry = any_live(&nodes[i], 0))) {
            start_free(&nodes[i], entry);
            deliver_all();
        }
    }
    check_quiet();
    CHECK(links == 0);
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    unsigned last = argc > 2 ? (unsigned)atoi(argv[2]) : 300;

    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++)
            queues[i][j].items =
                malloc(QUEUE_MAX * sizeof(struct replica_message));
    for (seed = first; seed <= last; seed++)
        run(3000);
    for (int i = 0; i < NODES; i++)
        for (int j = 0; j < NODES; j++)
            free(queues[i][j].items);
    return 0;
}
