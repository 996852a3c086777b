/*
 * subscribe.c - what a node READs again and again comes when it is written.
 *
 * A node whose READs of a region have brought another version each time asks
 * ahead for the next one, when its last reader has released.  The owner keeps
 * that request until a writer releases; the data then leaves with a promise, as
 * of anything asked ahead (ahead.c), and the next READ needs no message.
 *
 * A subscription is no obstacle to anybody, nor does it travel: who takes the
 * token away, or deletes the region, ends it.  One that was of no use makes its
 * node wait for twice as many READs before the next.
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

void subscriptions_end(struct step *s, struct proto_region *r, int error)
{
    while (!list_empty(&r->subscribers))
        refuse(s, r, first_of(r), error);
}

void subscriptions_serve(struct step *s, struct proto_region *top)
{
    if (!top->subscribed || FAULT(s, FAULT_SUBSCRIBERS_UNSERVED))
        return;
    for (struct proto_region *r = top; r && top->subscribed;
         r = proto_next(top, r))
        while (!list_empty(&r->subscribers))
            enqueue(s, first_of(r), r);
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
    if (!s->node->subscribe || n->news < s->node->subscribe << n->vain ||
        n->hinted || r->root->news.open >= s->node->subscriptions_max ||
        r->owned || r->ahead || r->dead || r->gone || r->locating ||
        !list_empty(&r->holds))
        return;
    ahead_start(s, r, DRASYNC_READ, PROTO_NEWER,
                n->times_before > n->times ? n->times_before : n->times);
}

void subscription_over(struct proto_region *r, bool used)
{
    struct proto_news *n = &r->news;
    r->root->news.open--;
    if (used && (!n->vain || ++n->used < PROTO_SUBSCRIBE_USED))
        return;
    n->used = 0;
    if (used) {
        n->vain--;
        return;
    }
    n->news = 0;
    count_up(&n->vain, PROTO_SUBSCRIBE_VAIN_MAX);
}
