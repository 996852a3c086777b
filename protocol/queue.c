/*
 * queue.c - the order of a queue, and what stands in the way of its first.
 */
#include "protocol/internal.h"

/* Have enough passed @op, which was asked ahead, for a rank that may wait for it
 * by now (newer.c)? */
static bool has_waited(struct proto_op *op)
{
    return op->mode == DRASYNC_READ && ++op->passed > PROTO_AHEAD_PASSED_MAX;
}

/* @op, in @r's queue, is a request like any other from now on, before all that
 * was asked ahead.  The place behind it. */
static struct proto_link *taken_for_real(struct proto_op *op,
                                         struct proto_region *r)
{
    struct proto_link *first = &op->link;
    op->flags &= (uint16_t) ~(PROTO_AHEAD | PROTO_NOWAIT);
    while (first->prev != &r->queue &&
           asks_ahead(CONTAINER(first->prev, struct proto_op, link)))
        first = first->prev;
    if (first != &op->link) {
        list_remove(&op->link);
        list_insert(first, &op->link);
    }
    return op->link.next;
}

/* Where @op belongs in @r's queue: before all that was asked ahead, unless it
 * was as well.  What its node asked ahead, and still waits, it takes over. */
static struct proto_link *place_of(struct step *s, const struct proto_op *op,
                                   struct proto_region *r)
{
    struct proto_link *l = &r->queue;
    if (asks_ahead(op) || FAULT(s, FAULT_AHEAD_FIRST))
        return l;
    while (l->prev != &r->queue) {
        struct proto_op *before = CONTAINER(l->prev, struct proto_op, link);
        if (!asks_ahead(before))
            break;
        if (op->kind != OP_FOREIGN || before->node != op->node) {
            if (has_waited(before))
                return taken_for_real(before, r);
            l = l->prev;
            continue;
        }
        op_unlist(before);
        refuse(s, r, before, DRASYNC_EAGAIN);
    }
    return l;
}

void enqueue(struct step *s, struct proto_op *op, struct proto_region *r)
{
    base_end(s, op, r);
    op->flags &= (uint16_t) ~(PROTO_CLIMBS | PROTO_NEWER);
    op->newer = 0;
    op->at = r;
    op->where = AT_QUEUE;
    list_insert(place_of(s, op, r), &op->link);
    count(r, COUNT_WAITING, 1);
    mark_serve(s, r);
}

/*
 * Is a WRITE hold of @rank no obstacle to @op?  It asks for that rank, and for
 * nobody else: a rank that gave up may have taken the hold since, and what it
 * writes its followers must not see.
 */
static bool own_hold(const struct proto_op *op, int32_t rank)
{
    return op->kind != OP_FOREIGN && op->rank == rank && !op->detached &&
           list_empty(&op->followers);
}

/* Has nobody but @op, or @lock, a hold of @r for WRITE, or a lock? */
static bool unheld(const struct proto_region *r, const struct proto_op *lock,
                   const struct proto_op *op)
{
    if (r->lock && r->lock != lock)
        return false;
    for (const struct proto_region *x = r; x; x = x->parent)
        if (x->write_rank >= 0 && !own_hold(op, x->write_rank))
            return false;
    return true;
}

bool grantable(struct step *s, const struct proto_region *r,
               const struct proto_op *op)
{
    if (FAULT(s, FAULT_IGNORE_HOLDS))
        return !r->lock;
    if (!unheld(r, op, op))
        return false;
    return op->mode == DRASYNC_READ || r->shared == 0 ||
           (FAULT(s, FAULT_AHEAD_BROKEN) && r->shared == r->promised);
}

/* Does @op have what it has locked only until all of it is here? */
static bool is_coming(const struct proto_op *op)
{
    return op->kind == OP_AHEAD || (op->kind == OP_ACQUIRE && op->rank < 0);
}

bool only_ahead(const struct proto_region *r, const struct proto_op *op)
{
    bool coming = r->lock && is_coming(r->lock);
    if (op->mode == DRASYNC_WRITE && r->shared != r->promised)
        return false;
    return (coming || r->promised) && unheld(r, coming ? r->lock : NULL, op);
}

bool only_unsettled(const struct proto_region *r, const struct proto_op *op)
{
    return r->shared && !queued(r) && unheld(r, op, op);
}

bool waits_for_ranks(struct step *s, const struct proto_region *r,
                     const struct proto_op *op)
{
    return queued(r) || !(grantable(s, r, op) || only_ahead(r, op));
}

bool own_write(const struct proto_region *r, const struct proto_op *op)
{
    for (; r; r = r->parent)
        if (r->write_rank >= 0 && own_hold(op, r->write_rank))
            return true;
    return false;
}

/* A request, in @r's queue, of the rank that holds @r for WRITE; NULL: none. */
static struct proto_op *own_waits(const struct proto_region *r)
{
    for (const struct proto_region *x = r; x; x = x->parent) {
        if (x->write_rank < 0)
            continue;
        for (struct proto_link *l = r->asking.next; l != &r->asking;
             l = l->next) {
            struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
            if (op->rank == x->write_rank && !op->detached &&
                op->where == AT_QUEUE && op->at == r)
                return op;
        }
    }
    return NULL;
}

struct proto_op *next_in_queue(struct step *s, const struct proto_region *r)
{
    struct proto_op *first = CONTAINER(r->queue.next, struct proto_op, link);
    struct proto_op *own;
    if (grantable(s, r, first))
        return first;
    own = own_waits(r);
    /* Followers wait as all others do, once they have parted from it. */
    return own && (grantable(s, r, own) || !list_empty(&own->followers))
               ? own
               : first;
}

bool proto_waited_elsewhere(const struct proto_region *region,
                            int32_t *node_out)
{
    uint32_t count = 0;
    *node_out = INT32_MAX;
    for (const struct proto_link *l = region->queue.next; l != &region->queue;
         l = l->next) {
        const struct proto_op *op = CONTAINER(l, const struct proto_op, link);
        if (is_local(op))
            return false;
        if (op->flags & PROTO_KEEPS && (int32_t)op->node < *node_out)
            *node_out = (int32_t)op->node;
        count++;
    }
    return region->waiting == count && region->root->waiting == count;
}
