/*
 * ahead.c - asking ahead: a node asks for a region that one of its ranks is
 * going to acquire, before that waits for it.
 *
 * WRITE: the token comes, if its owner has no use for it.  READ: the data comes
 * with a promise.  The owner keeps writers out, as for a READ that is not
 * settled, so what came is current, and an acquire here needs no message.  When
 * a writer waits the owner revokes the promise; this node says REVOKED at once,
 * whatever its ranks do, since READ holds keep no writer out.
 */
#include "protocol/internal.h"

bool asks_ahead(const struct proto_op *op)
{
    return op->kind == OP_FOREIGN && op->flags & PROTO_AHEAD;
}

bool queued(const struct proto_region *r)
{
    return !list_empty(&r->queue) &&
           !asks_ahead(CONTAINER(r->queue.next, struct proto_op, link));
}

/* --- At the owner --------------------------------------------------------- */

/* Has a rank here, or where it was made, written it since its token came? */
static bool token_used(const struct proto_region *r)
{
    if (!r->came)
        return true;
    for (const struct proto_region *x = r; x; x = x->parent)
        if (x->written > r->came)
            return true;
    return false;
}

bool ahead_may_go(struct step *s, const struct proto_region *r)
{
    if (FAULT(s, FAULT_AHEAD_WRITES))
        return true;
    if (r->waiting || r->busy || r->reads)
        return false;
    for (const struct proto_region *x = r->parent; x; x = x->parent)
        if (x->write_rank >= 0 || x->lock)
            return false;
    return token_used(r) || FAULT(s, FAULT_AHEAD_STEALS);
}

void ahead_revoke(struct step *s, struct proto_region *r)
{
    const struct proto_op *first =
        CONTAINER(r->queue.next, const struct proto_op, link);
    struct proto_link *head = &r->root->sendings, *p;
    if (!r->promised || first->mode != DRASYNC_WRITE ||
        FAULT(s, FAULT_AHEAD_UNTOLD))
        return;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_sending *sending =
            CONTAINER(l, struct proto_sending, link);
        if (!sending->promise || sending->revoking)
            continue;
        for (p = sending->pins.next; p != &sending->pins; p = p->next)
            if (CONTAINER(p, struct proto_pin, link)->region == r)
                break;
        if (p == &sending->pins)
            continue;
        sending->revoking = true;
        send_about(
            s, sending->node, PROTO_REVOKE,
            CONTAINER(sending->pins.next, struct proto_pin, link)->region,
            sending->ticket);
    }
}

void on_REVOKED(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (!r || r->incarnation != m->incarnation)
        return;
    struct proto_link *head = &r->root->sendings;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_sending *sending =
            CONTAINER(l, struct proto_sending, link);
        if (sending->node != from || sending->ticket != m->ticket ||
            !sending->revoking)
            continue;
        for (l = sending->pins.next; l != &sending->pins; l = l->next)
            unshare(s, CONTAINER(l, struct proto_pin, link));
        return;
    }
}

/* --- At the node that asks ------------------------------------------------ */

void pin_ahead(struct proto_pin *pin)
{
    pin->ahead = true;
    pin->copy->ahead++;
}

static struct proto_effect *told(struct step *s, const struct proto_region *r)
{
    struct proto_effect *e = effect(s, PROTO_ASKED_AHEAD);
    e->address = r->address;
    e->memory = r->memory;
    return e;
}

static void told_used(struct step *s, const struct proto_region *r)
{
    told(s, r)->used = true;
}

static void told_in_vain(struct step *s, const struct proto_region *r)
{
    told(s, r)->data = true;
}

void ahead_token_used(struct step *s, struct proto_region *r, bool used)
{
    if (!r->came_ahead)
        return;
    r->came_ahead = false;
    if (used)
        told_used(s, r);
    else
        told_in_vain(s, r);
}

static struct proto_op *op_ahead(struct step *s, struct proto_region *r,
                                 enum drasync_mode mode, uint32_t hints)
{
    struct proto_op *op = op_new(s, OP_AHEAD, -1, r, mode, NULL);
    if (!op)
        return NULL;
    r->ahead = op;
    op->detached = true;
    op->flags = PROTO_NOWAIT | PROTO_AHEAD;
    op->hints = hints;
    return op;
}

void ahead_start(struct step *s, struct proto_region *r, enum drasync_mode mode,
                 uint32_t hints)
{
    struct proto_op *op = op_ahead(s, r, mode, hints);
    if (op)
        op_begin(s, op);
}

void ahead_start_learned(struct step *s, struct proto_region *r, uint16_t flags,
                         uint32_t hints)
{
    struct proto_op *op = op_ahead(s, r, DRASYNC_READ, hints);
    if (!op)
        return;
    op->flags |= flags;
    op->learned = true;
    op->again = true; /* it is not asked for once more */
    r->root->news.open++;
    told(s, r)->begun = true;
    op_begin(s, op);
}

/* @op is over; what was revoked before it was of use is asked for once more. */
static void end(struct step *s, struct proto_op *op, bool revoked)
{
    struct proto_region *r = op->target;
    uint32_t left = op->hints > op->uses ? op->hints - op->uses : 0;
    bool again = revoked && left && !op->again && !r->dead && !r->gone;
    if (!op->uses && op->came)
        told_in_vain(s, r);
    pins_end(s, &op->pins);
    op_settle(s, op);
    op_free(s, op);
    unread(s, r);
    op = again && !r->owned ? op_ahead(s, r, DRASYNC_READ, left) : NULL;
    if (!op)
        return;
    op->again = true;
    op_begin(s, op);
}

/* Nobody waits for the owner to hear of it. */
static void end_promise(struct step *s, struct proto_op *op)
{
    struct proto_link *l = &op->arrivals;
    while ((l = l->next) != &op->arrivals)
        CONTAINER(l, struct proto_arrival, by_op)->shared = false;
    end(s, op, false);
}

struct proto_op *ahead_ready(const struct proto_region *r)
{
    return r->ahead && r->ahead->parked && !r->owned ? r->ahead : NULL;
}

void ahead_give_back(struct step *s, struct proto_region *r)
{
    if (r->ahead && r->ahead->parked)
        end_promise(s, r->ahead);
}

void ahead_released(struct step *s, struct proto_region *r)
{
    struct proto_op *op = r->ahead;
    if (op && op->parked && op->uses >= op->hints && list_empty(&r->holds))
        end_promise(s, op);
}

static void use(struct step *s, struct proto_op *op)
{
    if (!op->uses++)
        told_used(s, op->target);
}

void ahead_give_up(struct step *s, struct proto_region *r)
{
    if (!r->ahead || !r->ahead->parked)
        return;
    use(s, r->ahead);
    end_promise(s, r->ahead);
}

bool ahead_take(struct step *s, struct proto_op *op, struct proto_hold *hold)
{
    if (!clone_pins(s, &op->pins, &hold->pins))
        return false;
    use(s, op);
    subscribe_read(s, op->target, &hold->pins);
    return true;
}

uint64_t ahead_version(const struct proto_op *op)
{
    return CONTAINER(op->pins.next, const struct proto_pin, link)->version;
}

/* Is what @op was promised all that @waits wants? */
static bool serves(const struct proto_op *op, const struct proto_op *waits)
{
    return waits->mode == DRASYNC_READ && waits->target == op->target &&
           list_empty(&waits->pins) && !list_empty(&op->pins) &&
           ahead_version(op) > waits->newer;
}

/* @waits, a READ of the same region, has what @op was promised. */
static bool serve_read(struct step *s, struct proto_op *op,
                       struct proto_op *waits)
{
    if (waits->kind != OP_ACQUIRE || waits->detached || !serves(op, waits) ||
        !clone_pins(s, &op->pins, &waits->pins))
        return false;
    waits->newer = 0;
    use(s, op);
    subscribe_read(s, op->target, &waits->pins);
    become_hold(s, waits);
    return true;
}

/* Those who came while its data was on its way.  A hold of a part ends what its
 * rank asked for above (end_above()), which may be any of the list: so the list
 * is looked at from its head after each. */
static void serve_reads(struct step *s, struct proto_op *op)
{
    struct proto_region *r = op->target;
    struct proto_link *head = &r->pending, *next;
    for (struct proto_link *l = head->next; l != head; l = next) {
        struct proto_op *waits = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (!serve_read(s, op, waits))
            continue;
        op_unlist(waits);
        if (list_empty(&waits->followers))
            op_free(s, waits);
        else
            make_pending(waits, r);
        next = head->next;
    }
    /* Their own requests are under way, and end without them. */
    head = &r->root->requests;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *waits = CONTAINER(l, struct proto_op, link);
        if (waits->at == r)
            serve_read(s, op, waits);
    }
}

void ahead_complete(struct step *s, struct proto_op *op)
{
    if (op->revoked || list_empty(&op->arrivals)) {
        end(s, op, op->revoked);
        return;
    }
    op->parked = true;
    subscribe_promised(op);
    serve_reads(s, op);
    ahead_released(s, op->target);
}

void on_REVOKE(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    struct proto_op *op =
        r && r->incarnation == m->incarnation ? r->ahead : NULL;
    struct proto_link *l = op ? op->arrivals.next : NULL;
    /* It was given back before, and SETTLED says so, which had time and goes
     * before the answer. */
    if (!op || l == &op->arrivals ||
        CONTAINER(l, struct proto_arrival, by_op)->node != from ||
        CONTAINER(l, struct proto_arrival, by_op)->ticket != m->ticket) {
        struct proto_message *answer = send_message(s, from, PROTO_REVOKED);
        answer->root = m->root;
        answer->region = m->region;
        answer->incarnation = m->incarnation;
        answer->ticket = m->ticket;
        return;
    }
    if (op->parked && !FAULT(s, FAULT_AHEAD_KEPT)) {
        end(s, op, true);
        return;
    }
    op->revoked = !FAULT(s, FAULT_AHEAD_LATE);
    send_about(s, from, PROTO_REVOKED, r, m->ticket);
}

static int ask_ahead(struct step *s, struct proto_region *r, uint64_t address,
                     enum drasync_mode mode)
{
    size_t send;
    if (mode != DRASYNC_READ && mode != DRASYNC_WRITE)
        return DRASYNC_EINVAL;
    if (!r)
        r = find(s, address);
    if (!r) {
        int err = locate_begin(s, address, false, &r, &send);
        if (err)
            return err == DRASYNC_ENOMEM ? 0 : err;
    }
    if (r->dead || r->gone)
        return DRASYNC_EDELETED;
    r->news.hinted = true;
    /* UINT32_MAX stands for any number. */
    if (r->ahead && mode == DRASYNC_READ && r->ahead->hints < UINT32_MAX)
        r->ahead->hints++;
    if (r->owned || r->ahead)
        return 0;
    ahead_start(s, r, mode, 1);
    mark_gc(s, r);
    return 0;
}

int proto_ahead(struct proto_node *node, struct proto_region *region,
                uint64_t address, enum drasync_mode mode,
                struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    int err = ask_ahead(&s, region, address, mode);
    step_end(&s);
    return err;
}

__attribute__((no_sanitize("thread"))) bool
proto_ahead_comes(const struct proto_region *region)
{
    const struct proto_op *op =
        *(struct proto_op *const volatile *)&region->ahead;

    return op && !*(const volatile bool *)&op->parked;
}

void proto_ahead_end(struct proto_node *node, struct proto_region *root,
                     struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        ahead_give_back(&s, r);
        if (r->ahead)
            r->ahead->revoked = r->ahead->again = true;
        r->news.hinted = true; /* it is subscribed to no more */
        subscriptions_end(&s, r, DRASYNC_EAGAIN);
    }
    step_end(&s);
}
