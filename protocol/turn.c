/*
 * turn.c - whose turn it is: the order of a queue, and what stands in the way of
 * its first.
 */
#include "protocol/internal.h"

void enqueue(struct step *s, struct proto_op *op, struct proto_region *r)
{
    base_end(s, op, r);
    op->flags &= (uint16_t)~PROTO_CLIMBS;
    op->at = r;
    op->where = AT_QUEUE;
    list_insert(&r->queue, &op->link);
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

bool grantable(struct step *s, const struct proto_region *r,
               const struct proto_op *op)
{
    if (FAULT(s, FAULT_IGNORE_HOLDS))
        return !r->lock;
    if (r->lock && r->lock != op)
        return false;
    for (const struct proto_region *x = r; x; x = x->parent)
        if (x->write_rank >= 0 && !own_hold(op, x->write_rank))
            return false;
    return op->mode == DRASYNC_READ || r->shared == 0;
}

bool own_write(const struct proto_region *r, const struct proto_op *op)
{
    for (; r; r = r->parent)
        if (r->write_rank >= 0 && own_hold(op, r->write_rank))
            return true;
    return false;
}
