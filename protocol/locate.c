/*
 * locate.c - LOCATE: a rank names a region that its node has never met; the
 * region's home says, in LOCATED, which tree it is in and who has the token.
 *
 * If the rank wants to hold it the LOCATE is a REQUEST too, where the region is a
 * root, in whose way no other hold of the rank can be: the home answers with
 * TRANSFER if it can at once, otherwise with LOCATED, and lets the REQUEST go
 * its way from here.  That may be answered before LOCATED has come, so it is
 * marked, as UNMET, and what answers it says as much as LOCATED does.  Who asked
 * may have given up meanwhile, or learned otherwise of a region with that
 * address; then nobody waits for a TRANSFER, and it goes back.
 */
#include "protocol/internal.h"

void add_ancestors(struct step *s, size_t send, const struct proto_region *r)
{
    const struct proto_region *chain[PROTO_DEPTH_MAX];
    size_t depth = 0;
    for (r = r->parent; r && depth < PROTO_DEPTH_MAX; r = r->parent)
        chain[depth++] = r;
    while (depth > 0) {
        r = chain[--depth];
        struct proto_item *item = add_item(s, send, PROTO_ITEM_ANCESTOR);
        item->address = r->address;
        item->incarnation = r->incarnation;
    }
}

/* What this node knows of @r, which @node asked for. */
static struct proto_message *say_located(struct step *s, uint32_t node,
                                         const struct proto_region *r, bool hot)
{
    size_t send = s->out->count;
    struct proto_message *answer = send_message(s, node, PROTO_LOCATED);
    answer->region = r->address;
    answer->root = r->root->address;
    answer->incarnation = r->incarnation;
    answer->via = r->owned ? self_of(s) : r->hint;
    answer->epoch = r->epoch;
    answer->flags = hot ? PROTO_HOT : 0;
    add_ancestors(s, send, r);
    return message_of(s, send);
}

static void say_none(struct step *s, uint32_t node, uint64_t address,
                     uint64_t after)
{
    struct proto_message *answer = send_message(s, node, PROTO_LOCATED);
    answer->root = answer->region = address;
    answer->after = after;
    answer->error = DRASYNC_ENOREGION;
}

/* Another node's question waits here for the answer to this node's own, which
 * goes the same way; false: no memory, or it goes another. */
static bool keep_question(struct step *s, struct proto_region *r,
                          const struct proto_message *m)
{
    struct proto_op *op;
    if (home_of(s, m->region) != m->via)
        return false;
    op = op_new(s, OP_LOCATE, -1, NULL, DRASYNC_READ, NULL);
    if (!op)
        return false;
    op->node = m->node;
    op->after = m->after;
    op->where = AT_LOCATE;
    list_insert(&r->locates, &op->link);
    return true;
}

/* Is @r known here as well as at its home?  It is where BURY comes, or an
 * answer to this node's own request. */
static bool well_known(const struct proto_region *r)
{
    return !r->locating && !r->dead && !r->gone && r->epoch &&
           (r->owned || r->sent || !list_empty(&r->copies));
}

void locates_end(struct step *s, struct proto_region *r)
{
    while (!list_empty(&r->locates)) {
        struct proto_op *op = CONTAINER(r->locates.next, struct proto_op, link);
        op_unlist(op);
        uint32_t home = home_of(s, r->address);
        if (!r->dead && !r->gone && r->epoch) {
            say_located(s, op->node, r, true);
        } else if (home == self_of(s)) {
            say_none(s, op->node, r->address, op->after);
        } else {
            struct proto_message *m = send_message(s, home, PROTO_LOCATE);
            m->root = m->region = r->address;
            m->node = op->node;
            m->after = op->after;
        }
        op_free(s, op);
    }
    mark_gc(s, r);
}

/* On the way up: answered here, kept, or sent on. */
static void locate_climbs(struct step *s, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (r && r->locating && keep_question(s, r, m))
        return;
    if (r && well_known(r))
        say_located(s, m->node, r, r->sent || is_hot(s, r));
    else
        *send_message(s, climb_from(s, m->via), PROTO_LOCATE) = *m;
}

/* The REQUEST that @m, a LOCATE, is too, or NULL. */
static const struct proto_message *request_in(const struct proto_region *r,
                                              const struct proto_message *m,
                                              struct proto_message *request)
{
    if (!m->ticket || r->parent || r->gone)
        return NULL;
    *request = (struct proto_message){
        .type = PROTO_REQUEST,
        .mode = m->mode,
        .flags =
            (uint16_t)(PROTO_FRESH | PROTO_UNMET | (m->flags & PROTO_NOWAIT)),
        .node = m->node,
        .via = r->owned ? m->via : r->hint,
        .ticket = m->ticket,
        .root = r->address,
        .region = r->address,
        .incarnation = r->incarnation,
        .epoch = r->epoch,
    };
    return request;
}

/* At the home, which has a record of it. */
static void locate_known(struct step *s, struct proto_region *r,
                         const struct proto_message *m)
{
    struct proto_message request;
    const struct proto_message *q = request_in(r, m, &request);
    if (q && grant_at_once(s, r, q))
        return;
    say_located(s, m->node, r, is_hot(s, r))->ticket = q ? q->ticket : 0;
    if (q)
        on_REQUEST(s, m->node, q);
}

/* The operation whose request has @ticket; NULL: it was given up. */
static struct proto_op *waiting_op(struct proto_region *r, uint64_t ticket)
{
    for (struct proto_link *l = r->pending.next; l != &r->pending;
         l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (is_local(op) && ticket && op->ticket == ticket)
            return op;
    }
    return NULL;
}

static void request_under_way(struct proto_region *r, uint64_t ticket)
{
    struct proto_op *op = waiting_op(r, ticket);
    if (!op)
        return;
    op_unlist(op);
    request_sent(op, r);
}

/* LOCATE again, for an operation that began after the first LOCATE was sent:
 * the address may have a new region since. */
static void locate_for(struct step *s, struct proto_region *r,
                       struct proto_op *op)
{
    struct proto_message *again =
        send_message(s, home_of(s, r->address), PROTO_LOCATE);
    again->root = again->region = r->address;
    again->via = home_of(s, r->address);
    again->after = s->env->ticket(s->env->ctx);
    if (op->kind != OP_ACQUIRE || op->newer)
        return;
    again->ticket = op->ticket = again->after;
    again->mode = op->mode;
    again->flags = op->flags & PROTO_NOWAIT;
}

/* The next operation that waits for where @r is, and began before @asked, a
 * ticket; 0: at any time. */
static struct proto_op *began_before(const struct proto_region *r,
                                     uint64_t asked)
{
    for (struct proto_link *l = r->pending.next; l != &r->pending;
         l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (!asked || !is_local(op) || op->born < asked)
            return op;
    }
    return NULL;
}

/* No region had the address when LOCATE @asked was sent: end the operations
 * that began before it. */
static void located_none(struct step *s, struct proto_region *r, int error,
                         uint64_t asked)
{
    struct proto_op *op;
    /* The address has become this node's own, to load a region there: nobody
     * else is to be asked. */
    if (home_of(s, r->address) == self_of(s))
        asked = 0;
    while ((op = began_before(r, asked)) != NULL) {
        op_unlist(op);
        op_fail(s, op, error);
    }
    if (!list_empty(&r->pending)) {
        locate_for(s, r, CONTAINER(r->pending.next, struct proto_op, link));
        return;
    }
    r->locating = false;
    r->gone = true;
    mark_serve(s, r);
    mark_gc(s, r);
}

/* An own question has come back: nodes differ on whose the address is, as while
 * ranks load and delete regions there alternately.  So no region was there. */
static void locate_came_back(struct step *s, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (r && r->locating)
        located_none(s, r, DRASYNC_ENOREGION, m->after);
}

void on_LOCATE(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    uint32_t home = home_of(s, m->region);
    if (m->node == self_of(s)) {
        locate_came_back(s, m);
        return;
    }
    if (m->flags & PROTO_CLIMBS && m->via != self_of(s) && home != self_of(s)) {
        locate_climbs(s, m);
        return;
    }
    if (home != self_of(s)) {
        struct proto_message *on = send_message(s, home, PROTO_LOCATE);
        *on = *m;
        on->flags &= PROTO_NOWAIT;
        return;
    }
    struct proto_region *r = find(s, m->region);
    if (r && r->home && !r->dead) {
        locate_known(s, r, m);
        return;
    }
    say_none(s, m->node, m->region, m->after);
}

void on_LOCATED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_region *r = find(s, m->region);
    if (!r || !r->locating)
        return;
    if (m->error) {
        located_none(s, r, m->error, m->after);
        return;
    }
    uint32_t counts[PROTO_TYPES] = {0};
    counts[PROTO_REGION] = m->items_count;
    if (s->env->reserve(s->env->ctx, counts)) {
        located_none(s, r, DRASYNC_ENOMEM, 0);
        return;
    }
    struct proto_region *parent = NULL;
    for (uint32_t i = 0; i < m->items_count && m->epoch; i++) {
        parent = region_learn(s, m->items[i].address, m->items[i].incarnation,
                              parent);
        if (!parent) {
            located_none(s, r, DRASYNC_EDELETED, 0);
            return;
        }
        mark_gc(s, parent);
    }
    r = region_learn(s, m->region, m->incarnation, parent);
    if (!r)
        return;
    learn_hint(s, r, m->via, m->epoch);
    r->hot = m->flags & PROTO_HOT || !list_empty(&r->locates);
    request_under_way(r, m->ticket);
    pump(s, r);
    mark_serve(s, r);
    mark_gc(s, r);
}

void located_by(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (!r || !r->locating)
        return;
    r = region_learn(s, m->region, m->incarnation, NULL);
    /* A copy names who has the token. */
    if (m->mode == DRASYNC_READ)
        learn_hint(s, r, m->items[0].node, m->items[0].epoch);
    else
        learn_hint(s, r, from, m->epoch);
    request_under_way(r, m->ticket);
}

void locate_again(struct step *s, struct proto_region *r,
                  const struct proto_message *m)
{
    struct proto_op *op = waiting_op(r, m->ticket);
    if (op)
        op->ticket = 0;
    if (home_of(s, r->address) == self_of(s)) {
        located_none(s, r, DRASYNC_ENOREGION, 0);
        return;
    }
    struct proto_message *again =
        send_message(s, home_of(s, r->address), PROTO_LOCATE);
    again->root = again->region = r->address;
    again->via = home_of(s, r->address);
    again->after = s->env->ticket(s->env->ctx);
}
