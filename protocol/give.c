/*
 * give.c - a rank releases its WRITE hold, and its region goes to the node of
 * another one, which will acquire it there.
 *
 * Between nodes that is a TRANSFER that answers no request: the tokens of the
 * subtree with all data, and what is above it.  Where it arrives it becomes the
 * operation of an acquire that has nothing to ask for and of which nobody waits
 * for the end, so that data that comes later, want of memory and operations that
 * wait are as they are for any other.
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
               struct proto_region *region, const struct proto_gift *gift,
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
        write_end(&s, region);
    else if (has_wide(&s, region))
        err = DRASYNC_ELIMIT;
    else
        err = give_away(&s, region, rank, gift);
    step_end(&s);
    return err;
}

void gift_back(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
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
    struct proto_region *r = learn_gift(s, m);
    if (!r || r->dead || r->gone) {
        gift_back(s, from, m);
        return NULL;
    }
    struct proto_op *op = op_new(s, OP_ACQUIRE, -1, r, DRASYNC_WRITE, NULL);
    assert(op); /* it was reserved */
    op->detached = true;
    return op;
}
