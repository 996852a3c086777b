/*
 * ahead.c - what ranks ask ahead, and what must hold of it after every step.
 *
 * It looks at what the protocol keeps for itself: that nobody waits for what was
 * asked ahead shows nowhere else.
 */
#include "protocol/internal.h"
#include "sim/sim.h"

static struct proto_op *op_at(const struct proto_link *link)
{
    return CONTAINER(link, struct proto_op, link);
}

bool do_ahead(struct sim *sim, struct sim_rank *rank,
              const struct sim_command *c)
{
    struct oracle *o = oracle_handle(sim, sim->slot[c->slot]);
    if (!o)
        return true;
    struct proto_effects *out = effects_take(sim);
    sim->asks_ahead = true;
    rank->target = o;
    int err = proto_ahead(&sim->node[rank->node].proto,
                          world_find(sim, rank->node, o->address), o->address,
                          (enum drasync_mode)c->mode, out);
    if (err)
        rank_check_error(sim, rank, err);
    rank_tell(sim, rank, err);
    effects_run(sim, rank->node, out, NULL);
    effects_give(sim, out);
    return true;
}

void ahead_end(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->script->nodes && sim->asks_ahead; i++) {
        uint64_t cursor = 0;
        struct proto_region *root;
        while ((root = world_next_root(sim, i, &cursor)) != NULL) {
            struct proto_effects *out = effects_take(sim);
            proto_ahead_end(&sim->node[i].proto, root, out);
            effects_run(sim, i, out, NULL);
            effects_give(sim, out);
        }
    }
}

static bool covers(const struct proto_sending *sending,
                   const struct proto_region *r)
{
    const struct proto_link *l;
    for (l = sending->pins.next; l != &sending->pins; l = l->next) {
        const struct proto_pin *pin =
            CONTAINER(l, const struct proto_pin, link);
        if (pin->region == r && pin->shared)
            return true;
    }
    return false;
}

/* If only promises block a writer, each must have been revoked already. */
static void check_promises(struct sim *sim, const struct proto_region *r)
{
    const struct proto_link *head = &r->root->sendings;
    if (!r->owned || !queued(r) || !only_ahead(r, op_at(r->queue.next)))
        return;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_sending *sending =
            CONTAINER(l, const struct proto_sending, link);
        if (sending->promise && !sending->revoking && covers(sending, r))
            sim_found(sim, "ahead: a writer waits for what node %u asked ahead",
                      sending->node);
    }
}

static void check_queue(struct sim *sim, const struct proto_region *r)
{
    bool ahead = false;
    for (const struct proto_link *l = r->queue.next; l != &r->queue;
         l = l->next) {
        const struct proto_op *op = op_at(l);
        if (asks_ahead(op) && op->mode == DRASYNC_WRITE)
            sim_found(sim, "ahead: node %u waits for WRITE", op->node);
        if (!asks_ahead(op) && ahead)
            sim_found(sim,
                      "ahead: a request of node %u waits behind what "
                      "was asked ahead",
                      op->node);
        ahead |= asks_ahead(op);
    }
}

/* Who subscribed waits at the owner, for a version that is not there, until a
 * writer releases. */
static void check_subscribers(struct sim *sim, const struct proto_region *r)
{
    bool held = false;
    for (const struct proto_region *x = r; x; x = x->parent)
        held |= x->write_rank >= 0 || x->lock;
    for (const struct proto_link *l = r->subscribers.next; l != &r->subscribers;
         l = l->next) {
        const struct proto_op *op = op_at(l);
        if (!r->owned)
            sim_found(sim, "ahead: node %u is subscribed where no token is",
                      op->node);
        else if (!held && (op->newer ? op->newer < proto_version(r)
                                     : op->base_version != proto_version(r)))
            sim_found(sim, "ahead: node %u waits for a version that is here",
                      op->node);
    }
}

/* The token of a region went to who asked ahead; a rank here had to have used
 * it since it came. */
static void check_token(struct sim *sim, uint32_t node,
                        const struct proto_message *m,
                        struct proto_effects *out)
{
    const struct proto_region *r = world_find(sim, node, m->region), *x = r;
    bool left = false;
    for (size_t i = 0; i < out->count; i++) {
        const struct proto_message *sent = out->effect[i].kind == PROTO_SEND
                                               ? proto_effect_message(out, i)
                                               : m;
        left |= sent->type == PROTO_TRANSFER && sent->ticket == m->ticket;
    }
    if (!r || !left || !r->came)
        return;
    while (x && x->written <= r->came)
        x = x->parent;
    if (!x)
        sim_found(sim,
                  "ahead: node %u took a token from node %u before that "
                  "used it",
                  m->node, node);
}

void ahead_check(struct sim *sim, uint32_t node,
                 const struct proto_message *handled, struct proto_effects *out)
{
    uint64_t cursor = 0;
    struct proto_region *root;
    if (!sim->asks_ahead || sim->script->nodes > 64)
        return;
    if (handled && handled->type == PROTO_REQUEST &&
        handled->flags & PROTO_AHEAD && handled->mode == DRASYNC_WRITE)
        check_token(sim, node, handled, out);
    while ((root = world_next_root(sim, node, &cursor)) != NULL) {
        if (!root->waiting && !root->subscribed)
            continue;
        for (struct proto_region *r = root; r; r = proto_next(root, r)) {
            check_queue(sim, r);
            check_promises(sim, r);
            check_subscribers(sim, r);
        }
    }
}
