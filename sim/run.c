/* run.c - a script is run: as ranks that go their own ways, or, as a scenario,
 * one command after the other. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "sim/sim.h"

/* Where a run goes on whose protocol failed an assertion, crashed, or is in an
 * endless loop: no event came for a second of computing. */
static sigjmp_buf aborted;

enum { STEP_S = 1 };

static void give_out(struct sim *sim)
{
    struct sim_script *script = sim->script;
    uint32_t threads = script->threads ? script->threads : 1;
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        struct sim_rank *rank = &sim->rank[i];
        uint32_t at = i % script->ranks_per_node;
        rank->id = i;
        rank->node = i / script->ranks_per_node;
        uint32_t left = script->ranks_per_node - at / threads * threads;
        rank->local = (int32_t)(at / threads);
        rank->first = rank - at % threads;
        rank->threads = left < threads ? left : threads;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < script->count; i++) {
            struct sim_rank *rank = &sim->rank[script->command[i].rank];
            if (pass)
                rank->todo[rank->todo_count] = i;
            rank->todo_count++;
        }
        for (uint32_t i = 0; i < sim->ranks_count && !pass; i++) {
            struct sim_rank *rank = &sim->rank[i];
            rank->todo = calloc(rank->todo_count + 1, sizeof(*rank->todo));
            rank->todo_count = 0;
        }
    }
}

/* Scenarios show the slot rather than the address of a region. */
static void show_region(struct sim *sim, uint64_t address)
{
    for (struct oracle *o = sim->regions; o; o = o->next) {
        if (o->address != address)
            continue;
        fprintf(sim->show, " %u", o->slot);
        return;
    }
    fprintf(sim->show, " ?");
}

static const char *mode_name(uint8_t mode)
{
    return mode == DRASYNC_READ ? "read" : "write";
}

static void show_item(struct sim *sim, const struct proto_message *m,
                      const struct proto_item *item)
{
    static const char *const kinds[PROTO_ITEM_KINDS] = {
        "?",      "ancestor", "region", "child",  "waiter",  "presence",
        "unsent", "extent",   "owned",  "wanted", "deleted",
    };
    fprintf(sim->show, ">     %s", kinds[item->kind]);
    if (item->kind == PROTO_ITEM_WAITER) {
        fprintf(sim->show, " node %u %s%s\n", item->node, mode_name(item->mode),
                item->flags & PROTO_AHEAD ? " ahead" : "");
        return;
    }
    if (item->kind == PROTO_ITEM_PRESENCE) {
        fprintf(sim->show, " node %u version %llu%s%s\n", item->node,
                (unsigned long long)item->version,
                item->flags & PROTO_BUSY ? " reads" : "",
                item->flags & PROTO_MORE ? " more" : "");
        return;
    }
    show_region(sim, item->address);
    if (item->kind == PROTO_ITEM_REGION)
        fprintf(sim->show, " %s version %llu %s",
                m->mode == DRASYNC_WRITE ? "token" : "copy",
                (unsigned long long)item->version,
                item->flags & PROTO_DATA ? "data" : "same");
    if (item->kind == PROTO_ITEM_CHILD || item->kind == PROTO_ITEM_UNSENT)
        fprintf(sim->show, " at node %u", item->node);
    fprintf(sim->show, "\n");
}

void show_message(struct sim *sim, uint32_t from, uint32_t to,
                  const struct proto_message *m)
{
    const bool recall = m->type == PROTO_RECALL;
    const bool transfer = m->type == PROTO_TRANSFER;
    const struct {
        uint16_t flag;
        const char *name;
    } flags[] = {{PROTO_NOWAIT, transfer ? "tell" : "nowait"},
                 {PROTO_DELETION, "deletion"},
                 {PROTO_DETOUR, transfer ? "given" : "detour"},
                 {PROTO_FRESH, "fresh"},
                 {PROTO_SHARED, transfer ? "shared" : "newer"},
                 {PROTO_BUSY, "busy"},
                 {PROTO_HELD, recall ? "held?" : "unmet"},
                 {PROTO_CHAINED, "line"},
                 {PROTO_CLIMBS, "climbs"},
                 {PROTO_RELAYS, "relays"},
                 {PROTO_HOT, "hot"},
                 {PROTO_FURTHER, transfer ? "further" : "ahead"}};
    fprintf(sim->show, "> %u -> %u %s", from, to, proto_message_name(m->type));
    if (m->region)
        show_region(sim, m->region);
    if (m->mode)
        fprintf(sim->show, " %s", mode_name(m->mode));
    if (m->name[0])
        fprintf(sim->show, " \"%s\"", m->name);
    if (m->type == PROTO_REQUEST && m->hops)
        fprintf(sim->show, " of node %u, hop %u", m->node, m->hops);
    else if ((m->type == PROTO_REQUEST || m->type == PROTO_LOCATE) &&
             m->node != from)
        fprintf(sim->show, " of node %u", m->node);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (m->flags & flags[i].flag)
            fprintf(sim->show, " %s", flags[i].name);
    if (m->type == PROTO_REQUEST && m->after)
        fprintf(sim->show, " behind");
    if (m->type == PROTO_TRANSFER && m->flags & PROTO_MORE)
        fprintf(sim->show, " and more");
    if ((m->flags & PROTO_MORE) &&
        (m->type == PROTO_RECALL || m->type == PROTO_RECALLED))
        fprintf(sim->show, " whom?");
    if (m->error)
        fprintf(sim->show, " %s", sim_errname(m->error));
    fprintf(sim->show, "\n");
    for (uint32_t i = 0; i < m->items_count; i++)
        show_item(sim, m, &m->items[i]);
}

static void settle(struct sim *sim)
{
    while (event_run(sim))
        ;
}

/* Ranks end, as they come to; shown if the scenario is about that. */
static void finish_scenario(struct sim *sim)
{
    bool some = true, end = false;
    for (uint32_t i = 0; i < sim->script->count; i++)
        end |= sim->script->command[i].verb == SIM_END;
    if (!end)
        sim->show = NULL;
    while (some && !sim->finding[0]) {
        some = false;
        for (uint32_t i = 0; i < sim->ranks_count; i++) {
            struct sim_rank *rank = &sim->rank[i];
            if (rank->blocked || rank->done || sim->node[rank->node].poisoned)
                continue;
            rank->at = rank->todo_count = 0;
            rank_next(sim, rank);
            settle(sim);
            some = true;
        }
    }
}

/* Scenario: each command is echoed, then what it causes. */
static void run_scenario(struct sim *sim)
{
    struct sim_script *script = sim->script;
    for (uint32_t i = 0; i < script->count && !sim->finding[0]; i++) {
        struct sim_command *c = &script->command[i];
        struct sim_rank *rank = &sim->rank[c->rank];
        fprintf(sim->show, "%s%u.%u ", c->together ? "+ " : "",
                c->rank / script->ranks_per_node,
                c->rank % script->ranks_per_node);
        sim_print_command(script, c, sim->show);
        fprintf(sim->show, "\n");
        if (rank->blocked) {
            sim_found(sim, "command %u is for a rank that waits", i + 1);
            break;
        }
        rank->at = i;
        rank->todo[0] = i;
        rank->at = 0;
        rank->todo_count = 1;
        rank_next(sim, rank);
        if (!c->together)
            settle(sim);
    }
    settle(sim);
    finish_scenario(sim);
}

static void on_abort(int number)
{
    siglongjmp(aborted, number);
}

/* Runs are short, but for those of very many nodes; a step always is. */
static uint64_t events_seen;
static const struct sim *watched;

static void on_tick(int number)
{
    if (watched->events == events_seen)
        siglongjmp(aborted, number);
    events_seen = watched->events;
}

static void watch(const struct sim *sim)
{
    const struct itimerval each = {{STEP_S, 0}, {STEP_S, 0}};
    struct sigaction crash;

    watched = sim;
    events_seen = UINT64_MAX;
    signal(SIGABRT, on_abort);
    signal(SIGVTALRM, on_tick);
    /* A sanitizer that has it says more. */
    sigaction(SIGSEGV, NULL, &crash);
    if (crash.sa_handler == SIG_DFL || crash.sa_handler == on_abort)
        signal(SIGSEGV, on_abort);
    setitimer(ITIMER_VIRTUAL, &each, NULL);
}

static void watch_no_more(void)
{
    static const struct itimerval none;

    setitimer(ITIMER_VIRTUAL, &none, NULL);
    signal(SIGABRT, SIG_DFL);
}

static const char *why_aborted(int number)
{
    switch (number) {
    case SIGABRT:
        return "assertion: the protocol failed one";
    case SIGVTALRM:
        return "a step does not end";
    default:
        return "the protocol crashed";
    }
}

static void run(struct sim *sim)
{
    give_out(sim);
    if (sim->script->scenario) {
        run_scenario(sim);
    } else {
        for (uint32_t i = 0; i < sim->ranks_count; i++)
            event_rank(sim, &sim->rank[i]);
    }
    do
        settle(sim);
    while (newer_end(sim));
    if (!sim->poisoned)
        ahead_end(sim);
    settle(sim);
    if (!sim->finding[0])
        check_end(sim);
}

bool sim_run(struct sim_script *script, FILE *show, char *finding_out,
             uint64_t *packets_out)
{
    static struct sim sim;
    world_open(&sim, script);
    sim.show = show;
    watch(&sim);
    int number = sigsetjmp(aborted, 1);
    if (!number)
        run(&sim);
    else
        sim_found(&sim, "%s", why_aborted(number));
    watch_no_more();
    memcpy(finding_out, sim.finding, sizeof(sim.finding));
    if (packets_out)
        *packets_out = sim.packets;
    world_close(&sim);
    return !finding_out[0];
}
