/* commands.c - the commands of a script, as calls of the protocol. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

static bool do_create(struct sim *sim, struct sim_rank *rank,
                      const struct sim_command *c)
{
    struct sim_node *node = &sim->node[rank->node];
    struct oracle *parent = NULL;
    struct proto_region *above = NULL, *region = NULL;
    if (sim->slot[c->slot] && sim->slot[c->slot]->death == UINT64_MAX)
        return true;
    if (c->verb == SIM_SUB) {
        parent = sim->slot[c->other];
        if (!parent || parent->death != UINT64_MAX)
            return true;
        above = world_find(sim, rank->node, parent->address);
        if (!above || above->incarnation != parent->incarnation)
            return true;
    }
    uint64_t address = page_cut(sim, rank->node);
    struct proto_effects *out = effects_take(sim);
    uint64_t tag = ++sim->step;
    struct sim_frames *frames = frames_new(sim, tag);
    int err;
    if (parent)
        err = proto_create_subregion(&node->proto, rank->local, above, address,
                                     NULL, frames, &region, out);
    else
        err = proto_create_root(&node->proto, rank->local, address, NULL,
                                frames, &region, out);
    bool allowed = !parent || held_write(rank, parent);
    /* A READ hold may stay as strong as the WRITE hold that covered it. */
    if (!err && !held_above(rank, parent) && parent)
        sim_found(sim, "rank %u made a subregion without a hold", rank->id);
    if (err == DRASYNC_ENOTHELD && allowed)
        sim_found(sim, "rank %u may not make a subregion", rank->id);
    if (err) {
        page_free(node, address);
    } else {
        struct oracle *o =
            oracle_new(sim, address, tag, region->incarnation, parent);
        o->slot = c->slot;
        sim->slot[c->slot] = o;
        region->memory = o;
        o->here = page_node(rank->node);
        if (!parent) {
            struct sim_held *held = held_add(rank, o);
            held->writes = 1;
            held->order = 1;
        }
    }
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    rank_tell(sim, rank, err);
    return true;
}

bool rank_acquire(struct sim *sim, struct sim_rank *rank,
                  const struct sim_command *c)
{
    struct oracle *o = oracle_handle(sim, sim->slot[c->slot]);
    if (!o)
        return true;
    rank->target = o;
    bool nowait = rank->doing.verb == SIM_TRY;
    /* A dead handle may come to mean a region that is not in order. */
    if (c->verb == SIM_ACQUIRE && !held_below(rank, o) &&
        (!in_order(rank, o) || o->death != UINT64_MAX)) {
        rank->doing.verb = SIM_TRY;
        nowait = true;
    }
    const struct proto_asked asked = {
        .rank = rank->local,
        .mode = (enum drasync_mode)c->mode,
        .nowait = nowait,
        .waiter = rank,
        .newer = rank->newer,
    };
    struct proto_grant grant;
    struct proto_effects *out = effects_take(sim);
    rank->started = sim->step;
    rank->blocked = true;
    uint64_t before = sim->node[rank->node].tickets;
    int err = proto_acquire_as(&sim->node[rank->node].proto,
                               world_find(sim, rank->node, o->address),
                               o->address, &asked, &grant, &rank->op, out);
    if (err == PROTO_WAIT && newer_taken_over(rank, before, out))
        rank->started = 0;
    if (err != PROTO_WAIT) {
        rank->blocked = false;
        rank->op = NULL;
        if (!err)
            rank_acquired(sim, rank, grant.region, grant.hold, grant.split);
        else
            rank_check_error(sim, rank, err);
        rank->newer = 0;
        rank_tell(sim, rank, err);
    } else if (c->verb == SIM_TIMED || (c->verb == SIM_NEWER && c->other)) {
        event_add(sim, sim->now + 1 + c->other, EVENT_TIMEOUT, rank->id,
                  rank->serial, NULL);
    }
    uint32_t serial = rank->serial;
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err != PROTO_WAIT && rank->serial == serial;
}

/* The one that was taken last. */
static enum drasync_mode to_release(struct sim_held *held)
{
    bool write = held->order & 1;
    held->order >>= 1;
    return held->reads && (!write || !held->writes) ? DRASYNC_READ
                                                    : DRASYNC_WRITE;
}

int rank_release(struct sim *sim, struct sim_rank *rank, struct proto_region *r,
                 struct sim_held *held)
{
    struct proto_effects *out = effects_take(sim);
    sim->step++;
    enum drasync_mode mode = held ? to_release(held) : DRASYNC_WRITE;
    int err =
        proto_release(&sim->node[rank->node].proto, rank->local, r, mode, out);
    if (held && mode == DRASYNC_WRITE)
        held->writes--;
    else if (held)
        held->reads--;
    if (held && !held->writes && !held->reads)
        held_remove(rank, held);
    rank_tell(sim, rank, err);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err;
}

static bool do_release(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    struct proto_region *r = o ? world_find(sim, rank->node, o->address) : NULL;
    if (!r || r->incarnation != o->incarnation)
        return true;
    struct sim_held *held = held_of(rank, o);
    if (!held && held_beside(rank, o))
        return true;
    bool has = held != NULL;
    if (held)
        check_pins(sim, rank, held);
    int err = rank_release(sim, rank, r, held);
    if ((err == 0) != has)
        sim_found(sim, "rank %u: release of #%llu gave %s", rank->id,
                  (unsigned long long)o->number, sim_errname(err));
    return true;
}

static bool do_delete(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    o = oracle_handle(sim, o);
    if (!o)
        return true;
    rank->target = o;
    rank->blocked = true;
    rank->op = NULL;
    rank->started = sim->step;
    struct proto_effects *out = effects_take(sim);
    int err = proto_delete(&sim->node[rank->node].proto, rank->local,
                           world_find(sim, rank->node, o->address), o->address,
                           rank, out);
    if (err != PROTO_WAIT) {
        rank->blocked = false;
        rank_check_error(sim, rank, err);
        rank_tell(sim, rank, err);
    } else {
        for (struct oracle *x = sim->regions; x; x = x->next)
            if (oracle_below(x, o))
                x->deleting = true;
    }
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return err != PROTO_WAIT;
}

static bool do_write(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    if (!o || o->death != UINT64_MAX || !held_write_own(rank, o))
        return true;
    struct proto_region *r = world_find(sim, rank->node, o->address);
    struct proto_copy *copy = r ? proto_newest(r) : NULL;
    if (!copy || !r->owned || proto_held(r, rank->local) != DRASYNC_WRITE) {
        sim_found(sim, "rank %u lost #%llu while it held it", rank->id,
                  (unsigned long long)o->number);
        return true;
    }
    struct sim_frames *frames = copy->frames;
    check_here(sim, rank, o);
    if (frames->tag != oracle_last(o))
        sim_found(sim, "rank %u writes into an old copy of #%llu", rank->id,
                  (unsigned long long)o->number);
    frames->tag = ++sim->step;
    oracle_tag(sim, o, frames->tag);
    return true;
}

static bool do_alloc(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    if (!o || o->death != UINT64_MAX || !held_write_own(rank, o) ||
        o->extents_count == 16)
        return true;
    uint64_t address = page_cut(sim, rank->node);
    o->extents[o->extents_count++] = address;
    return true;
}

static bool do_read(struct sim *sim, struct sim_rank *rank, struct oracle *o)
{
    struct sim_held *held = o ? held_of(rank, o) : NULL;
    if (held)
        check_pins(sim, rank, held);
    return true;
}

/* What a node has of the addresses of @root's tree, but not the data, goes. */
static void absent_go(struct sim_rank *rank, struct proto_region *root)
{
    for (struct proto_region *r = root; r; r = proto_next(root, r))
        if (r->memory && proto_absent(r))
            ((struct oracle *)r->memory)->here &= ~page_node(rank->node);
}

static void do_drop(struct sim *sim, struct sim_rank *rank)
{
    uint64_t cursor = 0;
    struct proto_region *root;
    while ((root = world_next_root(sim, rank->node, &cursor)) != NULL) {
        struct proto_effects *out = effects_take(sim);
        bool all = proto_drop_copies(&sim->node[rank->node].proto, root, out);
        effects_run(sim, rank->node, out, NULL);
        effects_give(sim, out);
        if (all)
            absent_go(rank, root);
    }
}

/* True if it is over; false if rank_ended() will be called. */
bool rank_do(struct sim *sim, struct sim_rank *rank,
             const struct sim_command *c)
{
    struct oracle *o = sim->slot[c->slot % SIM_SLOTS_MAX];
    switch (c->verb) {
    case SIM_CREATE:
    case SIM_SUB:
        return do_create(sim, rank, c);
    case SIM_ACQUIRE:
    case SIM_TRY:
    case SIM_TIMED:
        rank->newer = 0;
        return rank_acquire(sim, rank, c);
    case SIM_NEWER:
        return do_newer(sim, rank, c);
    case SIM_RELEASE:
        return do_release(sim, rank, o);
    case SIM_DELETE:
        return do_delete(sim, rank, o);
    case SIM_WRITE:
        return do_write(sim, rank, o);
    case SIM_READ:
        return do_read(sim, rank, o);
    case SIM_ALLOC:
        return do_alloc(sim, rank, o);
    case SIM_GIVE:
        return do_give(sim, rank, c);
    case SIM_AHEAD:
        return do_ahead(sim, rank, c);
    case SIM_DROP:
        do_drop(sim, rank);
        return true;
    default:
        return true;
    }
}
