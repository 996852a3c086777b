/*
 * op.c - operations: an acquire (or the WRITE of a delete) locks the regions of
 * its subtree one after the other, parents before children, children in order
 * of creation, each where its token is, and is granted when it has them all.
 */
#include "protocol/arrival.h"

struct proto_op *op_new(struct step *s, enum op_kind kind, int32_t rank,
                        struct proto_region *target, enum drasync_mode mode,
                        void *waiter)
{
    struct proto_op *op = take(s, PROTO_OP);
    if (!op)
        return NULL;
    memset(op, 0, sizeof(*op));
    op->kind = (uint8_t)kind;
    op->mode = (uint8_t)mode;
    op->rank = rank;
    op->node = self_of(s);
    op->waiter = waiter;
    list_init(&op->link);
    list_init(&op->parts);
    list_init(&op->pins);
    list_init(&op->followers);
    list_init(&op->below);
    list_init(&op->arrivals);
    if (kind == OP_ACQUIRE && mode == DRASYNC_READ) {
        op->hold = take(s, PROTO_HOLD);
        if (!op->hold) {
            give(s, PROTO_OP, op);
            return NULL;
        }
        memset(op->hold, 0, sizeof(*op->hold));
        op->hold->rank = rank;
        list_init(&op->hold->link);
        list_init(&op->hold->pins);
    }
    op->target = target;
    list_init(&op->by_target);
    if (target)
        target->keeps++;
    if (is_local(op))
        op->born = s->env->ticket(s->env->ctx);
    if (kind == OP_ACQUIRE) {
        list_insert(&target->asking, &op->by_target);
        count(target, COUNT_ASKING, 1);
    }
    return op;
}

void op_free(struct step *s, struct proto_op *op)
{
    if (s->requester == op)
        s->requester = NULL;
    list_remove(&op->by_target);
    if (op->kind == OP_ACQUIRE)
        count(op->target, COUNT_ASKING, -1);
    if (op->target) {
        op->target->keeps--;
        mark_gc(s, op->target);
    }
    if (op->hold)
        give(s, PROTO_HOLD, op->hold);
    if (op->kind == OP_AHEAD) {
        op->target->ahead = NULL;
        if (!list_empty(&op->target->pending))
            mark_serve(s, op->target);
        if (op->learned)
            subscription_over(op);
    }
    base_end(s, op, op->base_of);
    give(s, PROTO_OP, op);
}

bool part_push(struct step *s, struct proto_op *op, struct proto_link *before,
               struct proto_region *r)
{
    struct proto_part *part = take(s, PROTO_PART);
    (void)op;
    if (!part)
        return false;
    part->region = r;
    list_insert(before, &part->link);
    list_insert(&r->parts, &part->by_region);
    return true;
}

void part_end(struct step *s, struct proto_part *part)
{
    if (part->region) {
        list_remove(&part->by_region);
        mark_gc(s, part->region);
    }
    list_remove(&part->link);
    give(s, PROTO_PART, part);
}

void op_unlist(struct proto_op *op)
{
    list_remove(&op->link);
    switch (op->where) {
    case AT_QUEUE:
    case AT_PENDING:
        count(op->at, COUNT_WAITING, -1);
        break;
    case AT_OWNER:
        op->at->sent--;
        break;
    case AT_NEWER:
        op->at->awaited--;
        break;
    case AT_SUBSCRIBED:
        count(op->at, COUNT_SUBSCRIBED, -1);
        break;
    default:
        break;
    }
    op->where = AT_NOTHING;
}

/* Lock @r for @op, and note its children; false: no memory. */
static bool lock_part(struct step *s, struct proto_op *op,
                      struct proto_region *r)
{
    struct proto_link *before = op->parts.next;
    for (struct proto_link *l = r->children.next; l != &r->children;
         l = l->next) {
        struct proto_region *child = CONTAINER(l, struct proto_region, sibling);
        if (!child->dead && !child->gone && !part_push(s, op, before, child))
            return false;
    }
    if (op->mode == DRASYNC_WRITE) {
        r->lock = op;
        count(r, COUNT_BUSY, 1);
        return true;
    }
    struct proto_pin *pin = pin_new(s, &op->pins, r, copy_current(r));
    if (!pin)
        return false;
    if (!FAULT(s, FAULT_NO_SHARED)) {
        pin->shared = true;
        r->shared++;
        count(r, COUNT_BUSY, 1);
    }
    return true;
}

/* Take back what @op has locked. */
void op_unlock(struct step *s, struct proto_op *op)
{
    if (op->mode == DRASYNC_READ) {
        pins_end(s, &op->pins);
        return;
    }
    for (struct proto_region *r = op->target; r;
         r = proto_next(op->target, r)) {
        if (r->lock != op)
            continue;
        r->lock = NULL;
        count(r, COUNT_BUSY, -1);
        mark_gc(s, r);
    }
    mark_serve_below(s, op->target);
}

/* Tell the senders that keep writers out for @op that they need not. */
void op_settle(struct step *s, struct proto_op *op)
{
    while (!list_empty(&op->arrivals)) {
        struct proto_arrival *a =
            CONTAINER(op->arrivals.next, struct proto_arrival, by_op);
        assert(arrival_here(a));
        arrival_end(s, a, a->error);
    }
}

static void end_parts(struct step *s, struct proto_op *op)
{
    while (!list_empty(&op->parts))
        part_end(s, CONTAINER(op->parts.next, struct proto_part, link));
}

/* @op is over, with @error: tell, now; give back, when nothing comes any more. */
void op_fail(struct step *s, struct proto_op *op, int error)
{
    assert(op->where == AT_NOTHING);
    if (!op->error)
        op->error = error;
    if (op->kind == OP_DELETE && error == DRASYNC_EAGAIN)
        error = DRASYNC_EBUSY;
    failed(s, op, error);
    part_relayed(s, op);
    while (!list_empty(&op->followers)) {
        struct proto_op *follower =
            CONTAINER(op->followers.next, struct proto_op, link);
        op_unlist(follower);
        follower->waited = op->waited;
        op_fail(s, follower, error);
    }
    end_parts(s, op);
    if (op->awaiting)
        return;
    op_unlock(s, op);
    op_settle(s, op);
    op_free(s, op);
}

void become_hold(struct step *s, struct proto_op *op)
{
    enum drasync_mode mode;
    struct proto_region *r = op->target;
    struct proto_hold *hold = hold_of(r, op->rank);
    if (newer_nested(op)) {
        pins_end(s, &op->pins);
        failed(s, op, DRASYNC_ENESTED);
        return;
    }
    if (hold || own_cover(r, op->rank, &mode))
        pins_end(s, &op->pins);
    if (hold) {
        hold->count++;
        granted(s, op, hold, false);
        return;
    }
    hold = op->hold;
    op->hold = NULL;
    hold->covered = own_cover(r, op->rank, &mode);
    pins_move(&hold->pins, &op->pins);
    hold_link(hold, r);
    granted(s, op, hold, false);
    if (!hold->covered)
        end_above(s, r, op->rank);
}

/* Serve those who waited for @op; one of another node needs no hold. */
static void serve_followers(struct step *s, struct proto_op *op)
{
    bool hot = is_hot(s, op->target) || !op->detached ||
               op->followers.next->next != &op->followers;
    while (!list_empty(&op->followers)) {
        struct proto_op *follower =
            CONTAINER(op->followers.next, struct proto_op, link);
        op_unlist(follower);
        if (follower->kind == OP_FOREIGN) {
            if (pass_copies(s, op, follower, hot))
                op_free(s, follower);
            else
                part_company(s, follower, op->target);
            continue;
        }
        if (follower->detached || !clone_pins(s, &op->pins, &follower->pins)) {
            op_fail(s, follower, DRASYNC_ENOMEM);
            continue;
        }
        become_hold(s, follower);
        op_free(s, follower);
    }
    op->relays = false;
}

static void complete_read(struct step *s, struct proto_op *op)
{
    struct proto_link *l;
    for (l = op->pins.next; l != &op->pins; l = l->next)
        unshare(s, CONTAINER(l, struct proto_pin, link));
    if (!op->relays)
        op_settle(s, op);
    serve_followers(s, op);
    if (!op->detached)
        subscribe_read(s, op->target, &op->pins);
    if (op->detached)
        pins_end(s, &op->pins);
    else
        become_hold(s, op);
    if (op->awaiting)
        return; /* until those whom it served have settled */
    op_settle(s, op);
    op_free(s, op);
}

void complete(struct step *s, struct proto_op *op)
{
    struct proto_region *r = op->target;
    enum drasync_mode have;
    base_end(s, op, op->base_of);
    if (op->kind == OP_DELETE) {
        delete_locked(s, op);
        return;
    }
    if (op->mode == DRASYNC_READ && op->kind == OP_AHEAD) {
        ahead_complete(s, op);
        return;
    }
    if (op->mode == DRASYNC_READ) {
        complete_read(s, op);
        return;
    }
    if (newer_nested(op)) {
        op_fail(s, op, DRASYNC_ENESTED);
        return;
    }
    /* Its READ came first. */
    if (!op->detached && own_cover(r, op->rank, &have) &&
        have == DRASYNC_READ) {
        op_fail(s, op, DRASYNC_EUPGRADE);
        return;
    }
    if (!op->detached && !previous_keep(s, r)) {
        op_fail(s, op, DRASYNC_ENOMEM);
        return;
    }
    op_settle(s, op);
    if (!op->detached) {
        grant_write(r, op->rank);
        if (!FAULT(s, FAULT_SAME_VERSION))
            r->written = ++r->root->clock;
        end_above(s, r, op->rank);
        ahead_token_used(s, r, true);
    }
    r->came_ahead |= op->kind == OP_AHEAD;
    op_unlock(s, op);
    granted(s, op, NULL, r->pinned > 0 && !FAULT(s, FAULT_NO_SPLIT));
    op_free(s, op);
}

bool op_begin(struct step *s, struct proto_op *op)
{
    if (!part_push(s, op, &op->parts, op->target)) {
        op_fail(s, op, DRASYNC_ENOMEM);
        return false;
    }
    advance(s, op);
    return true;
}

/* Let everything go and begin again: something of an answer is not here. */
static void restart(struct step *s, struct proto_op *op)
{
    op->restart = false;
    op->flags |= PROTO_FRESH;
    base_end(s, op, op->base_of);
    op_unlock(s, op);
    op_settle(s, op);
    end_parts(s, op);
    op_begin(s, op);
}

/* Is @op to be given up before it asks for @r?  So it is if it is detached, and
 * nobody follows it.  What asks ahead asks for its target alone, and only while
 * the token is elsewhere. */
static bool abandoned(const struct proto_op *op, const struct proto_region *r)
{
    if (op->kind == OP_AHEAD)
        return r != op->target || r->owned;
    return op->detached && list_empty(&op->followers);
}

void advance(struct step *s, struct proto_op *op)
{
    while (!op->error && !op->restart && !list_empty(&op->parts)) {
        struct proto_part *part =
            CONTAINER(op->parts.next, struct proto_part, link);
        struct proto_region *r = part->region;
        if (abandoned(op, r)) {
            op_fail(s, op, DRASYNC_EAGAIN);
            return;
        }
        part_end(s, part);
        if (!r || r->dead || r->gone) {
            if (r != op->target)
                continue;
            op_fail(s, op, DRASYNC_EDELETED);
            return;
        }
        if (!r->owned) {
            request(s, op, r);
            return;
        }
        if (lost_for(op, r)) {
            op_fail(s, op, DRASYNC_ELOST);
            return;
        }
        if (r == op->target && newer_waits(s, r, op))
            return;
        if (!grantable(s, r, op) || (queued(r) && !own_write(r, op))) {
            if (!(op->flags & PROTO_NOWAIT) || !waits_for_ranks(s, r, op)) {
                enqueue(s, op, r);
                return;
            }
            op->unsettled = op->kind == OP_DELETE && only_unsettled(r, op);
            op_fail(s, op, DRASYNC_EAGAIN);
            return;
        }
        if (!lock_part(s, op, r)) {
            op_fail(s, op, DRASYNC_ENOMEM);
            return;
        }
    }
    if (op->awaiting)
        return;
    if (op->error)
        op_fail(s, op, op->error);
    else if (op->restart && op->kind == OP_AHEAD)
        op_fail(s, op, DRASYNC_EAGAIN);
    else if (op->restart)
        restart(s, op);
    else
        complete(s, op);
}

/*
 * @op has to wait at its next part.  Its followers ask for themselves, for what
 * it waits for may be one of theirs to let go; and if nobody waits for it any
 * more, it is over.  True if something changed.
 */
static bool thin_out(struct step *s, struct proto_op *op)
{
    bool changed = !list_empty(&op->followers);
    part_relayed(s, op);
    while (!list_empty(&op->followers)) {
        struct proto_op *follower =
            CONTAINER(op->followers.next, struct proto_op, link);
        op_unlist(follower);
        make_pending(follower, op->target);
        mark_serve(s, op->target);
    }
    if (op->kind == OP_FOREIGN || !op->detached)
        return changed;
    op_unlist(op);
    op_fail(s, op, DRASYNC_EAGAIN);
    return true;
}

void serve(struct step *s, struct proto_region *r)
{
    while (r->owned && !list_empty(&r->queue)) {
        struct proto_op *op = next_in_queue(s, r);
        if (!grantable(s, r, op)) {
            ahead_revoke(s, r);
            if (!thin_out(s, op))
                return;
            continue;
        }
        op_unlist(op);
        if (op->kind == OP_FOREIGN) {
            grant_foreign(s, r, op);
            continue;
        }
        if (lost_for(op, r))
            op_fail(s, op, DRASYNC_ELOST);
        else if (lock_part(s, op, r))
            advance(s, op);
        else
            op_fail(s, op, DRASYNC_ENOMEM);
    }
}

void op_give_up(struct step *s, struct proto_op *op, int error)
{
    failed(s, op, error);
    op_let_go(s, op);
    if (op->where == AT_LEADER ||
        (op->where != AT_OWNER && op->where != AT_NEWER &&
         op->where != AT_NOTHING && list_empty(&op->followers))) {
        struct proto_region *r = op->at;
        bool queued = op->where == AT_QUEUE;
        op_unlist(op);
        op_fail(s, op, error);
        if (queued)
            mark_serve(s, r);
    }
}

const struct proto_region *proto_target(const struct proto_op *op)
{
    return op ? op->target : NULL;
}

void proto_detach(struct proto_node *node, struct proto_op *op,
                  struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    op->detached = true;
    op_give_up(&s, op, DRASYNC_EAGAIN);
    step_end(&s);
}
