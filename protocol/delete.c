/*
 * delete.c - deletion, after the subtree is locked for it: first no data may be
 * on its way out of any node, then no other rank may have a READ hold
 * anywhere; then it is dead, and every node that knows it is told (bury.c).
 */
#include "protocol/internal.h"

/* The next region of @op's subtree after @r that it has locked itself: others
 * below may be dead already, and on their way out. */
struct proto_region *next_locked(const struct proto_op *op,
                                 const struct proto_region *r)
{
    struct proto_region *next = proto_next(op->target, r);
    while (next && next->lock != op)
        next = proto_next(op->target, next);
    return next;
}

/* READ pins in @op's subtree that are not its own rank's. */
static bool read_by_others(struct proto_op *op)
{
    uint32_t pins = 0, own = 0;
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        struct proto_link *l;
        for (l = r->copies.next; l != &r->copies; l = l->next)
            pins += CONTAINER(l, struct proto_copy, link)->pins;
        struct proto_hold *hold = hold_of(r, op->rank);
        if (!hold)
            continue;
        for (l = hold->pins.next; l != &hold->pins; l = l->next)
            own++;
    }
    return pins > own;
}

static bool sends_left(struct proto_op *op)
{
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r))
        if (r->sends)
            return true;
    return false;
}

/* The next node after @node (-1: the first), in order of number, that may know
 * a region of @op's; -1: no more. */
static int64_t next_knower(struct step *s, struct proto_op *op, int64_t node)
{
    struct proto_region *top = op->target;
    int64_t next = -1;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        struct proto_link *l;
        for (l = r->presence.next; l != &r->presence; l = l->next) {
            int64_t knower = CONTAINER(l, struct proto_presence, link)->node;
            if (knower > node && knower != self_of(s) &&
                (next < 0 || knower < next))
                next = knower;
        }
    }
    return next;
}

/* One message to each node that may know regions of the subtree, about all of
 * those; an answer is awaited about each. */
static void tell_presence(struct step *s, struct proto_op *op,
                          enum proto_message_type type, uint16_t flags)
{
    struct proto_region *top = op->target;
    int64_t node = -1;
    while ((node = next_knower(s, op, node)) >= 0) {
        size_t send = s->out->count;
        send_about(s, (uint32_t)node, type, top, 0)->flags = flags;
        for (struct proto_region *r = top; r; r = next_locked(op, r)) {
            if (!presence_of(r, (uint32_t)node))
                continue;
            add_deleted(s, send, r);
            op->awaiting++;
        }
    }
}

/* It is dead, for everybody here. */
static void kill_subtree(struct step *s, struct proto_op *op)
{
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        struct proto_hold *hold;
        while ((hold = hold_of(r, op->rank)) != NULL)
            hold_end(s, hold);
        if (r->write_rank >= 0) {
            r->write_rank = -1;
            r->write_count = 0;
            count(r, COUNT_BUSY, -1);
        }
        r->dead = true;
    }
    for (struct proto_region *r = top; r; r = next_locked(op, r))
        region_end_waiting(s, r);
}

/* A stage is over: nothing is awaited, go on to the next. */
void delete_next(struct step *s, struct proto_op *op)
{
    if (op->awaiting || op->where != AT_NOTHING)
        return;
    if (op->stage == DELETE_GATHER)
        return;
    if (op->stage == DELETE_SENDS) {
        if (sends_left(op))
            return;
        op->stage = DELETE_HOLDS;
        tell_presence(s, op, PROTO_RECALL, PROTO_HELD);
        if (op->awaiting)
            return;
    }
    if (op->stage == DELETE_HOLDS) {
        if ((op->busy || read_by_others(op)) &&
            !FAULT(s, FAULT_BLIND_DELETE)) {
            op->stage = DELETE_GATHER;
            op_fail(s, op, DRASYNC_EBUSY);
            return;
        }
        kill_subtree(s, op);
        granted(s, op, NULL, false);
        op->stage = DELETE_BURY;
        tell_presence(s, op, PROTO_BURY, 0);
        if (op->awaiting)
            return;
    }
    bury_end(s, op);
}

void delete_locked(struct step *s, struct proto_op *op)
{
    op_settle(s, op);
    op->stage = DELETE_SENDS;
    tell_presence(s, op, PROTO_RECALL, 0);
    delete_next(s, op);
}
