/* generate.c - a random script from a seed: how many nodes, what trees, what
 * mix of commands. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t pick(uint64_t *state, uint32_t below)
{
    return (uint32_t)(next(state) % below);
}

void sim_add(struct sim_script *script, struct sim_command command)
{
    if (script->count == script->room) {
        script->room = script->room ? script->room * 2 : 64;
        script->command =
            realloc(script->command, script->room * sizeof(*script->command));
    }
    script->command[script->count++] = command;
}

void sim_script_free(struct sim_script *script)
{
    free(script->command);
    memset(script, 0, sizeof(*script));
}

static uint8_t verb_of(uint64_t *state, uint32_t readers)
{
    uint32_t at = pick(state, 100);
    (void)readers;
    if (at < 24)
        return SIM_ACQUIRE;
    if (at < 29)
        return SIM_TRY;
    if (at < 34)
        return SIM_TIMED;
    if (at < 62)
        return SIM_RELEASE;
    if (at < 76)
        return SIM_WRITE;
    if (at < 80)
        return SIM_READ;
    if (at < 87)
        return SIM_SUB;
    if (at < 90)
        return SIM_CREATE;
    if (at < 93)
        return SIM_ALLOC;
    return at < 97 ? SIM_DELETE : SIM_RELEASE;
}

/* In some scripts ranks give away what others release. */
static bool gives_now(const struct sim_script *script, uint64_t *state)
{
    return (script->seed % 4 == 3 || script->seed % 16 == 14) &&
           pick(state, 4) == 0;
}

/* In some scripts ranks ask ahead, now and then twice, for what they are going to
 * acquire, or in vain. */
static void add_ahead(struct sim_script *script, uint64_t *state,
                      struct sim_command visit, uint32_t slots)
{
    visit.verb = SIM_AHEAD;
    if (script->seed % 2 || pick(state, 2))
        return;
    if (pick(state, 5) == 0)
        visit.slot = pick(state, slots);
    if (pick(state, 8) == 0)
        visit.mode = visit.mode == DRASYNC_READ ? DRASYNC_WRITE : DRASYNC_READ;
    sim_add(script, visit);
    if (pick(state, 4) == 0)
        sim_add(script, visit);
    visit.verb = SIM_READ; /* some time passes */
    while (pick(state, 4))
        sim_add(script, visit);
}

/* In some scripts ranks acquire what is newer than what they know, and some wait
 * for that as long as it takes. */
static void be_newer(const struct sim_script *script, uint64_t *state,
                     struct sim_command *c)
{
    if (script->seed % 3 != 1 || pick(state, 3))
        return;
    c->verb = SIM_NEWER;
    c->other = pick(state, 4) ? 1 + pick(state, 200) : 0;
}

/* Who is given a region acquires it, writes and releases it, or gives it on. */
static void add_taking(struct sim_script *script, uint64_t *state,
                       struct sim_command c)
{
    c.rank = c.other;
    c.mode = DRASYNC_WRITE;
    c.verb = SIM_ACQUIRE;
    sim_add(script, c);
    c.verb = SIM_WRITE;
    sim_add(script, c);
    c.verb = pick(state, 4) ? SIM_RELEASE : SIM_GIVE;
    if (c.verb == SIM_GIVE)
        c.other = pick(state, script->nodes * script->ranks_per_node);
    sim_add(script, c);
}

/* Ranks tend to release what they took: a few commands about one slot. */
static void add_visit(struct sim_script *script, uint64_t *state, uint32_t rank,
                      uint32_t slots, uint32_t readers)
{
    struct sim_command c = {.rank = rank, .verb = SIM_ACQUIRE};
    c.slot = pick(state, slots);
    c.mode = pick(state, 100) < readers ? DRASYNC_READ : DRASYNC_WRITE;
    add_ahead(script, state, c, slots);
    be_newer(script, state, &c);
    sim_add(script, c);
    if (pick(state, 2)) {
        c.verb = c.mode == DRASYNC_READ ? SIM_READ : SIM_WRITE;
        if (pick(state, 3) == 0)
            c.slot = pick(state, slots);
        sim_add(script, c);
        c.slot = script->command[script->count - 2].slot;
    }
    c.verb = gives_now(script, state) ? SIM_GIVE : SIM_RELEASE;
    if (c.verb == SIM_GIVE)
        c.other = pick(state, script->nodes * script->ranks_per_node);
    sim_add(script, c);
    if (c.verb == SIM_GIVE && pick(state, 2))
        add_taking(script, state, c);
}

static void add_any(struct sim_script *script, uint64_t *state, uint32_t rank,
                    uint32_t slots, uint32_t readers)
{
    struct sim_command c = {.rank = rank, .verb = verb_of(state, readers)};
    c.slot = pick(state, slots);
    c.mode = pick(state, 100) < readers ? DRASYNC_READ : DRASYNC_WRITE;
    if (c.verb == SIM_RELEASE && gives_now(script, state))
        c.verb = SIM_GIVE;
    if (c.verb == SIM_SUB)
        c.other = pick(state, slots);
    else if (c.verb == SIM_GIVE)
        c.other = pick(state, script->nodes * script->ranks_per_node);
    else if (c.verb == SIM_TIMED)
        c.other = 1 + pick(state, 100);
    else
        c.other = pick(state, 16);
    if (c.verb == SIM_ACQUIRE || c.verb == SIM_TRY || c.verb == SIM_DELETE)
        add_ahead(script, state, c, slots);
    sim_add(script, c);
}

/* Everybody READs one region, some more than once, and one WRITEs it. */
static void add_crowd(struct sim_script *script, uint64_t *state,
                      uint32_t ranks, uint32_t slots)
{
    uint32_t slot = pick(state, slots), writer = pick(state, ranks * 2);
    for (uint32_t i = 0; i < ranks * 3 / 2; i++) {
        struct sim_command c = {.rank = i % ranks, .verb = SIM_ACQUIRE};
        c.slot = slot;
        c.mode = i == writer ? DRASYNC_WRITE : DRASYNC_READ;
        sim_add(script, c);
        c.verb = i == writer ? SIM_WRITE : SIM_READ;
        sim_add(script, c);
        c.verb = SIM_RELEASE;
        sim_add(script, c);
    }
}

/* A tree, made by one rank and released, so that there is something to do. */
static void add_tree(struct sim_script *script, uint64_t *state, uint32_t rank,
                     uint32_t first, uint32_t slots)
{
    struct sim_command c = {.rank = rank, .verb = SIM_CREATE, .slot = first};
    sim_add(script, c);
    for (uint32_t i = 1; i < slots; i++) {
        c.verb = SIM_SUB;
        c.slot = first + i;
        c.other = first + pick(state, i);
        sim_add(script, c);
    }
    c.verb = SIM_RELEASE;
    c.slot = first;
    sim_add(script, c);
}

void sim_generate(struct sim_script *script, uint64_t seed)
{
    uint64_t state = seed * 0xd1342543de82ef95u + 1;
    memset(script, 0, sizeof(*script));
    script->seed = seed;
    script->nodes = seed % 50 == 0 ? 64 : 1 + pick(&state, 8);
    script->ranks_per_node = 1 + pick(&state, script->nodes > 8 ? 2 : 4);
    if (seed % 8 == 6) {
        script->threads = 2 + (uint32_t)(seed / 8 % 2);
        script->ranks_per_node = script->threads * (1 + pick(&state, 2));
    }
    script->delay_max = pick(&state, 4) ? 20 : 200;
    script->think_max = pick(&state, 3) ? 10 : 100;
    if (pick(&state, 3) == 0)
        script->slow_node = 1 + pick(&state, script->nodes);
    script->lane_pages = pick(&state, 3) ? SIM_LANE_PAGES : 3;
    if (pick(&state, 5) == 0)
        script->memory_fault = 20 + pick(&state, 200);
    if (pick(&state, 5) == 0)
        script->data_fault = 3 + pick(&state, 20);
    if (script->data_fault && pick(&state, 20) == 0)
        script->bounce_fault = 3;
    if (seed % 3 == 0)
        script->waiters = 1 + (uint32_t)(seed / 3 % 3);
    if (seed % 4 < 2)
        script->presence = 1 + (uint32_t)(seed / 4 % 3);
    uint32_t ranks = script->nodes * script->ranks_per_node;
    uint32_t trees = 1 + pick(&state, 3), readers = pick(&state, 90);
    uint32_t size = 1 + pick(&state, 8), slots = trees * size;
    for (uint32_t t = 0; t < trees; t++)
        add_tree(script, &state, pick(&state, ranks), t * size, size);
    if ((1u << seed % 7) & 0x2e)
        script->fanout = 1 + (uint32_t)(seed / 7 % 3);
    if (seed % 5 < 2)
        script->portion = 1 + (uint32_t)(seed / 5 % 3);
    if (seed % 11 < 3)
        script->answer = 4 + (uint32_t)(seed / 11 % 16);
    if (seed % 3 < 2)
        script->subscribe = 1 + (uint32_t)(seed / 3 % 2);
    if (seed % 5 == 0)
        script->subscriptions = 1 + (uint32_t)(seed / 5 % 2);
    uint32_t commands = 30 + pick(&state, 250);
    bool visits = pick(&state, 2);
    for (uint32_t i = 0; i < commands; i++) {
        uint32_t rank = pick(&state, ranks);
        if (pick(&state, 200) == 0) {
            struct sim_command drop = {.rank = rank, .verb = SIM_DROP};
            sim_add(script, drop);
        }
        if (script->fanout && pick(&state, 50) == 0)
            add_crowd(script, &state, ranks, slots);
        if (visits && pick(&state, 4))
            add_visit(script, &state, rank, slots, readers);
        else
            add_any(script, &state, rank, slots, readers);
    }
}

/* One tree that all of very many nodes read and some write. */
void sim_generate_wide(struct sim_script *script, uint64_t seed, uint32_t nodes)
{
    uint64_t state = seed * 0xd1342543de82ef95u + 1;
    memset(script, 0, sizeof(*script));
    script->seed = seed;
    script->nodes = nodes;
    script->ranks_per_node = 1;
    script->delay_max = 50;
    script->think_max = 50;
    script->lane_pages = SIM_LANE_PAGES;
    for (uint32_t t = 0; t < 4; t++)
        add_tree(script, &state, pick(&state, nodes), t * 8, 8);
    for (uint32_t i = 0; i < nodes * 3; i++)
        add_visit(script, &state, i % nodes, 32, 50);
}
