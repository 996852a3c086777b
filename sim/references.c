/* references.c - time for references.h: coroutines, messages, a run. */
#include "sim/references.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)64 << 10)
#define COROUTINES  (REFSIM_RANKS_MAX + REFSIM_NODES_MAX)
#define EVENTS_ROOM 4096
/* Of collections by all nodes at the end, for what one leaves to the next. */
#define ROUNDS_MAX 64

struct refsim refsim;

struct event {
    uint64_t time, order;
    struct refsim_packet *packet; /* that arrives, or NULL: */
    uint32_t coroutine, to;
};

static struct {
    uint64_t now, order, count;
    struct event heap[EVENTS_ROOM];
    uint32_t heap_count;
    uint64_t last[REFSIM_NODES_MAX][REFSIM_NODES_MAX]; /* deliveries */
    ucontext_t outside, context[COROUTINES];
    uint32_t self;
    bool collects; /* what ranks' coroutines are for */
} run;

static char stacks[COROUTINES][STACK_BYTES] __attribute__((aligned(64)));

void refsim_found(const char *format, ...)
{
    va_list args;

    if (refsim.finding[0])
        return;
    va_start(args, format);
    vsnprintf(refsim.finding, sizeof(refsim.finding), format, args);
    va_end(args);
    if (refsim.show)
        fprintf(refsim.show, "! %s\n", refsim.finding);
}

uint64_t refsim_random(uint64_t below)
{
    uint64_t z = refsim.random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* --- Events --------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void event_add(struct event e)
{
    uint32_t i = run.heap_count;

    if (run.heap_count == EVENTS_ROOM || ++run.count > REFSIM_EVENTS_MAX) {
        refsim_found("end: it goes in circles");
        free(e.packet);
        return;
    }
    run.heap_count++;
    e.order = ++run.order;
    for (; i && before(&e, &run.heap[(i - 1) / 2]); i = (i - 1) / 2)
        run.heap[i] = run.heap[(i - 1) / 2];
    run.heap[i] = e;
}

static struct event event_pop(void)
{
    struct event first = run.heap[0], e = run.heap[--run.heap_count];
    uint32_t i = 0, child;

    while ((child = 2 * i + 1) < run.heap_count) {
        if (child + 1 < run.heap_count &&
            before(&run.heap[child + 1], &run.heap[child]))
            child++;
        if (!before(&run.heap[child], &e))
            break;
        run.heap[i] = run.heap[child];
        i = child;
    }
    run.heap[i] = e;
    return first;
}

/* --- Coroutines: those of ranks, then the servers of nodes ----------------- */

static uint32_t server_of(uint32_t node)
{
    return REFSIM_RANKS_MAX + node;
}

static void leave(void)
{
    swapcontext(&run.context[run.self], &run.outside);
}

static void wake(uint32_t coroutine, uint64_t after)
{
    event_add((struct event){.time = run.now + after, .coroutine = coroutine});
}

void refsim_pause(void)
{
    wake(run.self, 1 + refsim_random(refsim.script->think_max));
    leave();
}

static void run_rank(struct refsim_rank *rank)
{
    const struct refsim_script *script = refsim.script;

    if (run.collects) {
        refsim_collect(rank);
        return;
    }
    for (uint32_t i = 0; i < script->count && !refsim.finding[0]; i++) {
        if (script->command[i].rank != rank->id)
            continue;
        rank->doing = script->command[i];
        refsim_pause();
        refsim_do(rank);
    }
    /* What others give comes until then. */
    refsim.working--;
    while (refsim.working && !refsim.finding[0])
        refsim_pause();
    refsim_leave(rank);
    refsim.there--;
}

static void serve(uint32_t number)
{
    struct refsim_node *node = &refsim.node[number];

    for (;;) {
        struct refsim_packet *p = node->inbox;

        if (!p) {
            node->idle = true;
            leave();
            continue;
        }
        node->inbox = p->next;
        if (!node->inbox)
            node->inbox_end = &node->inbox;
        refsim_serve(number, p);
        free(p);
    }
}

static void body(int coroutine)
{
    if (coroutine < REFSIM_RANKS_MAX)
        run_rank(&refsim.rank[coroutine]);
    else
        serve((uint32_t)coroutine - REFSIM_RANKS_MAX);
    leave();
}

static void start(uint32_t coroutine)
{
    ucontext_t *c = &run.context[coroutine];

    getcontext(c);
    c->uc_stack.ss_sp = stacks[coroutine];
    c->uc_stack.ss_size = STACK_BYTES;
    c->uc_link = NULL;
    makecontext(c, (void (*)(void))body, 1, (int)coroutine);
}

static void enter(uint32_t coroutine)
{
    run.self = coroutine;
    swapcontext(&run.outside, &run.context[coroutine]);
}

/* --- Messages ------------------------------------------------------------- */

void refsim_send(uint32_t from, uint32_t to, const struct refsim_packet *p)
{
    struct refsim_packet *packet = malloc(sizeof(*packet));
    uint64_t *last = &run.last[from][to];
    uint64_t time = run.now + 1 + refsim_random(refsim.script->delay_max);

    if (!packet)
        abort();
    *packet = *p;
    packet->from = from;
    packet->next = NULL;
    *last = time > *last ? time : *last + 1;
    refsim.messages++;
    event_add((struct event){.time = *last, .packet = packet, .to = to});
}

int refsim_ask(struct refsim_rank *rank, uint32_t node,
               const struct refsim_packet *p)
{
    struct refsim_packet asked = *p;

    asked.rank = rank->id;
    refsim_send(rank->node, node, &asked);
    leave();
    return rank->error;
}

static void arrive(uint32_t to, struct refsim_packet *p)
{
    struct refsim_node *node = &refsim.node[to];

    if (p->reply) {
        refsim.rank[p->rank].error = p->error;
        refsim.rank[p->rank].listed = p->listed;
        wake(p->rank, 1);
        free(p);
        return;
    }
    *node->inbox_end = p;
    node->inbox_end = &p->next;
    if (node->idle)
        wake(server_of(to), 1);
    node->idle = false;
}

/* --- A run ---------------------------------------------------------------- */

static void settle(void)
{
    while (run.heap_count && !refsim.finding[0]) {
        struct event e = event_pop();

        run.now = e.time;
        if (e.packet)
            arrive(e.to, e.packet);
        else
            enter(e.coroutine);
    }
}

/* All nodes look for circles, until nothing ends any more. */
static void collect_all(void)
{
    uint64_t ends;
    int rounds = 0;

    run.collects = true;
    do {
        ends = refsim.ends;
        for (uint32_t i = 0; i < refsim.script->nodes; i++) {
            uint32_t rank = i * refsim.script->ranks_per_node;

            start(rank);
            wake(rank, 1);
        }
        settle();
        if (++rounds == ROUNDS_MAX)
            refsim_found("end: collections end regions for ever");
    } while (ends != refsim.ends && !refsim.finding[0]);
}

static void entry_free(struct refsim_entry *e)
{
    struct refs_link *next;

    for (struct refs_link *l = e->refs.links; l; l = next) {
        next = l->next;
        free(l);
    }
    free(e->refs.nodes);
    free(e);
}

static void clear(void)
{
    struct refsim_entry *next;
    struct refsim_packet *p;

    for (uint32_t i = 0; i < REFSIM_NODES_MAX; i++) {
        for (struct refsim_entry *e = refsim.node[i].entries; e; e = next) {
            next = e->next;
            entry_free(e);
        }
        while ((p = refsim.node[i].inbox)) {
            refsim.node[i].inbox = p->next;
            free(p);
        }
    }
    while (run.heap_count)
        free(event_pop().packet);
}

bool refsim_run(struct refsim_script *script, FILE *show)
{
    memset(&refsim, 0, sizeof(refsim));
    memset(&run, 0, offsetof(typeof(run), outside));
    run.collects = false;
    run.heap_count = 0;
    refsim.script = script;
    refsim.show = show;
    refsim.random = script->seed * 0xd1342543de82ef95u + 1;
    refsim.ranks = refsim.working = refsim.there =
        script->nodes * script->ranks_per_node;
    refs_fault = script->fault;
    for (uint32_t i = 0; i < script->nodes; i++) {
        refsim.node[i].inbox_end = &refsim.node[i].inbox;
        start(server_of(i));
        wake(server_of(i), 0);
    }
    for (uint32_t i = 0; i < refsim.ranks; i++) {
        refsim.rank[i].id = i;
        refsim.rank[i].node = i / script->ranks_per_node;
        start(i);
        wake(i, 0);
    }
    settle();
    if (!refsim.finding[0] && refsim.there)
        refsim_found("end: %u ranks wait for ever", refsim.there);
    if (!refsim.finding[0])
        collect_all();
    if (!refsim.finding[0])
        refsim_check_end();
    clear();
    return !refsim.finding[0];
}
