/*
 * delete.c - deletion, after the subtree is locked for it: no other rank may
 * have a READ hold anywhere; then it is dead, and the call returns; when no
 * data of it is on its way out of any node, every node that knows it is told
 * (bury.c).
 *
 * Only nodes that may READ, by what came with the token (presence.c), are asked
 * about holds.  Only if one of them knows of others, or sends to some, all are
 * asked for those first.  What this node itself sends reaches a reader before
 * the question does.  So who deletes what nobody else READ waits for nobody.
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
static bool read_by_others(struct step *s, struct proto_op *op)
{
    uint32_t pins = 0, own = 0;
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        struct proto_link *l;
        for (l = r->copies.next; l != &r->copies; l = l->next)
            pins += copy_read(s, CONTAINER(l, struct proto_copy, link));
        /* What it would go back to is nobody else's. */
        for (l = r->previous.next; l != &r->previous; l = l->next)
            own++;
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

/* Is @p to be told what @op has come to, and has not been? */
static bool to_tell(const struct proto_presence *p, const struct proto_op *op,
                    uint64_t mark)
{
    if (!p || p->told == mark)
        return false;
    switch (op->stage) {
    case DELETE_SENDS:
    case DELETE_DEAD:
        return p->quiet != op->ticket;
    case DELETE_KNOWERS:
        return p->more;
    case DELETE_HOLDS:
        return p->reads || p->more;
    default:
        return true;
    }
}

/* Messages to @node about all regions of the subtree, from @r on, that it may
 * know, as many as it takes; an answer is awaited about each region. */
static void tell_node(struct step *s, struct proto_op *op, uint32_t node,
                      struct proto_region *r, enum proto_message_type type,
                      uint16_t flags, uint64_t mark)
{
    size_t send = 0;
    uint32_t room = 0;
    for (; r; r = next_locked(op, r)) {
        struct proto_presence *p = presence_of(r, node);
        if (!to_tell(p, op, mark))
            continue;
        p->told = mark;
        if (op->stage == DELETE_SENDS || op->stage == DELETE_DEAD)
            p->quiet = op->ticket;
        if (!room) {
            room = s->node->answer_items;
            send = s->out->count;
            send_about(s, node, type, op->target, 0)->flags = flags;
            effect_of(s, send)->lazy = op->stage >= DELETE_DEAD;
        }
        room--;
        add_deleted(s, send, r);
        op->awaiting++;
    }
}

/* Each node that may know regions of the subtree; about their sends only those
 * that this delete has not asked, about others only those that know of some. */
static void tell_presence(struct step *s, struct proto_op *op,
                          enum proto_message_type type, uint16_t flags)
{
    uint64_t mark = s->env->ticket(s->env->ctx);
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        for (struct proto_link *l = r->presence.next; l != &r->presence;
             l = l->next) {
            const struct proto_presence *p =
                CONTAINER(l, struct proto_presence, link);
            if (p->node != self_of(s) && to_tell(p, op, mark))
                tell_node(s, op, p->node, r, type, flags, mark);
        }
    }
}

/* Does the list of a region of @op's subtree name all who know it? */
static bool others_known(struct proto_op *op)
{
    struct proto_region *top = op->target;
    for (struct proto_region *r = top; r; r = next_locked(op, r))
        for (struct proto_link *l = r->presence.next; l != &r->presence;
             l = l->next)
            if (CONTAINER(l, struct proto_presence, link)->more)
                return false;
    return true;
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
        pins_end(s, &r->previous);
        set_lost(r, false);
    }
    for (struct proto_region *r = top; r; r = next_locked(op, r))
        region_end_waiting(s, r);
}

/* Is @node the home of @r and of all that it has? */
static bool all_from(struct step *s, const struct proto_region *r,
                     uint32_t node)
{
    uint64_t address = r->address, pages;
    for (uint32_t i = 0; home_of(s, address) == node; i++)
        if (!s->env->extent(s->env->ctx, r, i, &address, &pages))
            return true;
    return FAULT(s, FAULT_FREE_EXTENTS) && home_of(s, r->address) == node;
}

/*
 * What is left to be said of @op's regions, which are dead, where at most one
 * node knows them besides this one, and nothing is on its way here.  Data on its
 * way out of that node can only come here, for which BURY waits.  And if that
 * node is the home of all that they have, FREED alone says it all: the home
 * forgets them as it would by BURY, and what this node sent it before, an answer
 * to RECALL or SETTLED, comes before.  What has another home would be used again,
 * and come to that node in another region, while FREED is on its way.
 */
static enum delete_stage shortest(struct step *s, struct proto_op *op)
{
    /* What arrives in this step must not be gone at its end. */
    bool arrives = s->out->kinds & UINT32_C(1) << PROTO_ARRIVING;
    enum delete_stage stage = arrives ? DELETE_BURY : DELETE_FREE;
    struct proto_region *top = op->target;
    int64_t knower = -1;
    if (!list_empty(&top->root->requests) || !list_empty(&top->root->arrivals))
        return DELETE_DEAD;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        if (r->sends)
            return DELETE_DEAD;
        for (struct proto_link *l = r->presence.next; l != &r->presence;
             l = l->next) {
            const struct proto_presence *p =
                CONTAINER(l, struct proto_presence, link);
            if (p->node == self_of(s) || FAULT(s, FAULT_FREE_KNOWN))
                continue;
            if (p->more || (knower >= 0 && knower != p->node))
                return DELETE_DEAD;
            knower = p->node;
            if (!all_from(s, r, p->node))
                stage = DELETE_BURY;
        }
    }
    return stage;
}

/* Nothing is deleted. */
static void give_up(struct step *s, struct proto_op *op, int error)
{
    op->stage = DELETE_GATHER;
    op_fail(s, op, error);
}

/*
 * Until no data is on its way from anywhere, and nobody knows of nodes that this
 * delete does not: what a node tells of those whom it served is all only when
 * those who served it have nothing on its way.
 */
static bool all_known(struct step *s, struct proto_op *op)
{
    while (!op->error) {
        if (op->stage == DELETE_SENDS) {
            if (sends_left(op))
                return false;
            op->stage = DELETE_KNOWERS;
            op->found = false;
            tell_presence(s, op, PROTO_RECALL, PROTO_MORE);
        } else if (op->found) {
            op->stage = DELETE_SENDS;
            tell_presence(s, op, PROTO_RECALL, 0);
        } else {
            return true;
        }
        if (op->awaiting)
            return false;
    }
    return true;
}

/* Do the nodes that may READ? */
static void ask_holds(struct step *s, struct proto_op *op)
{
    op->stage = DELETE_HOLDS;
    tell_presence(s, op, PROTO_RECALL, PROTO_HELD);
    unread_asked(s, op);
}

/* A stage is over: nothing is awaited, go on to the next. */
void delete_next(struct step *s, struct proto_op *op)
{
    if (op->awaiting || op->where != AT_NOTHING)
        return;
    if (op->stage == DELETE_GATHER)
        return;
    if (op->stage < DELETE_HOLDS) {
        if (!all_known(s, op))
            return;
        if (op->error) {
            give_up(s, op, op->error);
            return;
        }
        ask_holds(s, op);
        if (op->awaiting)
            return;
    }
    if (op->stage == DELETE_HOLDS) {
        if ((op->busy || read_by_others(s, op)) &&
            !FAULT(s, FAULT_BLIND_DELETE)) {
            give_up(s, op, DRASYNC_EBUSY);
            return;
        }
        /* First: what waits for a part of it may end with this step too. */
        granted(s, op, NULL, false);
        op->stage = DELETE_DEAD; /* before another delete ends with this one */
        kill_subtree(s, op);
        op->stage = (uint8_t)shortest(s, op);
        if (op->stage == DELETE_DEAD)
            tell_presence(s, op, PROTO_RECALL, PROTO_DELETION);
        else if (op->stage == DELETE_BURY)
            tell_presence(s, op, PROTO_BURY, 0);
        if (op->awaiting)
            return;
    }
    if (op->stage == DELETE_DEAD) {
        if (sends_left(op))
            return;
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
    op->ticket = s->env->ticket(s->env->ctx);
    if (others_known(op)) {
        ask_holds(s, op);
    } else {
        op->stage = DELETE_SENDS;
        tell_presence(s, op, PROTO_RECALL, 0);
    }
    delete_next(s, op);
}
