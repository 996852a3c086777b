/*
 * died.c - the end of a rank that died while others of its node live.
 *
 * What it had for WRITE may be half written, so nobody is shown it again.
 * Whoever waits for that is told at the end of the step, when the queues are
 * served.
 */
#include "protocol/internal.h"

bool lost_for(const struct proto_op *op, const struct proto_region *r)
{
    return r->losses && op->kind != OP_DELETE;
}

void set_lost(struct proto_region *r, bool lost)
{
    if (r->lost == lost)
        return;
    r->lost = lost;
    count(r, COUNT_LOST, lost ? 1 : -1);
}

/* The dead rank, and the numbers that it used for runs and saves, which are
 * equal to @rank modulo @ranks (native_rank_new() of the runtime). */
struct dead {
    int32_t rank, ranks;
};

static bool is_dead(int32_t rank, struct dead dead)
{
    return rank >= 0 && rank % dead.ranks == dead.rank;
}

static struct proto_op *asked_by_dead(const struct proto_region *r,
                                      struct dead dead)
{
    for (struct proto_link *l = r->asking.next; l != &r->asking; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
        if (is_dead(op->rank, dead) && !op->detached)
            return op;
    }
    return NULL;
}

/* No waiter is woken: they were the dead rank's. */
static void drop_requests(struct step *s, struct proto_region *root,
                          struct dead dead)
{
    struct proto_op *op;
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        while ((op = asked_by_dead(r, dead)) != NULL) {
            op->detached = true;
            op_give_up(s, op, DRASYNC_EAGAIN);
        }
    }
}

static struct proto_hold *hold_of_dead(const struct proto_region *r,
                                       struct dead dead)
{
    for (struct proto_link *l = r->holds.next; l != &r->holds; l = l->next) {
        struct proto_hold *hold = CONTAINER(l, struct proto_hold, link);
        if (is_dead(hold->rank, dead))
            return hold;
    }
    return NULL;
}

/* It was copying for its split (proto_copying()), as nothing else reads copies
 * without a pin where there is one node. */
static void end_copying(struct step *s, struct proto_region *r)
{
    struct proto_link *l;
    for (l = r->copies.next; l != &r->copies; l = l->next)
        CONTAINER(l, struct proto_copy, link)->sends = 0;
    r->sends = 0;
    pinned_update(r);
    copies_check(s, r);
}

/* The data of @top's subtree, which the dead rank has for WRITE, is lost, or as it
 * was before. */
static void lose(struct step *s, struct proto_region *top)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        if (!r->owned || r->dead || r->gone)
            continue;
        end_copying(s, r);
        if (!previous_back(s, r))
            set_lost(r, true);
    }
}

void proto_rank_died(struct proto_node *node, int32_t rank, int32_t ranks,
                     struct proto_region *root, struct proto_effects *out)
{
    const struct dead dead = {rank, ranks};
    struct step s;
    assert(node->env.nodes == 1);
    step_begin(&s, node, out);
    drop_requests(&s, root, dead);
    /* READ holds first, so that none is left for a WRITE hold to uncover. */
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        struct proto_hold *hold;
        while ((hold = hold_of_dead(r, dead)) != NULL)
            hold_end(&s, hold);
    }
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        if (!is_dead(r->write_rank, dead))
            continue;
        lose(&s, r);
        /* Until it is not lost any more no region above it is written, so waits
         * for newer versions of those end. */
        for (struct proto_region *x = r->parent; x; x = x->parent)
            if (x->losses)
                subscriptions_end(&s, x, DRASYNC_ELOST);
        write_end(&s, r);
    }
    step_end(&s);
}
