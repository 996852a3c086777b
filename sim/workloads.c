/* workloads.c - what many ranks might do, at any number of them. */
#include <stdlib.h>
#include <string.h>

#include "sim/workloads.h"

struct workload {
    const struct workload_kind *kind;
    bool types; /* messages by kind are wanted too */
    uint32_t ranks, rounds;
    uint64_t bytes;
    uint32_t *step; /* of each rank */
};

struct workload_kind {
    const char *name, *what;
    uint32_t rounds;
    uint64_t bytes;
    bool lanes_used_up;
    void (*next)(const struct workload *w, uint32_t rank, uint32_t step,
                 struct model_op *op);
};

enum { TAG_THERE, TAG_SEEN };

/* --- The workloads ------------------------------------------------------- */

/* Every rank makes a region of its own, and then all begin; after so many steps
 * 0. */
static uint32_t own_region(const struct workload *w, uint32_t rank,
                           uint32_t step, struct model_op *op)
{
    static const uint8_t verbs[] = {MODEL_CREATE, MODEL_GROW, MODEL_RELEASE,
                                    MODEL_BARRIER};
    const uint32_t count = sizeof(verbs);

    if (step >= count)
        return step - count + 1;
    *op = (struct model_op){.verb = verbs[step],
                            .slot = rank,
                            .other = MODEL_NO_SLOT,
                            .bytes = w->bytes};
    op->counted = op->verb == MODEL_BARRIER;
    return 0;
}

/* A region, and room in it 16 times; the next region... */
static void storm_next(const struct workload *w, uint32_t rank, uint32_t step,
                       struct model_op *op)
{
    const uint32_t each = 18;

    if (step == 0) {
        *op = (struct model_op){.verb = MODEL_BARRIER, .counted = true};
        return;
    }
    step--;
    if (step == w->rounds * each)
        return;
    op->slot = rank * w->rounds + step / each;
    op->other = MODEL_NO_SLOT;
    op->bytes = w->bytes;
    op->counted = step % each != each - 1;
    op->verb = step % each == 0          ? MODEL_CREATE
               : step % each == each - 1 ? MODEL_RELEASE
                                         : MODEL_GROW;
}

/* Each writes its region, the next reads it and says so. */
static void ring_next(const struct workload *w, uint32_t rank, uint32_t step,
                      struct model_op *op)
{
    uint32_t after = (rank + 1) % w->ranks;
    uint32_t before = (rank + w->ranks - 1) % w->ranks, at;
    const struct model_op ops[] = {
        {.verb = MODEL_ACQUIRE,
         .slot = rank,
         .mode = DRASYNC_WRITE,
         .counted = true},
        {.verb = MODEL_RELEASE, .slot = rank},
        {.verb = MODEL_SEND, .peer = after, .tag = TAG_THERE, .bytes = 8},
        {.verb = MODEL_RECEIVE, .peer = before, .tag = TAG_THERE},
        {.verb = MODEL_ACQUIRE,
         .slot = before,
         .mode = DRASYNC_READ,
         .counted = true},
        {.verb = MODEL_RELEASE, .slot = before},
        {.verb = MODEL_SEND, .peer = before, .tag = TAG_SEEN, .bytes = 8},
        {.verb = MODEL_RECEIVE, .peer = after, .tag = TAG_SEEN},
    };
    const uint32_t count = sizeof(ops) / sizeof(ops[0]);

    at = own_region(w, rank, step, op);
    if (at && at - 1 < w->rounds * count)
        *op = ops[(at - 1) % count];
}

/* Everybody wants rank 0's region. */
static void hot(const struct workload *w, uint32_t rank, uint32_t step,
                struct model_op *op, uint8_t mode)
{
    uint32_t at = own_region(w, rank, step, op);

    if (!at || at > w->rounds * 2)
        return;
    op->verb = at % 2 ? MODEL_ACQUIRE : MODEL_RELEASE;
    op->mode = mode;
    op->counted = at % 2;
}

static void hot_next(const struct workload *w, uint32_t rank, uint32_t step,
                     struct model_op *op)
{
    hot(w, rank, step, op, DRASYNC_WRITE);
}

static void hot_read_next(const struct workload *w, uint32_t rank,
                          uint32_t step, struct model_op *op)
{
    hot(w, rank, step, op, DRASYNC_READ);
}

/* Rank 0 writes its region, then all read it, and again. */
static void hot_again_next(const struct workload *w, uint32_t rank,
                           uint32_t step, struct model_op *op)
{
    uint32_t at = own_region(w, rank, step, op);

    if (!at || at > w->rounds * 6)
        return;
    op->mode = (at - 1) % 6 < 3 ? DRASYNC_WRITE : DRASYNC_READ;
    op->counted = op->mode == DRASYNC_READ && at % 3 == 1;
    op->verb = at % 3 == 0   ? MODEL_BARRIER
               : at % 3 == 1 ? MODEL_ACQUIRE
                             : MODEL_RELEASE;
    if (op->mode == DRASYNC_WRITE && rank && op->verb != MODEL_BARRIER)
        op->verb = MODEL_COMPUTE;
}

/* Rank 0 writes its region, which all others wait for; it computes before, so that
 * they do, if @late. */
static void newer(const struct workload *w, uint32_t rank, uint32_t step,
                  struct model_op *op, bool late)
{
    static const uint8_t verbs[] = {MODEL_COMPUTE, MODEL_ACQUIRE, MODEL_RELEASE,
                                    MODEL_BARRIER};
    const uint32_t count = sizeof(verbs);
    uint32_t at = own_region(w, rank, step, op);

    if (!at || at > w->rounds * count)
        return;
    op->verb = verbs[(at - 1) % count];
    op->mode = rank ? DRASYNC_READ : DRASYNC_WRITE;
    op->newer = rank && op->verb == MODEL_ACQUIRE;
    op->counted = op->newer;
    op->ns = rank ? 0 : late ? 50000 : 1;
}

static void newer_next(const struct workload *w, uint32_t rank, uint32_t step,
                       struct model_op *op)
{
    newer(w, rank, step, op, true);
}

static void newer_there_next(const struct workload *w, uint32_t rank,
                             uint32_t step, struct model_op *op)
{
    newer(w, rank, step, op, false);
}

/* A binary tree: each reads its children's regions, then tells its parent. */
static void gather_next(const struct workload *w, uint32_t rank, uint32_t step,
                        struct model_op *op)
{
    uint32_t at = own_region(w, rank, step, op), child, children = 0;

    if (!at)
        return;
    while (children < 2 && 2 * rank + 1 + children < w->ranks)
        children++;
    child = 2 * rank + 1 + (at - 1) / 3;
    if ((at - 1) / 3 < children) {
        op->verb = (at - 1) % 3 == 0   ? MODEL_RECEIVE
                   : (at - 1) % 3 == 1 ? MODEL_ACQUIRE
                                       : MODEL_RELEASE;
        op->slot = op->peer = child;
        op->mode = DRASYNC_READ;
        op->counted = op->verb == MODEL_ACQUIRE;
    } else if (at - 1 == children * 3 && rank) {
        op->verb = MODEL_SEND;
        op->peer = (rank - 1) / 2;
        op->bytes = 8;
    }
}

static const struct workload_kind kinds[] = {
    {"storm", "allocation storm: every rank makes regions and fills them", 8,
     65536, false, storm_next},
    {"storm-chunks", "the same when the nodes' own addresses are used up", 8,
     65536, true, storm_next},
    {"ring", "each rank writes a region that the next rank reads", 4, 4096,
     false, ring_next},
    {"ring-chunks", "the same with regions on addresses from the manager", 4,
     4096, true, ring_next},
    {"hot", "all ranks take one region for WRITE", 1, 4096, false, hot_next},
    {"hot-read", "all ranks take one region for READ", 1, 4096, false,
     hot_read_next},
    {"hot-again", "rank 0 WRITEs it, then all READ it, and again", 4, 4096,
     false, hot_again_next},
    {"newer", "all wait until rank 0 has written its region, and READ it", 4,
     4096, false, newer_next},
    {"newer-there", "the same, when it has already", 4, 4096, false,
     newer_there_next},
    {"gather", "a binary tree of ranks, each reads its children's regions", 1,
     4096, false, gather_next},
};

/* --- Running one --------------------------------------------------------- */

static void next(void *ctx, uint32_t rank, struct model_op *op)
{
    struct workload *w = ctx;

    w->kind->next(w, rank, w->step[rank]++, op);
}

static void print(const struct workload *w, const struct model *model)
{
    const struct model_totals *t = &model->total;
    double ops = t->operations ? (double)t->operations : 1;
    double all_us = (double)(t->end_ns - t->begin_ns) / 1e3;
    uint64_t most = 0;

    for (uint32_t i = 0; i < model->nodes; i++)
        if (model->node[i].messages > most)
            most = model->node[i].messages;
    printf("%s,%u,%u,%.0f,%.3f,%.1f,%.3f,%.3f,%.1f,%.3f,%.1f,%.0f,%.0f,%llu\n",
           w->kind->name, model->ranks, model->nodes, ops,
           (double)t->messages / ops, (double)t->bytes / ops,
           (double)t->latency_ns / ops / 1e3, (double)t->latency_max_ns / 1e3,
           all_us, (double)model->node[0].messages / ops,
           all_us > 0 ? (double)model->node[0].busy_ns / all_us / 10 : 0,
           (double)model->node[0].messages, (double)most,
           (unsigned long long)t->chunks);
}

/* How often each kind of message was sent. */
static void print_types(const struct model *model)
{
    for (unsigned i = 0; i < PROTO_MESSAGE_TYPES; i++)
        if (model->total.by_type[i])
            printf("# %s %llu\n", proto_message_name(i),
                   (unsigned long long)model->total.by_type[i]);
}

static int run(struct workload *w, uint32_t per_node, uint64_t lane_pages,
               uint32_t fanout, const struct model_cost *cost)
{
    struct model model = {.cost = *cost,
                          .per_node = per_node < w->ranks ? per_node : w->ranks,
                          .next = next,
                          .ctx = w};
    int failed;

    model.nodes = w->ranks / model.per_node;
    model.regions = w->ranks * w->rounds;
    model.lane_pages = lane_pages;
    model.fanout = fanout;
    w->step = calloc(w->ranks, sizeof(*w->step));
    if (!w->step)
        return 1;
    failed = model_open(&model) || model_run(&model);
    if (failed)
        fprintf(stderr, "simulate: %s with %u ranks: %s\n", w->kind->name,
                w->ranks, model.error);
    else
        print(w, &model);
    if (w->types)
        print_types(&model);
    model_close(&model);
    free(w->step);
    return failed;
}

static int usage(FILE *to)
{
    fprintf(
        to,
        "Usage: simulate workload NAME RANKS [OPTION]...\n\n"
        "What many ranks do, with the real protocol, over a network with "
        "costs.  One line\nof CSV:\n\n"
        "  --head            a line with the columns' names first\n"
        "  --types           lines with the number of messages of each kind\n"
        "  --per-node N      ranks of a node (default 16)\n"
        "  --rounds N, --bytes N   how often, and the size of regions\n"
        "  --lane-pages N    addresses of a node before it asks the "
        "manager\n"
        "  --fanout N        readers of one region that a node serves in a "
        "tree; from\n"
        "                    the number of nodes on there is none\n"
        "%s\n",
        cost_usage);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        fprintf(to, "  %-13s %s\n", kinds[i].name, kinds[i].what);
    return to == stdout ? 0 : 2;
}

static int wrong(const char *what, const char *word)
{
    fprintf(stderr, "simulate: %s: %s (see simulate workload --help)\n", what,
            word);
    return 2;
}

/* --rounds and the like: true if argv[*at] is it, with a number. */
static bool count_option(const char *name, int argc, char **argv, int *at,
                         uint64_t *out)
{
    char *end;
    unsigned long long value;

    if (strcmp(argv[*at], name) || *at + 1 >= argc)
        return false;
    value = strtoull(argv[*at + 1], &end, 10);
    if (*end || value < 1 || value > UINT64_C(1) << 40)
        return false;
    *out = value;
    ++*at;
    return true;
}

int workload_main(int argc, char **argv)
{
    struct model_cost cost = model_cost_default;
    uint64_t ranks = 0, per_node = 16, rounds = 0, bytes = 0, lane = 0;
    uint64_t fanout = 0;
    struct workload w = {0};

    if (argc == 1 && !strcmp(argv[0], "--help"))
        return usage(stdout);
    for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(argv[0], kinds[i].name))
            w.kind = &kinds[i];
    if (!w.kind)
        return usage(stderr);
    ranks = strtoull(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++) {
        if (!strcmp(argv[i], "--head"))
            printf("workload,ranks,nodes,operations,messages_per_op,"
                   "bytes_per_op,us_per_op,us_max,us_all,"
                   "manager_messages_per_op,manager_busy_pct,"
                   "manager_messages,busiest_messages,chunks\n");
        else if (!strcmp(argv[i], "--types"))
            w.types = true;
        else if (!count_option("--per-node", argc, argv, &i, &per_node) &&
                 !count_option("--rounds", argc, argv, &i, &rounds) &&
                 !count_option("--bytes", argc, argv, &i, &bytes) &&
                 !count_option("--lane-pages", argc, argv, &i, &lane) &&
                 !count_option("--fanout", argc, argv, &i, &fanout) &&
                 cost_option(&cost, argc, argv, &i) != 1)
            return wrong("no such option, or not its value", argv[i]);
    }
    if (ranks < 2 || ranks > MODEL_RANKS_MAX || per_node > ranks ||
        ranks % per_node || ranks / per_node > MODEL_NODES_MAX)
        return wrong("ranks must be 2 or more, whole nodes, and the nodes at "
                     "most 65536",
                     argv[1]);
    w.ranks = (uint32_t)ranks;
    w.rounds = rounds ? (uint32_t)rounds : w.kind->rounds;
    w.bytes = bytes ? bytes : w.kind->bytes;
    if (!lane && w.kind->lanes_used_up)
        lane = 2;
    return run(&w, (uint32_t)per_node, lane,
               fanout < MODEL_NODES_MAX ? (uint32_t)fanout : MODEL_NODES_MAX,
               &cost);
}
