/*
 * see.c - questions by those who have no lock: every pointer is checked before
 * it is followed, and every walk has an end.
 */
#include "protocol/internal.h"

const void *proto_progress(const struct proto_op *op)
{
    return list_empty(&op->pins) ? NULL : op->pins.prev;
}

/* A longer list changes while it is walked, or is of no use to anybody. */
#define SEE_STEPS_MAX 4096

/* It is not to be optimised into fewer reads, nor are races news. */
#define LOOKS __attribute__((no_sanitize("thread")))

LOOKS static const struct proto_link *next_of(const struct proto_link *link,
                                              proto_valid *valid)
{
    const struct proto_link *next =
        *(struct proto_link *const volatile *)&link->next;

    return next && valid(next, sizeof(*next)) ? next : NULL;
}

LOOKS static bool see(const struct proto_op *op, proto_valid *valid,
                      struct proto_seen *out)
{
    if (!op || !valid(op, sizeof(*op)))
        return false;
    out->rank = op->kind == OP_FOREIGN ? -1 : op->rank;
    out->node = op->node;
    out->mode = op->mode;
    out->at = op->at;
    out->where = PROTO_WAITS_OTHER;
    if (op->where == AT_QUEUE)
        out->where = PROTO_WAITS_HERE;
    else if (op->where == AT_OWNER || op->where == AT_PENDING ||
             op->where == AT_LEADER)
        out->where = PROTO_WAITS_AWAY;
    else if (op->where == AT_NEWER || op->where == AT_SUBSCRIBED)
        out->where = PROTO_WAITS_NEWER;
    /* Who follows another one's READ waits where that does: at the region. */
    if (op->where == AT_LEADER ||
        (out->at && !valid(out->at, sizeof(*out->at))))
        out->at = op->target;
    return !out->at || valid(out->at, sizeof(*out->at));
}

LOOKS bool proto_see_asking(const struct proto_region *region, int32_t rank,
                            proto_valid *valid, struct proto_seen *out)
{
    const struct proto_link *l = next_of(&region->asking, valid);

    for (int i = 0; l && l != &region->asking && i < SEE_STEPS_MAX; i++) {
        const struct proto_op *op =
            CONTAINER(l, const struct proto_op, by_target);

        if (valid(op, sizeof(*op)) && op->rank == rank && !op->detached)
            return see(op, valid, out);
        l = next_of(l, valid);
    }
    return false;
}

LOOKS static size_t see_list(const struct proto_link *head, proto_valid *valid,
                             struct proto_seen *out, size_t max)
{
    const struct proto_link *l = next_of(head, valid);
    size_t count = 0;

    for (int i = 0; l && l != head && count < max && i < SEE_STEPS_MAX; i++) {
        count +=
            see(CONTAINER(l, const struct proto_op, link), valid, &out[count]);
        l = next_of(l, valid);
    }
    return count;
}

size_t proto_see_waiting(const struct proto_region *region, proto_valid *valid,
                         struct proto_seen *out, size_t max)
{
    size_t count = see_list(&region->queue, valid, out, max);

    return count + see_list(&region->pending, valid, out + count, max - count);
}

/* Has @op, a READ, got as far as @region? */
LOOKS static bool shares(const struct proto_op *op,
                         const struct proto_region *region, proto_valid *valid)
{
    const struct proto_link *l = next_of(&op->pins, valid);

    for (int i = 0; l && l != &op->pins && i < SEE_STEPS_MAX; i++) {
        const struct proto_pin *pin =
            (const struct proto_pin *)(const void *)l; /* its first member */

        if (!valid(pin, sizeof(*pin)))
            return false;
        if (pin->shared && pin->region == region)
            return true;
        l = next_of(l, valid);
    }
    return false;
}

/* The READ of a rank of this node that shares the lock of @region, asked for as
 * @target. */
LOOKS static const struct proto_op *sharer(const struct proto_region *region,
                                           const struct proto_region *target,
                                           proto_valid *valid)
{
    const struct proto_link *l = next_of(&target->asking, valid);

    for (int i = 0; l && l != &target->asking && i < SEE_STEPS_MAX; i++) {
        const struct proto_op *op =
            CONTAINER(l, const struct proto_op, by_target);

        if (valid(op, sizeof(*op)) && op->mode == DRASYNC_READ &&
            !op->detached && shares(op, region, valid))
            return op;
        l = next_of(l, valid);
    }
    return NULL;
}

LOOKS bool proto_see_lock(const struct proto_region *region, proto_valid *valid,
                          struct proto_seen *out)
{
    const struct proto_op *op =
        *(struct proto_op *const volatile *)&region->lock;

    const struct proto_region *x = region;
    bool shared = *(const volatile uint32_t *)&region->shared;

    for (int i = 0; !op && shared && x && i < SEE_STEPS_MAX; i++) {
        op = sharer(region, x, valid);
        x = *(struct proto_region *const volatile *)&x->parent;
        if (x && !valid(x, sizeof(*x)))
            x = NULL;
    }
    return op && see(op, valid, out);
}

LOOKS int32_t proto_see_reader(const struct proto_region *region, uint32_t i,
                               proto_valid *valid)
{
    const struct proto_link *l = next_of(&region->holds, valid);

    for (; l && l != &region->holds && i > 0; i--)
        l = next_of(l, valid);
    if (!l || l == &region->holds || i > 0)
        return -1;
    const struct proto_hold *hold = CONTAINER(l, const struct proto_hold, link);
    return valid(hold, sizeof(*hold)) ? hold->rank : -1;
}
