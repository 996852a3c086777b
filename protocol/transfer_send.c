/*
 * transfer_send.c - TRANSFER, the sending side: a request from another node is
 * granted with as much of the subtree, in lock order, as is here and free; what
 * remains goes along as UNSENT items, for the requester to ask for.
 *
 * Copies of many regions go in portions, each twice as long as the one before
 * it: the data of one moves while the next is made and taken in.
 */
#include "protocol/internal.h"

struct answer {
    struct proto_region *top;
    struct proto_op *op;
    struct proto_sending *sending;
    size_t first;           /* index of the effect of the first message, */
    size_t send;            /* and of this one, */
    uint32_t regions, room; /* which has so many, and takes so many at most; */
    struct proto_link *shipped; /* the last pin of those before it */
    bool given;   /* nobody asked: who waits for parts of it waits there */
    bool stopped; /* the rest is UNSENT */
    bool shared;  /* READ: keep writers out until it is settled, */
    bool promise; /* or revoked */
};

/* Is @r dead, but others are to know it until what they send has arrived? */
static bool dying(const struct proto_region *r)
{
    return r->lock && r->lock->stage == DELETE_DEAD;
}

struct proto_item *token_items(struct step *s, size_t send,
                               struct proto_region *r, uint32_t to)
{
    struct proto_link *l;
    struct proto_item *item = add_item(s, send, PROTO_ITEM_REGION);
    size_t first = s->out->items_count - 1;
    item->address = r->address;
    item->incarnation = r->incarnation;
    item->parent = r->parent ? r->parent->address : 0;
    item->version = r->version;
    item->epoch = r->epoch + 1;
    for (l = r->children.next; l != &r->children; l = l->next) {
        struct proto_region *child = CONTAINER(l, struct proto_region, sibling);
        if (child->gone || (child->dead && !dying(child)))
            continue;
        item = add_item(s, send, PROTO_ITEM_CHILD);
        item->address = child->address;
        item->incarnation = child->incarnation;
        item->node = child->owned ? self_of(s) : child->hint;
        item->epoch = child->epoch;
    }
    chain_cut(s, send, r);
    presence_items(s, send, r, to);
    /* It may have moved. */
    return s->out->failed ? &s->out->lost.item : &s->out->item[first];
}

/* Begin a message, the first one or another. */
static void begin_message(struct step *s, struct answer *a, uint16_t flags)
{
    a->send = s->out->count;
    a->regions = 0;
    struct proto_message *m =
        send_about(s, a->op->node, PROTO_TRANSFER, a->top, a->op->ticket);
    effect_of(s, a->send)->ahead = asks_ahead(a->op);
    m->mode = a->op->mode;
    m->flags = (uint16_t)(flags | (a->op->flags & PROTO_UNMET));
    if (m->mode == DRASYNC_READ && unread_wanted(s))
        m->flags |= PROTO_TELL;
    m->hops = a->op->hops;
    m->via = self_of(s);
    m->epoch = a->top->epoch;
}

/* Ship the data, after the message is complete. */
static void ship(struct step *s, struct answer *a)
{
    uint32_t items = message_of(s, a->send)->items_count;
    size_t first = leaving_of(s, a->send)->first_item;
    bool data = false;
    for (uint32_t i = 0; i < items && !s->out->failed; i++) {
        if (s->out->item[first + i].kind != PROTO_ITEM_REGION)
            continue;
        a->shipped = a->shipped->next;
        struct proto_pin *pin = CONTAINER(a->shipped, struct proto_pin, link);
        if (!(s->out->item[first + i].flags & PROTO_DATA))
            continue;
        data = true;
        struct proto_effect *e = effect(s, PROTO_SHIP);
        e->node = a->op->node;
        e->item = i;
        e->region = pin->region;
        e->copy = pin->copy;
        e->frames = pin->copy->frames;
        e->ticket = a->op->ticket;
        if (pin->region == a->top && pin->version > a->op->base_version)
            e->base_version = a->op->base_version;
    }
    a->sending->unsent += data;
}

/* The item of a copy, in this message, or in another one if that is full. */
static struct proto_item *copy_item(struct step *s, struct answer *a,
                                    const struct proto_region *r,
                                    uint64_t version)
{
    if (a->regions == a->room) {
        message_of(s, a->send)->flags |= PROTO_MORE;
        ship(s, a);
        begin_message(s, a, PROTO_FURTHER);
        if (a->room <= PROTO_PORTION_MAX / 2)
            a->room *= 2;
    }
    a->regions++;
    struct proto_item *item = add_item(s, a->send, PROTO_ITEM_REGION);
    item->address = r->address;
    item->incarnation = r->incarnation;
    item->parent = r->parent ? r->parent->address : 0;
    item->node = r->owned ? self_of(s) : r->hint;
    item->version = version;
    item->epoch = r->epoch;
    return item;
}

/* One more node has got the data of @version. */
static void count_reader(struct proto_region *r, uint64_t version)
{
    if (r->read_version != version)
        r->readers = 0;
    r->read_version = version;
    r->readers++;
}

/* What is known from now on of the node that READs by @op. */
static unsigned reader_flags(const struct proto_op *op)
{
    return PROTO_BUSY | (op->flags & PROTO_RELAYS ? PROTO_MORE : 0);
}

/* Put @r into the answer; false: it cannot be given now. */
static bool add_region(struct step *s, struct answer *a, struct proto_region *r)
{
    bool write = a->op->mode == DRASYNC_WRITE;
    if (!r->owned || !grantable(s, r, a->op) ||
        (r != a->top && !a->given && queued(r)))
        return false;
    struct proto_presence *p = presence_of(r, a->op->node);
    uint64_t version = proto_version(r);
    bool data = !p || p->version != version || (a->op->flags & PROTO_FRESH);
    if (r == a->top && !write && a->op->base_version == version)
        data = false; /* it keeps that, and has not settled it yet */
    if (r == a->top && !write && p && p->promised == version &&
        !(a->op->flags & PROTO_FRESH))
        data = false; /* it was asked ahead, and is on its way */
    if (!write && (!p || !p->reads || a->op->flags & PROTO_RELAYS)) {
        bool known = !p || !p->reads || p->granted;
        p = presence_add(s, r, a->op->node, 0, reader_flags(a->op));
        if (!p)
            return false;
        p->granted = known ? a->op->ticket : 0;
    } else if (!write && p->granted) {
        p->granted = a->op->ticket;
    }
    struct proto_pin *pin = pin_new(s, &a->sending->pins, r, NULL);
    if (!pin)
        return false;
    struct proto_copy *copy = copy_current(r);
    pin->version = version;
    if (r == a->top && data && !write)
        count_reader(r, version);
    if (data || write) {
        /* A token may bounce: its data stays until it is settled. */
        pin->copy = copy;
        copy->sends++;
        pinned_update(r);
    }
    r->sends++;
    struct proto_item *item = write ? token_items(s, a->send, r, a->op->node)
                                    : copy_item(s, a, r, version);
    item->flags = data ? PROTO_DATA : 0;
    return true;
}

static void add_todo(struct step *s, struct answer *a,
                     const struct proto_region *r)
{
    struct proto_item *item = add_item(s, a->send, PROTO_ITEM_UNSENT);
    item->address = r->address;
    item->incarnation = r->incarnation;
    item->parent = r->parent->address;
    item->node = r->owned ? self_of(s) : r->hint;
    item->epoch = r->epoch;
}

/* The next record in lock order that is not below @r. */
static struct proto_region *skip(const struct proto_region *top,
                                 struct proto_region *r)
{
    while (r != top) {
        if (r->sibling.next != &r->parent->children)
            return CONTAINER(r->sibling.next, struct proto_region, sibling);
        r = r->parent;
    }
    return NULL;
}

void token_leave(struct step *s, struct proto_region *r, uint32_t to)
{
    ahead_token_used(s, r, false);
    if (!FAULT(s, FAULT_SUBSCRIBERS_KEPT))
        subscriptions_leave(s, r);
    r->present = true;
    if (!FAULT(s, FAULT_KEEP_TOKEN))
        set_owned(r, false);
    r->hint = to;
    r->epoch++;
    presence_leave(s, r);
    for (struct proto_link *l = r->children.next; l != &r->children;
         l = l->next)
        mark_gc(s, CONTAINER(l, struct proto_region, sibling));
}

/* The state of the regions after the answer is made. */
static void leave(struct step *s, struct answer *a)
{
    struct proto_link *l, *pins = &a->sending->pins;
    for (l = pins->next; l != pins; l = l->next) {
        struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
        struct proto_region *r = pin->region;
        if (a->op->mode == DRASYNC_WRITE) {
            token_leave(s, r, a->op->node);
        } else if (a->shared && !FAULT(s, FAULT_NO_SHARED)) {
            pin->shared = true;
            r->shared++;
            count(r, COUNT_BUSY, 1);
            pin->promise = a->promise;
            r->promised += a->promise;
            struct proto_presence *p = presence_of(r, a->op->node);
            if (p && a->promise)
                p->promised = pin->version;
        }
    }
}

/* A message has all the children that a token names, and they may be left to be
 * asked for, too. */
_Static_assert(2 * (PROTO_ANSWER_ITEMS + PROTO_CHILDREN_MAX) +
                       PROTO_WAITERS_MAX + PROTO_PRESENCE_MAX + 2 <
                   PROTO_ITEMS_MAX,
               "a message");

bool too_wide(struct step *s, const struct proto_region *r,
              enum drasync_mode mode)
{
    return mode == DRASYNC_WRITE && r->children_count > s->node->children_max;
}

/* Would it be too long with @r?  A token's presence is told for each node that
 * may know the region. */
static bool is_full(struct step *s, const struct answer *a,
                    const struct proto_region *r)
{
    return message_of(s, a->send)->items_count >= s->node->answer_items ||
           too_wide(s, r, (enum drasync_mode)a->op->mode);
}

/* Put what is free of @top's subtree into the answer, and the rest as UNSENT;
 * false: not even @top can be given. */
static bool add_subtree(struct step *s, struct answer *a,
                        struct proto_region *top)
{
    struct proto_region *r = top;
    while (r) {
        bool in = !r->dead && !r->gone;
        if (in && !a->stopped && (r == top || !is_full(s, a, r)) &&
            add_region(s, a, r)) {
            r = proto_next(top, r);
            continue;
        }
        if (in && r == top)
            return false;
        if (in) {
            a->stopped = true;
            add_todo(s, a, r);
        }
        r = skip(top, r);
    }
    return true;
}

/* The parts that come after, as far as they can be given without waiting; the
 * requester still has the others in its list. */
static void add_wanted(struct step *s, struct answer *a)
{
    const struct proto_message *m = s->request;
    if (s->requester != a->op)
        return;
    for (uint32_t i = 0; i < m->items_count && !a->stopped; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (!r || r->incarnation != m->items[i].incarnation || r->dead ||
            r->gone || r->root != a->top->root ||
            too_wide(s, r, (enum drasync_mode)a->op->mode) ||
            !add_subtree(s, a, r))
            return;
    }
}

/* @a has its sending: begin both. */
static void sending_begin(struct step *s, struct answer *a)
{
    memset(a->sending, 0, sizeof(*a->sending));
    list_init(&a->sending->pins);
    list_init(&a->sending->link);
    a->sending->node = a->op->node;
    a->sending->ticket = a->op->ticket;
    a->shipped = &a->sending->pins;
    a->first = s->out->count;
    a->room = s->node->portion_first;
    begin_message(s, a, 0);
}

void grant_foreign(struct step *s, struct proto_region *top,
                   struct proto_op *op)
{
    struct answer a = {.top = top, .op = op};
    if (too_wide(s, top, (enum drasync_mode)op->mode)) {
        refuse(s, top, op, DRASYNC_ELIMIT);
        return;
    }
    a.sending = take(s, PROTO_SENDING);
    if (!a.sending) {
        refuse(s, top, op, DRASYNC_ENOMEM);
        return;
    }
    sending_begin(s, &a);
    a.sending->token = op->mode == DRASYNC_WRITE;
    if (!add_subtree(s, &a, top)) {
        /* No memory for the top itself: take the message back. */
        s->out->count = a.first;
        give(s, PROTO_SENDING, a.sending);
        refuse(s, top, op, DRASYNC_ENOMEM);
        return;
    }
    add_wanted(s, &a);
    a.promise = asks_ahead(op) && op->mode == DRASYNC_READ && !a.stopped &&
                !queued(top) && top->promised < PROTO_PROMISES_MAX;
    a.sending->promise = a.promise;
    a.shared = asks_ahead(op) ? a.promise
                              : op->mode == DRASYNC_READ &&
                                    (a.stopped || (op->flags & PROTO_MORE));
    struct proto_message *m = message_of(s, a.send);
    if (a.shared)
        m->flags |= PROTO_SHARED;
    else if (op->mode == DRASYNC_READ && is_hot(s, top))
        m->flags |= PROTO_HOT;
    list_insert(&top->root->sendings, &a.sending->link);
    ship(s, &a);
    leave(s, &a);
    op_free(s, op);
    if (!top->owned)
        pump(s, top);
}

bool send_gift(struct step *s, struct proto_region *top,
               const struct proto_gift *gift)
{
    struct proto_op op = {
        .kind = OP_FOREIGN,
        .mode = DRASYNC_WRITE,
        /* It cannot say that it dropped a copy. */
        .flags = PROTO_FRESH,
        .node = gift->node,
        /* Not one that a request of that node may have. */
        .ticket = s->env->ticket(s->env->ctx) | UINT64_C(1) << 63,
    };
    struct answer a = {.top = top, .op = &op, .given = true};
    a.sending = take(s, PROTO_SENDING);
    if (!a.sending)
        return false;
    sending_begin(s, &a);
    a.sending->token = true;
    struct proto_message *m = message_of(s, a.send);
    m->flags = PROTO_GIVEN;
    m->version = (uint64_t)gift->rank;
    m->after = gift->words;
    add_ancestors(s, a.send, top);
    if (!add_subtree(s, &a, top)) {
        s->out->count = a.first;
        give(s, PROTO_SENDING, a.sending);
        return false;
    }
    list_insert(&top->root->sendings, &a.sending->link);
    ship(s, &a);
    leave(s, &a);
    for (struct proto_link *l = a.sending->pins.next; l != &a.sending->pins;
         l = l->next)
        pump(s, CONTAINER(l, struct proto_pin, link)->region);
    return true;
}

/* Put what @pin of a READ that is complete sees into the answer. */
static bool add_copy(struct step *s, struct answer *a,
                     const struct proto_pin *seen)
{
    struct proto_region *r = seen->region;
    struct proto_presence *p =
        presence_add(s, r, a->op->node, 0, reader_flags(a->op));
    struct proto_pin *pin = p ? pin_new(s, &a->sending->pins, r, NULL) : NULL;
    if (!pin)
        return false;
    bool data = p->version != seen->version || a->op->flags & PROTO_FRESH;
    if (r == a->top && a->op->base_version == seen->version)
        data = false;
    pin->version = seen->version;
    if (data) {
        pin->copy = seen->copy;
        pin->copy->sends++;
        pinned_update(r);
    }
    r->sends++;
    r->present = true;
    copy_item(s, a, r, seen->version)->flags = data ? PROTO_DATA : 0;
    return true;
}

bool pass_copies(struct step *s, struct proto_op *leader, struct proto_op *op,
                 bool hot)
{
    struct proto_region *top = leader->target;
    struct answer a = {.top = top, .op = op};
    bool whole = !list_empty(&leader->pins);
    a.sending = take(s, PROTO_SENDING);
    if (!a.sending)
        return false;
    sending_begin(s, &a);
    for (struct proto_link *l = leader->pins.next; whole && l != &leader->pins;
         l = l->next) {
        struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
        whole = pin->copy && !pin->region->dead && !pin->region->gone &&
                add_copy(s, &a, pin);
    }
    if (!whole) {
        s->out->count = a.first;
        end_sending(s, a.sending);
        return false;
    }
    if (hot)
        message_of(s, a.send)->flags |= PROTO_HOT;
    a.sending->relay = leader;
    leader->awaiting++;
    list_insert(&top->root->sendings, &a.sending->link);
    ship(s, &a);
    return true;
}
