/*
 * transfer.c - TRANSFER, the receiving side: tokens or copies of part of the
 * subtree that an operation here is locking.
 */
#include "protocol/arrival.h"

struct receipt {
    const struct proto_message *m;
    uint32_t from;
    struct proto_op *op;           /* NULL: tokens that bounced */
    struct proto_arrival *arrival; /* of TRANSFERs that came before, or NULL */
    struct proto_link *before; /* where UNSENT parts go; NULL: not known yet */
    struct proto_region *region; /* of the last REGION item */
    struct proto_region *parent; /* that one's; or NULL */
    bool token, data;
    bool missing;    /* a copy that the sender counts on */
    bool pump;       /* something may wait at what came */
    uint32_t copies; /* whose data is to come */
    bool wide;       /* there are parts that are not below the first */
};

static bool known(struct step *s, const struct proto_item *item)
{
    const struct proto_region *r = find(s, item->address);
    return r && r->incarnation == item->incarnation;
}

/* What the handler may take, at most; 0 or DRASYNC_ENOMEM. */
static int reserve(struct step *s, const struct proto_message *m)
{
    uint32_t counts[PROTO_TYPES] = {0};
    counts[PROTO_ARRIVAL] = 1;
    counts[PROTO_OP] = (m->flags & PROTO_GIVEN) != 0;
    for (uint32_t i = 0; i < m->items_count; i++) {
        switch (m->items[i].kind) {
        case PROTO_ITEM_REGION:
            counts[PROTO_REGION] += !known(s, &m->items[i]);
            counts[PROTO_COPY]++;
            counts[PROTO_PIN]++;
            break;
        case PROTO_ITEM_ANCESTOR:
        case PROTO_ITEM_CHILD:
            counts[PROTO_REGION] += !known(s, &m->items[i]);
            break;
        case PROTO_ITEM_WAITER:
            counts[PROTO_OP]++;
            break;
        case PROTO_ITEM_PRESENCE:
            counts[PROTO_PRESENCE]++;
            break;
        case PROTO_ITEM_UNSENT:
            counts[PROTO_REGION]++;
            counts[PROTO_PART]++;
            break;
        default:
            break;
        }
    }
    return s->env->reserve(s->env->ctx, counts);
}

static struct proto_copy *take_copy(struct step *s, struct receipt *x,
                                    struct proto_region *r,
                                    const struct proto_item *item)
{
    if (item->flags & PROTO_DATA) {
        x->data = true;
        x->copies++;
        return copy_new(s, r, item->version, x->m->ticket);
    }
    struct proto_copy *copy = copy_find(r, item->version);
    if (copy && !x->token && r->owned && copy == proto_newest(r)) {
        /* The token has come meanwhile: it may be written. */
        x->op->restart = true;
        return NULL;
    }
    if (copy && x->token) {
        /* It will be written. */
        bases_end(s, r, copy);
        /* Current means first. */
        list_remove(&copy->link);
        list_insert(r->copies.next, &copy->link);
        r->root->layout++;
    } else if (!copy && !x->token) {
        /* A newer one has come, from elsewhere; or this one could not. */
        x->op->restart = x->missing = true;
    } else if (!copy) {
        poison(s, "a copy that another node counts on is not here");
    }
    return copy;
}

static void take_token(struct receipt *x, struct proto_region *r,
                       const struct proto_item *item)
{
    set_owned(r, true);
    r->epoch = item->epoch;
    r->version = item->version;
    if (r->root->clock < item->version)
        r->root->clock = item->version;
    r->arrived = r->root->clock;
    r->came = x->op ? r->arrived : 0;
    if (!x->op)
        return;
    r->lock = x->op;
    count(r, COUNT_BUSY, 1);
}

/* If @r is the part that the operation needs next, it has it now. */
static void wanted_came(struct step *s, struct receipt *x,
                        const struct proto_region *r)
{
    struct proto_op *op = x->op;
    while (op && !list_empty(&op->parts)) {
        struct proto_part *part =
            CONTAINER(op->parts.next, struct proto_part, link);
        const struct proto_region *next = part->region;
        if (next && next != r && !next->dead && !next->gone)
            return;
        part_end(s, part);
        if (next != r)
            continue; /* deleted: nobody needs it */
        x->wide = true;
        return;
    }
}

/* The parent that @item names: often that of the item before, or its region. */
static struct proto_region *parent_of(struct step *s, struct receipt *x,
                                      const struct proto_item *item)
{
    if (!x->parent || x->parent->address != item->parent)
        x->parent = x->region && x->region->address == item->parent
                        ? x->region
                        : find(s, item->parent);
    return x->parent;
}

static void on_region(struct step *s, struct receipt *x, uint32_t i)
{
    const struct proto_item *item = &x->m->items[i];
    struct proto_region *parent = NULL;
    if (item->parent) {
        parent = parent_of(s, x, item);
        if (!parent) {
            poison(s, "TRANSFER of a region with an unknown parent");
            return;
        }
    }
    struct proto_region *r =
        region_learn(s, item->address, item->incarnation, parent);
    if (x->parent && x->parent->address == item->address)
        x->parent = NULL; /* a new record has that address */
    x->region = r;
    /* A copy may come after the token: what was current when it was given. */
    if (!r || (r->owned && x->token)) {
        poison(s, "TRANSFER of a region whose token is here");
        x->region = NULL;
        return;
    }
    x->pump |= x->token || !list_empty(&r->pending);
    wanted_came(s, x, r);
    struct proto_copy *copy = take_copy(s, x, r, item);
    if (!copy) {
        mark_gc(s, r);
        return;
    }
    if (x->token) {
        take_token(x, r, item);
        pinned_update(r);
    } else {
        learn_hint(s, r, item->node, item->epoch);
        struct proto_pin *pin = pin_new(s, &x->op->pins, r, copy);
        if (pin && x->op->kind == OP_AHEAD)
            pin_ahead(pin);
    }
    struct proto_effect *e = effect(s, PROTO_ARRIVING);
    e->region = r;
    e->copy = copy;
    e->item = i;
    e->node = x->from;
    e->ticket = x->m->ticket;
    e->data = (item->flags & PROTO_DATA) != 0;
    e->hint = !x->token && x->op && x->op->kind == OP_AHEAD;
    if (e->data && x->op && x->op->base_of == r)
        e->base = x->op->base;
}

static bool on_child(struct step *s, struct receipt *x,
                     const struct proto_item *item)
{
    struct proto_region *parent = x->region;
    struct proto_region *r =
        region_learn(s, item->address, item->incarnation, parent);
    if (!r || r->parent != parent)
        return false;
    learn_hint(s, r, item->node, item->epoch);
    /* The order of creation is that of the items. */
    list_remove(&r->sibling);
    list_insert(&parent->children, &r->sibling);
    return true;
}

static void on_waiter(struct step *s, struct receipt *x,
                      const struct proto_item *item)
{
    struct proto_region *r = x->region;
    struct proto_op *op;
    if (item->node == self_of(s)) {
        op = request_ended(s, r, item->version);
        if (!op)
            return;
        op_unlist(op);
        if (op->kind == OP_AHEAD)
            op_fail(s, op, DRASYNC_EAGAIN); /* the token is here */
        else
            enqueue(s, op, r);
        return;
    }
    op = op_new(s, OP_FOREIGN, -1, NULL, (enum drasync_mode)item->mode, NULL);
    if (!op)
        return;
    op->node = item->node;
    op->ticket = item->version;
    op->flags = item->flags;
    enqueue(s, op, r);
}

static void on_presence(struct step *s, struct receipt *x,
                        const struct proto_item *item)
{
    if (item->node != self_of(s))
        presence_add(s, x->region, item->node, item->version, item->flags);
}

static void on_todo(struct step *s, struct receipt *x,
                    const struct proto_item *item)
{
    struct proto_region *parent = find(s, item->parent);
    if (!parent) {
        poison(s, "TRANSFER names a part with an unknown parent");
        return;
    }
    struct proto_region *r =
        region_learn(s, item->address, item->incarnation, parent);
    if (!r)
        return; /* it is deleted */
    learn_hint(s, r, item->node, item->epoch);
    if (!x->before)
        x->before = x->op->parts.next;
    part_push(s, x->op, x->before, r);
}

/* Children that the token's list does not name are deleted. */
static void drop_unlisted(struct step *s, struct proto_region *r,
                          uint32_t listed)
{
    uint32_t extra = 0;
    struct proto_link *l;
    for (l = r->children.next; l != &r->children; l = l->next)
        extra++;
    for (l = r->children.next; extra > listed; extra--) {
        struct proto_region *child = CONTAINER(l, struct proto_region, sibling);
        l = l->next;
        region_dead(s, child);
    }
}

static void take_items(struct step *s, struct receipt *x)
{
    const struct proto_message *m = x->m;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        if (item->kind == PROTO_ITEM_REGION) {
            if (x->region && x->token)
                drop_unlisted(s, x->region, listed);
            listed = 0;
            on_region(s, x, i);
        } else if (item->kind == PROTO_ITEM_UNSENT && x->op) {
            on_todo(s, x, item);
        } else if (x->region && item->kind == PROTO_ITEM_CHILD) {
            listed += on_child(s, x, item);
        } else if (x->region && item->kind == PROTO_ITEM_WAITER) {
            on_waiter(s, x, item);
        } else if (x->region && item->kind == PROTO_ITEM_PRESENCE) {
            on_presence(s, x, item);
        }
    }
    if (x->region && x->token)
        drop_unlisted(s, x->region, listed);
    for (uint32_t i = 0; i < m->items_count && x->pump; i++) {
        if (m->items[i].kind != PROTO_ITEM_REGION)
            continue;
        struct proto_region *r = find(s, m->items[i].address);
        if (r && r->incarnation == m->items[i].incarnation)
            pump(s, r);
    }
}

/* Of the TRANSFERs before this one: among the last that came. */
static struct proto_arrival *arrival_find(const struct receipt *x,
                                          const struct proto_region *r)
{
    const struct proto_link *head = &x->op->arrivals;
    for (const struct proto_link *l = head->prev; l != head; l = l->prev) {
        struct proto_arrival *a = CONTAINER(l, struct proto_arrival, by_op);
        if (a->region == r && a->node == x->from && a->ticket == x->m->ticket)
            return a;
    }
    return NULL;
}

static struct proto_arrival *arrival_new(struct step *s, struct receipt *x,
                                         struct proto_region *r)
{
    struct proto_arrival *a = take(s, PROTO_ARRIVAL);
    if (!a)
        return NULL;
    memset(a, 0, sizeof(*a));
    a->op = x->op;
    a->region = r;
    a->node = x->from;
    a->ticket = x->m->ticket;
    list_insert(&r->root->arrivals, &a->link);
    list_insert(&x->op->arrivals, &a->by_op);
    r->keeps++;
    return a;
}

/* What the message brought is noted, and is all, or more comes. */
static void arrival_note(struct step *s, const struct receipt *x)
{
    struct proto_arrival *a = x->arrival;
    a->wide |= x->wide;
    a->copies += x->copies;
    a->more = (x->m->flags & PROTO_MORE) != 0;
    a->several |= a->more;
    a->shared = (x->m->flags & PROTO_SHARED) != 0;
    if (x->missing && !a->error)
        a->error = DRASYNC_EAGAIN; /* for SETTLED */
    x->op->came |= x->data;
    if (x->data && !(FAULT(s, FAULT_ONE_PORTION) && a->awaiting)) {
        a->data = true;
        a->awaiting++;
        x->op->awaiting++;
        struct proto_effect *e = effect(s, PROTO_EXPECT);
        e->region = a->region;
        e->node = x->from;
        e->ticket = x->m->ticket;
    }
}

/*
 * Nothing of the message is kept, for want of memory, or since something of the
 * answer could not be.  The operation ends with the last of the messages.
 */
static void refuse_transfer(struct step *s, struct receipt *x,
                            struct proto_region *r)
{
    struct proto_op *op = x->op;
    base_end(s, op, r);
    if (!op->error)
        op->error = DRASYNC_ENOMEM;
    if (x->arrival)
        x->arrival->failed = true;
    if (x->m->flags & PROTO_MORE) {
        failed(s, op, op->error);
        return;
    }
    if (x->arrival) {
        x->arrival->more = false;
        x->arrival->error = op->error;
        arrival_advance(s, x->arrival);
    } else {
        bounce(s, x->from, x->m);
    }
    op_fail(s, op, op->error);
    pump(s, r);
}

/* The request that @m answers; NULL: nobody asked for that. */
static struct proto_op *answered(struct step *s, const struct proto_message *m,
                                 struct receipt *x, struct proto_region *r)
{
    bool further = m->flags & PROTO_FURTHER;
    struct proto_op *op = NULL;
    if (r && r->incarnation == m->incarnation)
        op = further ? request_by_ticket(r, m->ticket)
                     : request_ended(s, r, m->ticket);
    if (!op || op->mode != m->mode)
        return NULL;
    x->op = op;
    if (further) {
        x->arrival = arrival_find(x, r);
        if (!x->arrival && !op->error)
            return NULL;
    }
    if (m->flags & PROTO_MORE)
        return op;
    op_unlist(op);
    if (!x->token)
        r->hot = (m->flags & PROTO_HOT) != 0;
    if (m->flags & PROTO_SHARED)
        part_relayed(s, op); /* it must go on to settle that */
    return op;
}

/* Nobody asked for @m, or nobody waits for it any more. */
static void unwanted(struct step *s, struct proto_region *r, uint32_t from,
                     const struct proto_message *m)
{
    if (!(m->flags & PROTO_UNMET)) {
        poison(s, "TRANSFER that was not asked for");
        return;
    }
    if (!(m->flags & PROTO_MORE) && !FAULT(s, FAULT_DROP_UNWANTED))
        bounce(s, from, m);
    if (r)
        pump(s, r);
}

/* The region that was asked for, if @x is an answer that can be taken. */
static struct proto_region *begin_answer(struct step *s, struct receipt *x)
{
    const struct proto_message *m = x->m;
    struct proto_region *r = find(s, m->region);
    if ((m->flags & (PROTO_UNMET | PROTO_FURTHER)) == PROTO_UNMET)
        located_by(s, x->from, m);
    if (!answered(s, m, x, r)) {
        unwanted(s, r, x->from, m);
        return NULL;
    }
    /* What was refused may be the parents of what comes now. */
    bool refused =
        m->flags & PROTO_FURTHER && (!x->arrival || x->arrival->failed);
    if (refused || reserve(s, m)) {
        refuse_transfer(s, x, r);
        return NULL;
    }
    return r;
}

/* The region that is given, if it can be taken. */
static struct proto_region *begin_gift(struct step *s, struct receipt *x)
{
    if (reserve(s, x->m)) {
        gift_back(s, x->from, x->m);
        return NULL;
    }
    x->op = gift_op(s, x->from, x->m);
    return x->op ? x->op->target : NULL;
}

void on_TRANSFER(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct receipt x = {
        .m = m, .from = from, .token = m->mode == DRASYNC_WRITE};
    struct proto_region *r =
        m->flags & PROTO_GIVEN ? begin_gift(s, &x) : begin_answer(s, &x);
    if (!r)
        return;
    take_items(s, &x);
    if (!x.arrival)
        x.arrival = arrival_new(s, &x, r);
    if (x.arrival)
        arrival_note(s, &x);
    if (m->flags & PROTO_MORE)
        return;
    if (x.token && m->hops >= PROTO_HOPS_LONG)
        tell_home(s, m);
    if (!x.token)
        unread_note(r, from, m);
    if (x.arrival)
        arrival_advance(s, x.arrival);
    pump(s, r);
    advance(s, x.op);
}

/* Tokens that left here come back: the receiver had no memory for them. */
void on_BOUNCE(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct receipt x = {.m = m, .from = from, .token = true};
    if (reserve(s, m)) {
        poison(s, "out of control memory for tokens that come back");
        return;
    }
    take_items(s, &x);
    /* Who bounced it may know nothing of it: hints that lead there, and were
     * passed on, end there.  The homes know better. */
    tell_homes(s, m);
}
