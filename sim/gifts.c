/*
 * gifts.c - ranks give regions to each other.  Who is given one acquires it as any
 * other; here that is left to what its script does next.
 */
#include "sim/sim.h"

void gift_arrives(struct sim *sim, uint32_t node, const struct proto_message *m)
{
    const struct sim_rank *rank = m->after && m->after <= sim->ranks_count
                                      ? &sim->rank[m->after - 1]
                                      : NULL;
    if (!rank || rank->node != node || rank->local != (int32_t)m->version) {
        sim_found(sim, "gifts: node %u is given what is another rank's", node);
        return;
    }
    sim->gifts--;
}

/* Why a rank may be told DRASYNC_EBUSY: a thread of it waits for something of the
 * subtree, or deletes that; or what it asked for before came to nothing, and may
 * still have locks. */
static bool may_be_busy(const struct sim_rank *rank, const struct oracle *o)
{
    for (uint32_t t = 0; t < rank->threads; t++) {
        const struct sim_rank *x = &rank->first[t];
        if (x->gave_up || (x->blocked && (oracle_below(x->target, o) ||
                                          oracle_below(o, x->target))))
            return true;
    }
    return false;
}

/* Must it be possible for @rank to give @o away? */
static bool must_give(const struct sim *sim, struct sim_rank *rank,
                      const struct oracle *o)
{
    const struct sim_held *held = held_of(rank, o);
    return held && held->writes == 1 && !held->reads && !o->deleting &&
           !sim->script->memory_fault && !held_below(rank, o) &&
           !held_beside(rank, o) && !(o->parent && held_above(rank, o->parent));
}

/* @rank has given @o away. */
static void given(struct sim *sim, struct sim_rank *rank, struct oracle *o,
                  const struct sim_rank *to)
{
    struct sim_held *held = held_of(rank, o);
    if (to->node != rank->node)
        sim->gifts++;
    if (!held)
        return;
    /* A READ hold may have stayed as strong as WRITE. */
    if (held->writes)
        held->writes--;
    else
        held->reads--;
    if (!held->writes && !held->reads)
        held_remove(rank, held);
}

bool do_give(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *c)
{
    struct sim_rank *to = &sim->rank[c->other % sim->ranks_count];
    struct oracle *o = sim->slot[c->slot];
    struct proto_region *r = o ? world_find(sim, rank->node, o->address) : NULL;
    sim->loose = true;
    if (!r || r->incarnation != o->incarnation)
        return true;
    struct sim_held *held = held_of(rank, o);
    if (!held && held_beside(rank, o))
        return true; /* another thread's to give */
    if (held)
        check_pins(sim, rank, held);
    struct proto_gift gift = {
        .node = to->node, .rank = to->local, .words = to->id + UINT64_C(1)};
    bool must = must_give(sim, rank, o);
    struct proto_effects *out = effects_take(sim);
    sim->step++;
    int err =
        proto_give(&sim->node[rank->node].proto, rank->local, r, &gift, out);
    if ((!err && !held) ||
        (err && must && !(err == DRASYNC_EBUSY && may_be_busy(rank, o))))
        sim_found(sim, "gifts: rank %u gives #%llu: %s", rank->id,
                  (unsigned long long)o->number, sim_errname(err));
    if (!err)
        given(sim, rank, o, to);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    rank_tell(sim, rank, err);
    return true;
}
