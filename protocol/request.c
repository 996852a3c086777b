/*
 * request.c - REQUEST: how it is sent, follows the token, waits for it where it
 * will come, and joins its queue.
 *
 * A hint says where the token went at a numbered move, so a request that goes
 * on only to a later move never runs in a circle, and a node that waits for the
 * token itself may keep requests that know less than its own did.
 */
#include "protocol/arrival.h"

struct proto_op *request_by_ticket(struct proto_region *r, uint64_t ticket)
{
    struct proto_link *head = &r->root->requests;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (op->ticket == ticket && op->at == r)
            return op;
    }
    return NULL;
}

bool is_local(const struct proto_op *op)
{
    return op->kind != OP_FOREIGN;
}

bool reads_whole(const struct proto_op *op, const struct proto_region *r)
{
    return op->kind == OP_ACQUIRE && op->mode == DRASYNC_READ &&
           op->target == r && list_empty(&op->pins) && !op->newer;
}

/* Those who wait here already need not ask again, up to the first who asks for
 * something else, and other nodes' READs. */
static void follow(struct proto_op *leader, struct proto_region *r)
{
    bool more = true;
    struct proto_link *next;
    if (!reads_whole(leader, r))
        return;
    for (struct proto_link *l = r->pending.next; l != &r->pending; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (!is_local(op)) {
            if (op->flags & PROTO_CLIMBS && !(leader->flags & PROTO_NOWAIT))
                lead(leader, op);
            continue;
        }
        more = more && reads_whole(op, r) && op->flags == leader->flags &&
               list_empty(&op->followers);
        if (!more)
            continue;
        op_unlist(op);
        op->where = AT_LEADER;
        list_insert(&leader->followers, &op->link);
    }
}

uint16_t request_flags(const struct proto_op *op, const struct proto_region *r)
{
    uint16_t flags = op->flags | newer_flags(op, r);
    if (r->forgot)
        flags |= PROTO_FRESH;
    if (!list_empty(&op->parts))
        flags |= PROTO_MORE;
    if (op->relays)
        flags |= PROTO_RELAYS;
    return flags;
}

/*
 * Nobody can, or should, ask for @r now: it is being located, or data of it is
 * on its way here, which who asks now would be sent once more.
 */
static bool must_wait(const struct proto_region *r)
{
    if (r->locating)
        return true;
    for (struct proto_link *l = r->copies.next; l != &r->copies; l = l->next)
        if (CONTAINER(l, struct proto_copy, link)->arriving)
            return true;
    return false;
}

/* Where the token of @r is looked for. */
static uint32_t place_of(struct step *s, const struct proto_region *r)
{
    return r->epoch ? r->hint : home_of(s, r->address);
}

/* What @op needs next after what it asks @to for, as far as it is there too. */
static void add_wanted(struct step *s, size_t send, const struct proto_op *op,
                       uint32_t to, bool fresh)
{
    uint32_t left = PROTO_WANTED_MAX;
    for (struct proto_link *l = op->parts.next; l != &op->parts && left > 0;
         l = l->next, left--) {
        const struct proto_region *r =
            CONTAINER(l, struct proto_part, link)->region;
        if (!r || r->dead || r->gone || r->owned || must_wait(r) ||
            place_of(s, r) != to || (r->forgot && !fresh))
            return;
        struct proto_item *item = add_item(s, send, PROTO_ITEM_WANTED);
        item->address = r->address;
        item->incarnation = r->incarnation;
    }
}

void request_sent(struct proto_op *op, struct proto_region *r)
{
    op->at = r;
    op->sent_epoch = r->epoch;
    if (op->kind == OP_AHEAD) {
        op->where = AT_AHEAD; /* nobody waits until it is answered */
    } else if (op->newer && r == op->target) {
        op->where = AT_NEWER;
        r->awaited++;
    } else {
        op->where = AT_OWNER;
        r->sent++;
    }
    list_insert(&r->root->requests, &op->link);
}

static void send_request(struct step *s, struct proto_op *op,
                         struct proto_region *r)
{
    uint32_t home = home_of(s, r->address);
    uint32_t to = place_of(s, r);
    if (to == self_of(s) || (home == self_of(s) && !r->home)) {
        op->at = r;
        request_refused(s, op, DRASYNC_EDELETED);
        return;
    }
    op->ticket = s->env->ticket(s->env->ctx);
    newer_here(op, r);
    request_sent(op, r);
    if (op->kind != OP_AHEAD)
        follow(op, r);
    if (!(request_flags(op, r) & PROTO_FRESH))
        base_begin(op, r);
    size_t send = s->out->count;
    struct proto_message *m = send_about(s, to, PROTO_REQUEST, r, op->ticket);
    m->mode = op->mode;
    m->flags = request_flags(op, r);
    m->via = to;
    m->epoch = r->epoch;
    m->version = op->base_version = newer_version(op, r);
    uint32_t line = chain_join(s, r, m, to);
    effect_of(s, send)->node = line;
    if (r->hot && reads_whole(op, r) && !(op->flags & PROTO_NOWAIT) &&
        climb_pays(s, to)) {
        m->flags |= PROTO_CLIMBS;
        effect_of(s, send)->node = climb_from(s, to);
    } else if (line == to) {
        add_wanted(s, send, op, to, m->flags & PROTO_FRESH);
    }
}

void make_pending(struct proto_op *op, struct proto_region *r)
{
    op->at = r;
    op->where = AT_PENDING;
    list_insert(&r->pending, &op->link);
    count(r, COUNT_WAITING, 1);
}

/* May @op, a local one, ask for @r now?  One that does not wait may at any
 * time; one that asks ahead not if it might get what is on its way here. */
static bool may_ask(const struct proto_op *op, const struct proto_region *r)
{
    if (op->flags & PROTO_NOWAIT && op->kind != OP_AHEAD)
        return !r->locating;
    return r->sent == 0 && !must_wait(r);
}

void request(struct step *s, struct proto_op *op, struct proto_region *r)
{
    if (op->mode == DRASYNC_WRITE)
        ahead_give_up(s, r);
    if (may_ask(op, r) && !newer_comes(op, r)) {
        send_request(s, op, r);
        return;
    }
    make_pending(op, r);
}

/* An own request is refused, on a way that led back here. */
static void own_refused(struct step *s, const struct proto_message *m,
                        int error)
{
    struct proto_region *r = find(s, m->region);
    struct proto_op *op = r ? request_ended(s, r, m->ticket) : NULL;
    if (!op)
        return;
    op_unlist(op);
    request_refused(s, op, error);
    pump(s, r);
}

static void refuse_request(struct step *s, const struct proto_message *m,
                           int error)
{
    if (m->node == self_of(s)) {
        own_refused(s, m, error);
        return;
    }
    struct proto_message *answer = send_message(s, m->node, PROTO_REFUSED);
    answer->root = m->root;
    answer->region = m->region;
    answer->incarnation = m->incarnation;
    answer->ticket = m->ticket;
    answer->via = self_of(s);
    answer->error = (int16_t)error;
}

/*
 * Where a request goes from here; this node if nowhere.  A hint that another
 * node passed on may be ahead of the token.  A request that followed one here and
 * finds nothing goes home (by the manager, where only that knows the home, but
 * not by the manager's own hint), and from there along the token's own path.
 */
static uint32_t next_hop(struct step *s, struct proto_region *r,
                         struct proto_message *m)
{
    uint32_t home = home_of(s, m->region), to;
    if (home == self_of(s))
        m->flags &= (uint16_t)~PROTO_HOMEWARD;
    if (r && r->epoch > m->epoch) {
        m->epoch = r->epoch;
        m->via = r->hint;
        m->flags &= (uint16_t) ~(PROTO_LOST | PROTO_HOMEWARD);
        to = r->hint;
    } else if (m->flags & PROTO_HOMEWARD) {
        return home;
    } else if (r && r->epoch && (r->home || (m->flags & PROTO_LOST))) {
        to = r->hint;
        if (m->via != self_of(s) && !(m->flags & PROTO_LOST) && m->epoch)
            to = m->via;
    } else if (r && m->epoch && m->via != self_of(s)) {
        to = m->via;
    } else {
        m->flags |= PROTO_LOST | PROTO_HOMEWARD;
        return home;
    }
    /* Hints of a deleted region may lead round; its home is told of its end. */
    bool again = m->hops >= PROTO_HOPS_LOST && (m->hops & (m->hops - 1u)) == 0;
    if (m->hops < PROTO_HOPS_DETOUR || ((m->flags & PROTO_DETOUR) && !again) ||
        home == self_of(s) || home == to)
        return to;
    m->flags |= PROTO_DETOUR;
    return home;
}

struct proto_op *foreign(struct step *s, const struct proto_message *m)
{
    struct proto_op *op =
        op_new(s, OP_FOREIGN, -1, NULL, (enum drasync_mode)m->mode, NULL);
    if (!op)
        return NULL;
    op->node = m->node;
    op->ticket = m->ticket;
    op->flags = m->flags & (uint16_t)~PROTO_CLIMBS;
    op->hops = m->hops;
    op->sent_epoch = m->epoch;
    op->via = m->via;
    op->after = m->after;
    op->after_node = self_of(s);
    bool newer = m->flags & PROTO_NEWER && !(m->flags & PROTO_AHEAD);
    op->newer = newer ? m->version : 0;
    op->base_version = newer && m->flags & PROTO_FRESH ? 0 : m->version;
    return op;
}

/* It can wait here for the token, and does; false: it must go on. */
static bool wait_here(struct step *s, struct proto_region *r,
                      const struct proto_message *m)
{
    struct proto_op *op;
    if (m->node == self_of(s) || !chain_waits(r, m))
        return false;
    op = foreign(s, m);
    if (!op)
        return false;
    make_pending(op, r);
    return true;
}

static void forward(struct step *s, struct proto_region *r,
                    const struct proto_message *request_message)
{
    struct proto_message m = *request_message;
    m.hops++;
    m.after = 0;
    m.flags &= (uint16_t)~PROTO_CLIMBS;
    uint32_t to = next_hop(s, r, &m);
    if (m.flags & PROTO_AHEAD && m.hops >= PROTO_HOPS_AHEAD) {
        refuse_request(s, &m, DRASYNC_EAGAIN);
        return;
    }
    if (m.hops >= PROTO_HOPS_MAX) {
        poison(s, "a request does not find its region");
        return;
    }
    if (to == self_of(s)) {
        refuse_request(s, &m, DRASYNC_EDELETED);
        return;
    }
    m.items_count = 0;
    m.items = NULL;
    if (r) {
        uint32_t line = chain_join(s, r, &m, to);
        if (line == self_of(s) && wait_here(s, r, &m))
            return;
        if (line == self_of(s))
            m.after = 0; /* there is no memory to wait here */
        else
            to = line;
    }
    *send_message(s, to, PROTO_REQUEST) = m;
}

/* The message that @op, a foreign one that waited here, was. */
static struct proto_message request_of(const struct proto_op *op,
                                       const struct proto_region *r)
{
    return (struct proto_message){
        .type = PROTO_REQUEST,
        .mode = op->mode,
        .flags = op->flags,
        .hops = op->hops,
        .node = op->node,
        .via = op->via,
        .ticket = op->ticket,
        .root = r->root->address,
        .region = r->address,
        .incarnation = r->incarnation,
        .version = op->newer ? op->newer : op->base_version,
        .epoch = op->sent_epoch,
    };
}

void send_on(struct step *s, struct proto_op *op, struct proto_region *r)
{
    struct proto_message m = request_of(op, r);
    if (!op->after || op->after_node == self_of(s)) {
        forward(s, r, &m);
        return;
    }
    m.hops++;
    m.after = op->after;
    if (r->epoch > m.epoch) {
        m.epoch = r->epoch;
        m.via = r->hint;
    }
    *send_message(s, op->after_node, PROTO_REQUEST) = m;
}

/* The token is here, for an operation that waited for it elsewhere. */
static void join_queue(struct step *s, struct proto_op *op,
                       struct proto_region *r)
{
    if (op->kind == OP_AHEAD ||
        (is_local(op) && op->flags & PROTO_NOWAIT && waits_for_ranks(s, r, op)))
        op_fail(s, op, DRASYNC_EAGAIN);
    else if (!newer_waits(s, r, op))
        enqueue(s, op, r);
}

void pump(struct step *s, struct proto_region *r)
{
    if (r->owned) {
        while (!list_empty(&r->pending)) {
            struct proto_op *op =
                CONTAINER(r->pending.next, struct proto_op, link);
            op_unlist(op);
            join_queue(s, op, r);
        }
        mark_serve(s, r);
        return;
    }
    if (r->locating)
        return;
    struct proto_link *next;
    for (struct proto_link *l = r->pending.next; l != &r->pending; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (is_local(op) ? !(op->flags & PROTO_NOWAIT) || op->kind == OP_AHEAD
                         : op->flags & PROTO_CLIMBS || chain_stays(s, r, op))
            continue;
        op_unlist(op);
        if (is_local(op)) {
            send_request(s, op, r);
            next = r->pending.next; /* it may have taken followers along */
            continue;
        }
        send_on(s, op, r);
        op_free(s, op);
    }
    while (r->sent == 0 && !must_wait(r) && !list_empty(&r->pending)) {
        struct proto_op *op = CONTAINER(r->pending.next, struct proto_op, link);
        if (op->flags & PROTO_CLIMBS) {
            relay(s, r, op);
            continue;
        }
        if (op->kind == OP_AHEAD && op->link.next != &r->pending) {
            list_remove(&op->link); /* after those who wait */
            list_insert(&r->pending, &op->link);
            continue;
        }
        op_unlist(op);
        if (is_local(op)) {
            send_request(s, op, r);
        } else {
            send_on(s, op, r);
            op_free(s, op);
        }
    }
}

bool grant_at_once(struct step *s, struct proto_region *r,
                   const struct proto_message *m)
{
    if (!r->owned || queued(r))
        return false;
    struct proto_op *op = foreign(s, m);
    if (!op)
        return false;
    if (grantable(s, r, op)) {
        grant_foreign(s, r, op);
        return true;
    }
    op_free(s, op);
    return false;
}

static void request_owned(struct step *s, struct proto_region *r,
                          const struct proto_message *m)
{
    if (m->node == self_of(s)) {
        /* The token came here while the request was on its way to it. */
        struct proto_op *op = request_ended(s, r, m->ticket);
        if (!op)
            return;
        op_unlist(op);
        join_queue(s, op, r);
        return;
    }
    struct proto_op *op = foreign(s, m);
    if (!op) {
        struct proto_op asker = {.node = m->node, .ticket = m->ticket};
        refuse(s, r, &asker, DRASYNC_ENOMEM);
        return;
    }
    if (asks_ahead(op)
            ? op->mode == DRASYNC_WRITE && !ahead_may_go(s, r)
            : (op->flags & PROTO_NOWAIT) && waits_for_ranks(s, r, op)) {
        refuse(s, r, op, DRASYNC_EAGAIN);
        return;
    }
    if (asks_ahead(op) ? subscribe(s, r, op) : newer_asked(s, r, op))
        return;
    subscribe_asked(s, r, op);
    if (m->items_count) {
        s->request = m;
        s->requester = op;
    }
    enqueue(s, op, r);
}

void on_REQUEST(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    if (m->flags & PROTO_CLIMBS && climb(s, m))
        return;
    struct proto_region *r = find(s, m->region);
    if (!r || r->locating || r->incarnation != m->incarnation) {
        forward(s, NULL, m);
        return;
    }
    if (!r->home && home_of(s, m->region) == self_of(s)) {
        /* What else this node heard of it is out of date. */
        refuse_request(s, m, DRASYNC_EDELETED);
        return;
    }
    if (r->dead) {
        struct proto_op asker = {.node = m->node, .ticket = m->ticket};
        if (m->node == self_of(s))
            own_refused(s, m, DRASYNC_EDELETED);
        else
            refuse(s, r, &asker, DRASYNC_EDELETED);
        return;
    }
    if (r->owned) {
        request_owned(s, r, m);
        return;
    }
    if (!wait_here(s, r, m))
        forward(s, r, m);
}
