/*
 * combine.c - READs of one region by many nodes are combined on their way to its
 * owner, and the answers spread: a REQUEST that climbs goes up a tree of nodes,
 * and a node on the way that READs the region itself asks once for all that
 * came, and gives each what it got.
 *
 * What it passes on it asked for after they had come; docs/protocol.md
 * ("Trees of readers") says why that is all there is to it, and why nobody
 * waits in a ring.
 */
#include "protocol/internal.h"

uint32_t climb_from(const struct step *s, uint32_t root)
{
    uint32_t nodes = s->env->nodes;
    uint32_t at = (self_of(s) + nodes - root) % nodes;
    return (root + (at - 1) / s->node->fanout) % nodes;
}

bool climb_pays(const struct step *s, uint32_t root)
{
    return root != self_of(s) && s->env->nodes > s->node->fanout + 1 &&
           climb_from(s, root) != root;
}

bool is_hot(const struct step *s, struct proto_region *r)
{
    if (s->env->nodes <= s->node->fanout + 1)
        return false;
    if (!r->owned)
        return r->hot;
    return r->read_version == proto_version(r) && r->readers > s->node->fanout;
}

/* May a READ that knows move @epoch wait for this node's copy, or for its
 * requests for @r?  None of these is of an earlier move, so READs never wait in
 * a ring. */
static bool may_wait(const struct proto_region *r, uint64_t epoch)
{
    if (r->gone || r->epoch < epoch || (list_empty(&r->copies) && !r->sent))
        return false;
    if (!r->sent)
        return true;
    const struct proto_link *head = &r->root->requests;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_op *op = CONTAINER(l, const struct proto_op, link);
        if (op->at == r && op->mode == DRASYNC_READ && op->sent_epoch < epoch)
            return false;
    }
    return true;
}

/* The simulator's fault: it is served with what was asked for before. */
static bool served_with_old(struct step *s, struct proto_region *r,
                            struct proto_op *op)
{
    struct proto_link *head = &r->root->requests;
    if (!FAULT(s, FAULT_OLD_ANSWER))
        return false;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *leader = CONTAINER(l, struct proto_op, link);
        if (leader->at != r || leader->target != r ||
            leader->kind != OP_ACQUIRE || leader->mode != DRASYNC_READ ||
            leader->flags & PROTO_NOWAIT || !list_empty(&leader->pins))
            continue;
        lead(leader, op);
        return true;
    }
    return false;
}

static bool keep_read(struct step *s, struct proto_region *r,
                      const struct proto_message *m)
{
    struct proto_op *op;
    if (!may_wait(r, m->epoch))
        return false;
    op = foreign(s, m);
    if (!op)
        return false;
    op->flags |= PROTO_CLIMBS;
    make_pending(op, r);
    mark_serve(s, r);
    served_with_old(s, r, op);
    return true;
}

bool climb(struct step *s, const struct proto_message *m)
{
    if (m->via == self_of(s))
        return false;
    struct proto_region *r = find(s, m->region);
    if (r && (r->locating || r->incarnation != m->incarnation))
        r = NULL;
    /* It is here, or comes here: a READ waits for that as ever. */
    if (r && (r->dead || r->owned || chain_waits(r, m)))
        return false;
    if (!r || !keep_read(s, r, m))
        *send_message(s, climb_from(s, m->via), PROTO_REQUEST) = *m;
    return true;
}

void lead(struct proto_op *leader, struct proto_op *op)
{
    op_unlist(op);
    op->where = AT_LEADER;
    list_insert(&leader->followers, &op->link);
    leader->relays = true;
}

/* A READ that nobody here waits for. */
void relay(struct step *s, struct proto_region *r, struct proto_op *op)
{
    struct proto_op *leader = op_new(s, OP_ACQUIRE, -1, r, DRASYNC_READ, NULL);
    if (!leader) {
        op_unlist(op);
        part_company(s, op, r);
        return;
    }
    leader->detached = true;
    lead(leader, op);
    op_begin(s, leader);
}

void part_company(struct step *s, struct proto_op *op, struct proto_region *r)
{
    op->flags &= (uint16_t)~PROTO_CLIMBS;
    make_pending(op, r);
    mark_serve(s, r);
}

void part_relayed(struct step *s, struct proto_op *leader)
{
    struct proto_link *next;
    if (!leader->relays)
        return;
    leader->relays = false;
    for (struct proto_link *l = leader->followers.next; l != &leader->followers;
         l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (op->kind != OP_FOREIGN)
            continue;
        op_unlist(op);
        part_company(s, op, leader->target);
    }
}

void relay_settled(struct step *s, struct proto_op *op)
{
    if (--op->awaiting)
        return;
    op_settle(s, op);
    op_free(s, op);
}
