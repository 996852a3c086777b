/*
 * newer.c - ranks that acquire what is newer than the version they saw last, and
 * what must hold of it: that they get no older one, and do not wait for what is
 * there.
 *
 * It looks at what the protocol keeps for itself, as ahead.c does.
 */
#include <stdlib.h>

#include "protocol/internal.h"
#include "sim/sim.h"

static struct sim_known *known_of(struct sim_rank *rank, const struct oracle *o)
{
    for (uint32_t i = 0; i < rank->known_count; i++)
        if (rank->known[i].region == o)
            return &rank->known[i];
    if (rank->known_count == rank->known_room) {
        rank->known_room = rank->known_room ? rank->known_room * 2 : 8;
        rank->known =
            realloc(rank->known, rank->known_room * sizeof(*rank->known));
    }
    rank->known[rank->known_count] = (struct sim_known){.region = o};
    return &rank->known[rank->known_count++];
}

bool do_newer(struct sim *sim, struct sim_rank *rank,
              const struct sim_command *c)
{
    struct oracle *o = oracle_handle(sim, sim->slot[c->slot]);
    if (!o)
        return true;
    rank->newer = known_of(rank, o)->version;
    /* Some are told of a version by who still writes it. */
    if (rank->serial % 2 && o->told)
        rank->newer = o->told;
    rank->newer_of = o;
    sim->asks_ahead = true; /* of what is checked */
    /* Without a time limit, a rank that holds something must not wait for a
     * version that may never come: make it a try. */
    if (!c->other && (!rank->newer || rank->held_count)) {
        rank->doing.verb = rank->newer ? SIM_TRY : SIM_ACQUIRE;
        if (rank->doing.verb == SIM_ACQUIRE &&
            (!in_order(rank, o) || o->death != UINT64_MAX))
            rank->doing.verb = SIM_TRY;
    }
    return rank_acquire(sim, rank, c);
}

/* A request of before is this rank's now: what it brings is newer than what the
 * rank knows, but may have been written over before it asked. */
bool newer_taken_over(const struct sim_rank *rank, uint64_t before,
                      const struct proto_effects *out)
{
    for (size_t i = 0; i < out->count; i++)
        if (out->effect[i].waiter == rank)
            return false; /* its own has ended already */
    return rank->newer && rank->op && rank->op->born <= before;
}

void newer_granted(struct sim *sim, struct sim_rank *rank, struct oracle *o,
                   const struct proto_region *region,
                   const struct proto_hold *hold)
{
    uint64_t version = proto_seen_version(region, hold);
    if (!hold)
        o->told = version;
    if (rank->newer && rank->newer_of == o && version <= rank->newer)
        sim_found(sim, "newer: rank %u knows version %llu of #%llu", rank->id,
                  (unsigned long long)version, (unsigned long long)o->number);
    rank->newer = 0;
    known_of(rank, o)->version = version;
}

/* Where the token is, somebody knows of @op's request, or of its node's
 * subscription, which it waits for. */
static bool is_awaited(struct sim *sim, const struct proto_op *op)
{
    const uint64_t newer = op->newer;
    if (op->where == AT_PENDING && op->target->ahead)
        op = op->target->ahead;
    for (uint32_t i = 0; i < sim->script->nodes; i++) {
        const struct proto_region *r = world_find(sim, i, op->target->address);
        if (!r || !r->owned || r->incarnation != op->target->incarnation)
            continue;
        if (proto_version(r) > newer)
            return false;
        const struct proto_link *head = &r->subscribers;
        for (const struct proto_link *l = head->next; l != head; l = l->next) {
            const struct proto_op *waits =
                CONTAINER(l, const struct proto_op, link);
            if (waits == op ||
                (waits->node == op->node && waits->ticket == op->ticket))
                return true;
        }
    }
    return false;
}

/* Does a thread wait for what another one has asked for above?  If that is what is
 * newer, and does not come, all that the thread holds is held up. */
static bool held_up(const struct sim *sim)
{
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        const struct sim_rank *rank = &sim->rank[i];
        if (rank->blocked && rank->op && rank->op->where == AT_ABOVE)
            return true;
    }
    return false;
}

bool newer_end(struct sim *sim)
{
    bool some = false;
    for (uint32_t i = 0; i < sim->ranks_count && !sim->finding[0]; i++) {
        struct sim_rank *rank = &sim->rank[i];
        if (!rank->blocked || !rank->newer || !rank->op ||
            sim->node[rank->node].poisoned)
            continue;
        if (!is_awaited(sim, rank->op) && !held_up(sim))
            sim_found(sim, "newer: what rank %u waits for is lost", rank->id);
        rank_timeout(sim, rank, rank->serial);
        some = true;
        if (rank->threads > 1) /* another thread's request may begin by that */
            break;
    }
    return some && !sim->finding[0];
}
