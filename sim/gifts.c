/*
 * gifts.c - ranks give regions to each other.  Where a gift is taken a thread of
 * that rank has it, which waits for nothing: it writes, and gives the region
 * back, or on.  But where its rank waits for a part of what it is given, there is
 * no other thread: the gift stays until that wait has ended.
 */
#include "sim/sim.h"

struct gift {
    struct sim_rank *rank;
    struct oracle *region;
    struct gift *next; /* of those that stay */
};

bool gift_of(const struct sim *sim, const void *waiter)
{
    const struct sim_rank *rank = waiter;
    return rank < sim->rank || rank >= sim->rank + sim->ranks_count;
}

static struct gift *gift_new(struct sim *sim, struct sim_rank *rank)
{
    struct gift *gift = sim_alloc(sim, sizeof(*gift));
    gift->rank = rank;
    return gift;
}

static void tell(struct sim *sim, const struct gift *gift, uint32_t slot,
                 int error)
{
    if (sim->show)
        fprintf(sim->show, "= %u.%u is given %u: %s\n", gift->rank->node,
                gift->rank->id % sim->script->ranks_per_node, slot,
                sim_errname(error));
}

static void use_later(struct sim *sim, struct gift *gift)
{
    event_add(sim, sim->now + 1 + sim_random(sim, sim->script->think_max),
              EVENT_GIFT, gift->rank->id, 0, gift);
}

static void granted(struct sim *sim, struct gift *gift,
                    struct proto_region *region, bool split)
{
    struct sim_rank *rank = gift->rank;
    struct oracle *o = oracle_of(sim, region);
    gift->region = o;
    sim->grants++;
    /* READ of what is above may be of a time before it was made. */
    if (held_of(rank, o) || held_beside(rank, o) || held_below(rank, o))
        sim_found(sim, "gifts: rank %u is given #%llu, which it holds",
                  rank->id, (unsigned long long)o->number);
    struct sim_held *held = held_add(rank, o);
    held->order = held->order << 1 | 1;
    held->writes++;
    if (split)
        rank_split(sim, rank, region);
    check_write_grant(sim, rank, o);
    tell(sim, gift, o->slot, 0);
    if (!sim->script->scenario)
        use_later(sim, gift);
}

void gifts_go_on(struct sim *sim, struct sim_rank *rank)
{
    struct gift *gift = rank->gifts, *next;

    rank->gifts = NULL;
    for (; gift; gift = next) {
        next = gift->next;
        use_later(sim, gift);
    }
}

void gift_arrives(struct sim *sim, uint32_t node, struct proto_message *m)
{
    struct sim_rank *rank = m->after && m->after <= sim->ranks_count
                                ? &sim->rank[m->after - 1]
                                : NULL;
    if (!rank || rank->node != node || rank->local != (int32_t)m->version) {
        sim_found(sim, "gifts: node %u is given what is another rank's", node);
        return;
    }
    if (rank_over(rank))
        sim->gifts--;
    else
        m->waiter = gift_new(sim, rank);
}

/* Why a gift may have come to nothing. */
static bool may_fail(const struct sim *sim, int error)
{
    switch (error) {
    case DRASYNC_ENOMEM:
        return sim->script->memory_fault || sim->script->data_fault;
    default:
        return error == DRASYNC_EUPGRADE || error == DRASYNC_EORDER;
    }
}

void gift_answered(struct sim *sim, const struct proto_effect *e)
{
    struct gift *gift = e->waiter;
    sim->gifts--;
    if (e->kind == PROTO_GRANTED) {
        granted(sim, gift, e->region, e->split);
        return;
    }
    if (!may_fail(sim, e->error))
        sim_found(sim, "gifts: one to rank %u ended with %s", gift->rank->id,
                  sim_errname(e->error));
    if (sim->show)
        fprintf(sim->show, "= %u.%u is not given it: %s\n", gift->rank->node,
                gift->rank->id % sim->script->ranks_per_node,
                sim_errname(e->error));
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

static bool give(struct sim *sim, struct sim_rank *rank, struct oracle *o,
                 struct sim_rank *to, int *err_out)
{
    struct proto_region *r = o ? world_find(sim, rank->node, o->address) : NULL;
    if (!r || r->incarnation != o->incarnation)
        return false;
    struct sim_held *held = held_of(rank, o);
    if (!held && held_beside(rank, o))
        return false; /* another thread's to give */
    if (held)
        check_pins(sim, rank, held);
    struct proto_gift gift = {
        .node = to->node, .rank = to->local, .words = to->id + UINT64_C(1)};
    bool must = must_give(sim, rank, o);
    struct proto_effects *out = effects_take(sim);
    sim->step++;
    int err = *err_out =
        proto_give(&sim->node[rank->node].proto, rank->local, r, &gift, out);
    if ((!err && !held) ||
        (err && must && !(err == DRASYNC_EBUSY && may_be_busy(rank, o))))
        sim_found(sim, "gifts: rank %u gives #%llu: %s", rank->id,
                  (unsigned long long)o->number, sim_errname(err));
    if (!err && held) {
        /* A READ hold may have stayed as strong as WRITE. */
        if (held->writes)
            held->writes--;
        else
            held->reads--;
        if (!held->writes && !held->reads)
            held_remove(rank, held);
    }
    if (!err && to->node != rank->node)
        sim->gifts++;
    else if (!err && !gift.back)
        granted(sim, gift_new(sim, to), r, r->pinned > 0);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return true;
}

bool do_give(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *c)
{
    struct sim_rank *to = &sim->rank[c->other % sim->ranks_count];
    int err;
    sim->loose = true;
    if (give(sim, rank, sim->slot[c->slot], to, &err))
        rank_tell(sim, rank, err);
    return true;
}

void gift_used(struct sim *sim, struct sim_rank *rank, void *what)
{
    struct gift *gift = what;
    struct oracle *o = gift->region;
    struct sim_held *held = held_of(rank, o);
    struct sim_command write = {.verb = SIM_WRITE, .slot = o->slot};
    if (!held || !held->writes || o->death != UINT64_MAX)
        return; /* it is given back, or deleted */
    if (rank->blocked && oracle_below(rank->target, o)) {
        gift->next = rank->gifts;
        rank->gifts = gift;
        return;
    }
    if (sim->slot[o->slot] == o)
        rank_do(sim, rank, &write);
    if (sim_random(sim, 4) == 0) {
        int err;
        uint64_t to = sim_random(sim, sim->ranks_count);
        if (give(sim, rank, o, &sim->rank[to], &err) && !err)
            return;
    }
    struct proto_region *r = world_find(sim, rank->node, o->address);
    held = held_of(rank, o);
    if (!r || !held)
        return;
    struct proto_effects *out = effects_take(sim);
    sim->step++;
    if (proto_release(&sim->node[rank->node].proto, rank->local, r,
                      DRASYNC_WRITE, out))
        sim_found(sim, "gifts: rank %u lost #%llu", rank->id,
                  (unsigned long long)o->number);
    held->writes--;
    if (!held->writes && !held->reads)
        held_remove(rank, held);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
}
