/*
 * subscribe.c - what a node READs again and again is there before it asks.
 *
 * A node whose READs of a region have brought another version each time asks
 * ahead for the next one, when its last reader has released.  The owner keeps
 * that request until a writer releases; the data then leaves with a promise, as
 * of anything asked ahead (ahead.c), and the next READ needs no message.
 *
 * A node whose READs bring the same version asks ahead for that one, with a
 * promise for however many READs: until a writer comes, none needs a message.
 * Where it waits for the next version meanwhile, the owner sees its READs come,
 * and answers with a promise of this one.
 *
 * Neither is an obstacle to anybody, nor does it travel: who takes the token
 * away, or deletes the region, ends it.  One that was of no use makes its node
 * wait for twice as many READs before the next.
 *
 * Ranks that wait for a newer version (newer.c) are in the same list.
 */
#include "protocol/internal.h"

/* --- At the owner --------------------------------------------------------- */

static uint32_t subscribers(const struct proto_region *r)
{
    uint32_t n = 0;
    for (const struct proto_link *l = r->subscribers.next; l != &r->subscribers;
         l = l->next)
        n++;
    return n;
}

bool subscribe(struct step *s, struct proto_region *r, struct proto_op *op)
{
    if (!(op->flags & PROTO_NEWER) || op->mode != DRASYNC_READ ||
        op->base_version != proto_version(r))
        return false;
    if (subscribers(r) >= PROTO_SUBSCRIBERS_MAX) {
        refuse(s, r, op, DRASYNC_EAGAIN);
        return true;
    }
    op->at = r;
    op->where = AT_SUBSCRIBED;
    list_insert(&r->subscribers, &op->link);
    count(r, COUNT_SUBSCRIBED, 1);
    return true;
}

static struct proto_op *first_of(struct proto_region *r)
{
    struct proto_op *op = CONTAINER(r->subscribers.next, struct proto_op, link);
    op_unlist(op);
    return op;
}

void subscribe_asked(struct step *s, struct proto_region *r,
                     const struct proto_op *op)
{
    if (asks_ahead(op) || op->mode != DRASYNC_READ ||
        op->base_version != proto_version(r))
        return;
    for (struct proto_link *l = r->subscribers.next; l != &r->subscribers;
         l = l->next) {
        struct proto_op *waits = CONTAINER(l, struct proto_op, link);
        if (!asks_ahead(waits) || waits->node != op->node ||
            ++waits->uses < PROTO_REREADS)
            continue;
        /* Behind @op, and so after its answer. */
        op_unlist(waits);
        enqueue(s, waits, r);
        return;
    }
}

void subscriptions_end(struct step *s, struct proto_region *r, int error)
{
    while (!list_empty(&r->subscribers)) {
        struct proto_op *op = first_of(r);
        if (!is_local(op))
            refuse(s, r, op, error);
        else if (error == DRASYNC_EDELETED)
            request_refused(s, op, error);
        else
            op_fail(s, op, error);
    }
}

void subscriptions_leave(struct step *s, struct proto_region *r)
{
    while (!list_empty(&r->subscribers)) {
        struct proto_op *op = first_of(r);
        if (asks_ahead(op)) {
            refuse(s, r, op, DRASYNC_EAGAIN);
            continue;
        }
        make_pending(op, r);
        if (!FAULT(s, FAULT_NEWER_LEFT))
            mark_serve(s, r);
    }
}

/* Serve @r's subscribers, except those that know the current version: the
 * writer itself told them of it. */
static void serve_those(struct step *s, struct proto_region *r)
{
    struct proto_link *next;
    for (struct proto_link *l = r->subscribers.next; l != &r->subscribers;
         l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (newer_missing(r, op))
            continue;
        op_unlist(op);
        enqueue(s, op, r);
    }
}

void subscriptions_serve(struct step *s, struct proto_region *top)
{
    if (!top->subscribed || FAULT(s, FAULT_SUBSCRIBERS_UNSERVED))
        return;
    for (struct proto_region *r = top; r && top->subscribed;
         r = proto_next(top, r)) {
        newer_spread(s, r);
        serve_those(s, r);
    }
}

/* --- At the reader -------------------------------------------------------- */

static void count_up(uint8_t *n, uint8_t max)
{
    if (*n < max)
        ++*n;
}

void subscribe_read(struct step *s, struct proto_region *r,
                    const struct proto_link *pins)
{
    struct proto_news *n = &r->news;
    if (!s->node->subscribe || r->owned || list_empty(pins))
        return;
    uint64_t version = CONTAINER(pins->next, struct proto_pin, link)->version;
    if (version == n->seen) {
        count_up(&n->times, UINT8_MAX);
        return;
    }
    n->seen = version;
    n->times_before = n->times;
    n->times = 1;
    count_up(&n->news, UINT8_MAX);
}

void subscribe_released(struct step *s, struct proto_region *r)
{
    const struct proto_news *n = &r->news;
    uint32_t times = n->times_before > n->times ? n->times_before : n->times;
    if (!s->node->subscribe || n->hinted ||
        r->root->news.open >= s->node->subscriptions_max || r->owned ||
        r->ahead || r->dead || r->gone || r->locating || !list_empty(&r->holds))
        return;
    if (n->times >= PROTO_REREADS << n->vain || times >= PROTO_REREADS_MANY)
        ahead_start_learned(s, r, 0, UINT32_MAX);
    else if (n->news >= s->node->subscribe << n->vain)
        ahead_start_learned(s, r, PROTO_NEWER, times);
}

void subscribe_promised(struct proto_op *op)
{
    if (op->learned && op->target->news.times >= PROTO_REREADS)
        op->hints = UINT32_MAX;
}

void subscription_over(const struct proto_op *op)
{
    struct proto_region *r = op->target;
    struct proto_news *n = &r->news;
    bool used = op->uses > 0 || r->sent > 0 || r->awaited > 0;
    r->root->news.open--;
    if (used && (!n->vain || ++n->used < PROTO_SUBSCRIBE_USED))
        return;
    n->used = 0;
    if (used) {
        n->vain--;
        return;
    }
    n->news = n->times = n->times_before = 0;
    count_up(&n->vain, PROTO_SUBSCRIBE_VAIN_MAX);
}
