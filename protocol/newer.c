/*
 * newer.c - a rank acquires a region only if it is newer than a version that it
 * knows, and waits until somebody has written it.
 *
 * Its request waits where the token is, among the subscriptions (subscribe.c),
 * for READ or WRITE, with ranks of the owner's node.  It is no hint: it goes after
 * the token, and queues like any other when the version is there.  Until then it
 * is an obstacle to nobody, and nothing else waits for its answer.
 *
 * If very many nodes wait to READ one region, its owner gives the data to a few,
 * and tells the others that it is there: they READ it as any region that many
 * READ (combine.c).
 */
#include "protocol/internal.h"

bool newer_missing(const struct proto_region *r, const struct proto_op *op)
{
    return op->newer && proto_version(r) <= op->newer;
}

bool newer_waits(struct step *s, struct proto_region *r, struct proto_op *op)
{
    if (!newer_missing(r, op) || FAULT(s, FAULT_NEWER_EARLY))
        return false;
    int error = 0;
    if (op->newer > proto_version(r))
        error = DRASYNC_EINVAL; /* nobody had that here */
    else if (op->flags & PROTO_NOWAIT || (is_local(op) && op->detached))
        error = DRASYNC_EAGAIN;
    if (error) {
        if (is_local(op))
            op_fail(s, op, error);
        else
            refuse(s, r, op, error);
        return true;
    }
    /* It has found the token, from where it may have to go on. */
    op->flags &= (uint16_t) ~(PROTO_DETOUR | PROTO_LOST | PROTO_HOMEWARD);
    op->hops = 0;
    op->via = self_of(s);
    op->sent_epoch = r->epoch;
    base_end(s, op, r);
    op->at = r;
    op->where = AT_SUBSCRIBED;
    list_insert(&r->subscribers, &op->link);
    count(r, COUNT_SUBSCRIBED, 1);
    return true;
}

void newer_here(struct proto_op *op, const struct proto_region *r)
{
    if (!op->newer || r != op->target)
        return;
    const struct proto_copy *copy = copy_here(r);
    if (copy && copy->version > op->newer)
        op->newer = 0;
}

bool newer_comes(struct proto_op *op, const struct proto_region *r)
{
    const struct proto_op *ahead = r->ahead;
    newer_here(op, r);
    return op->newer && op->mode == DRASYNC_READ && r == op->target &&
           !(op->flags & PROTO_NOWAIT) && ahead && ahead->where == AT_AHEAD &&
           ahead->flags & PROTO_NEWER && ahead->base_version == op->newer &&
           !ahead->revoked;
}

/* Is it another node's, to READ? */
static bool reads_there(const struct proto_op *op)
{
    return op->newer && !is_local(op) && op->mode == DRASYNC_READ;
}

/* It is there, to be had through others. */
static void tell(struct step *s, struct proto_region *r, struct proto_op *op)
{
    size_t send = s->out->count;
    refuse(s, r, op, DRASYNC_EAGAIN);
    message_of(s, send)->flags |= PROTO_HOT;
}

void newer_spread(struct step *s, struct proto_region *r)
{
    const uint32_t fanout = s->node->fanout;
    uint32_t count = 0;
    struct proto_link *next;
    if (s->env->nodes <= fanout + 1)
        return;
    for (struct proto_link *l = r->subscribers.next; l != &r->subscribers;
         l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (!reads_there(op) || newer_missing(r, op) || count++ < fanout)
            continue;
        op_unlist(op);
        tell(s, r, op);
    }
}

bool newer_asked(struct step *s, struct proto_region *r, struct proto_op *op)
{
    if (newer_waits(s, r, op))
        return true;
    if (!reads_there(op) || !is_hot(s, r))
        return false;
    tell(s, r, op);
    return true;
}

bool newer_nested(const struct proto_op *op)
{
    enum drasync_mode have;
    uint64_t version;
    if (op->detached || !op->asked_newer ||
        !own_cover(op->target, op->rank, &have))
        return false;
    return have != DRASYNC_READ || op->mode != DRASYNC_READ ||
           proto_held_version(op->target, op->rank, &version) ||
           version <= op->asked_newer;
}

void newer_told(struct step *s, struct proto_op *op)
{
    struct proto_region *r = op->at;
    base_end(s, op, r);
    op->newer = 0;
    r->hot = true;
    op_begin(s, op);
}

uint64_t newer_version(const struct proto_op *op, const struct proto_region *r)
{
    if (op->newer && r == op->target)
        return op->newer;
    return op->base && op->base_of == r ? op->base->version : 0;
}

uint16_t newer_flags(const struct proto_op *op, const struct proto_region *r)
{
    if (!op->newer || r != op->target)
        return 0;
    /* What this node keeps serves as base if it is what its rank knows. */
    return copy_find(r, op->newer) ? PROTO_NEWER : PROTO_NEWER | PROTO_FRESH;
}
