/*
 * give.c - a rank hands its WRITE hold over, to a rank of this node or another.
 *
 * Between nodes a gift is a TRANSFER that answers no request: the tokens of the
 * subtree with all data, and what is above it.  Where it arrives it becomes the
 * operation of an acquire that has nothing to ask for, so that data that comes
 * later, want of memory and operations that wait are as they are for any other.
 *
 * Who is given what it waits for does not hold it: its request may stand at a node
 * behind one of that node's own, which would wait for the hold's end.  An acquire
 * of what is newer ends instead, as nobody else can write.
 */
#include "protocol/internal.h"

bool proto_held_once(const struct proto_region *r, int32_t rank)
{
    if (r->write_count != 1 || hold_of(r, rank) || proto_held_below(r, rank))
        return false;
    for (const struct proto_region *x = r->parent; x; x = x->parent)
        if (x->write_rank == rank || hold_of(x, rank))
            return false;
    return true;
}

/*
 * By an operation of its rank, as nobody else's locks what that rank holds: a
 * delete, or an acquire, perhaps one whose caller has given up.  What is dead is
 * no part of the gift, and what a READ has locked below @top stays.
 */
static bool has_locks(const struct proto_region *top)
{
    if (top->shared)
        return true;
    for (const struct proto_region *r = top; r && top->busy > 1;
         r = proto_next(top, r))
        if (r->lock && !r->dead)
            return true;
    return false;
}

/* Has a part of @top, of those whose subregions are known here, more of them than
 * may go to another node?  Who took the gift would wait for that part in vain. */
static bool has_wide(struct step *s, struct proto_region *top)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        if (r->owned && !r->dead && too_wide(s, r, DRASYNC_WRITE))
            return true;
    return false;
}

/* What @rank waits for at @r: an acquire of what is newer, or, without @newer,
 * another one; NULL: nothing. */
static struct proto_op *waits_at(const struct proto_region *r, int32_t rank,
                                 bool newer)
{
    for (struct proto_link *l = r->asking.next; l != &r->asking; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
        if (op->rank == rank && !op->detached &&
            (op->asked_newer != 0) == newer)
            return op;
    }
    return NULL;
}

/* The same in @top's subtree. */
static struct proto_op *waits_in(struct proto_region *top, int32_t rank,
                                 bool newer)
{
    for (struct proto_region *r = top; r && top->asked_for;
         r = proto_next(top, r)) {
        struct proto_op *op = waits_at(r, rank, newer);
        if (op)
            return op;
    }
    return NULL;
}

/* Does @rank wait for what it could not have beside a hold of @r? */
static bool waits_about(const struct step *s, struct proto_region *r,
                        int32_t rank)
{
    if (FAULT(s, FAULT_GIVE_AWAITED))
        return false;
    for (const struct proto_region *at = r->parent; at; at = at->parent)
        if (waits_at(at, rank, false))
            return true;
    return waits_in(r, rank, false);
}

void end_newer(struct step *s, struct proto_region *r, int32_t rank)
{
    struct proto_op *op;
    while (!FAULT(s, FAULT_GIVE_AWAITED) &&
           (op = waits_in(r, rank, true)) != NULL)
        op_give_up(s, op, DRASYNC_ENESTED);
}

/* To a rank of this node. */
static void give_here(struct step *s, struct proto_region *r, int32_t rank,
                      struct proto_gift *gift)
{
    int32_t to = gift->rank;
    gift->back =
        to != rank && (gift->back || proto_held(r, to) ||
                       proto_held_below(r, to) || waits_about(s, r, to));
    if (gift->back) {
        write_end(s, r);
        return;
    }
    r->write_rank = to;
    r->written = ++r->root->clock;
    end_above(s, r, to);
    end_newer(s, r, to);
    mark_serve_below(s, r); /* that rank may have asked for it */
}

static int give_away(struct step *s, struct proto_region *r, int32_t rank,
                     const struct proto_gift *gift)
{
    r->write_rank = -1;
    r->write_count = 0;
    count(r, COUNT_BUSY, -1);
    if (!FAULT(s, FAULT_GIVE_LOST) && !send_gift(s, r, gift)) {
        grant_write(r, rank);
        return DRASYNC_ENOMEM;
    }
    /* Parts for which there was no memory stay, and are free now. */
    subscriptions_serve(s, r);
    mark_serve_below(s, r);
    return 0;
}

int proto_give(struct proto_node *node, int32_t rank,
               struct proto_region *region, struct proto_gift *gift,
               struct proto_effects *out)
{
    struct step s;
    int err = 0;
    if (region->dead || region->gone)
        return DRASYNC_EDELETED;
    if (region->write_rank != rank)
        return DRASYNC_ENOTHELD;
    step_begin(&s, node, out);
    if (!proto_held_once(region, rank) && !FAULT(&s, FAULT_GIVE_NESTED))
        err = DRASYNC_ENESTED;
    else if (has_locks(region))
        err = DRASYNC_EBUSY;
    else if (gift->node == self_of(&s))
        give_here(&s, region, rank, gift);
    else if (has_wide(&s, region))
        err = DRASYNC_ELIMIT;
    else
        err = give_away(&s, region, rank, gift);
    step_end(&s);
    return err;
}

void gift_back(struct step *s, uint32_t from, const struct proto_message *m,
               int error)
{
    struct proto_region *r = find(s, m->region);
    if (m->waiter) {
        struct proto_effect *e = effect(s, PROTO_FAILED);
        e->waiter = m->waiter;
        e->error = error;
    }
    if (!FAULT(s, FAULT_DROP_UNWANTED))
        bounce(s, from, m);
    if (r)
        pump(s, r);
}

/* The record of what is given, below those of its ancestors; or NULL. */
static struct proto_region *learn_gift(struct step *s,
                                       const struct proto_message *m)
{
    struct proto_region *parent = NULL;
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        if (item->kind != PROTO_ITEM_ANCESTOR)
            break;
        parent = region_learn(s, item->address, item->incarnation, parent);
        if (!parent)
            return NULL;
        mark_gc(s, parent);
    }
    return region_learn(s, m->region, m->incarnation, parent);
}

struct proto_op *gift_op(struct step *s, uint32_t from,
                         const struct proto_message *m)
{
    int32_t rank = (int32_t)m->version;
    struct proto_region *r = learn_gift(s, m);
    if (!r || r->dead || r->gone) {
        gift_back(s, from, m, DRASYNC_EDELETED);
        return NULL;
    }
    bool waits = waits_about(s, r, rank) || proto_held_below(r, rank);
    struct proto_op *op =
        op_new(s, OP_ACQUIRE, rank, r, DRASYNC_WRITE, m->waiter);
    assert(op); /* it was reserved */
    op->detached = !m->waiter;
    /* It goes no further than to be here. */
    if (waits)
        failed(s, op, DRASYNC_EORDER);
    return op;
}
