/*
 * chain.c - the lines in which requests wait for a token: each at the node of
 * the request before it, which has the token next, and not in one long queue
 * that travels.
 *
 * A region's home knows the last of the line.  A request that comes by, and is
 * to wait, is sent to wait behind that, once, and is the last from then on.  If
 * the one before it has been served already, it goes on after the token, and
 * waits nowhere but where that is.  A queue that is too long to travel becomes
 * such a line too.  docs/protocol.md says why nobody waits in a ring.
 */
#include "protocol/internal.h"

/* An own request for @r will bring the token here. */
static bool brings_token(const struct proto_op *op,
                         const struct proto_region *r)
{
    return op->at == r && op->mode == DRASYNC_WRITE &&
           !(op->flags & PROTO_NOWAIT) && op->where != AT_NEWER;
}

static bool own_waits(const struct proto_region *r, uint64_t ticket)
{
    const struct proto_op *op =
        r->sent ? request_by_ticket((struct proto_region *)(uintptr_t)r, ticket)
                : NULL;
    return op && brings_token(op, r);
}

/* The same, later than move @epoch. */
static bool owner_to_be(const struct proto_region *r, uint64_t epoch)
{
    if (!r->sent)
        return false;
    const struct proto_link *head = &r->root->requests;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_op *op = CONTAINER(l, const struct proto_op, link);
        if (brings_token(op, r) && op->sent_epoch >= epoch)
            return true;
    }
    return false;
}

/* Nobody waits for a READ in a queue, so it may wait wherever the token comes. */
static bool may_wait(const struct proto_region *r, uint8_t mode, uint16_t flags,
                     uint64_t epoch, uint64_t after)
{
    if (mode == DRASYNC_READ)
        return owner_to_be(r, 0);
    if (flags & PROTO_CHAINED)
        return after && own_waits(r, after);
    return owner_to_be(r, epoch + 1);
}

bool chain_waits(const struct proto_region *r, const struct proto_message *m)
{
    return !(m->flags & PROTO_NOWAIT) &&
           may_wait(r, m->mode, m->flags, m->epoch, m->after);
}

bool chain_stays(struct step *s, const struct proto_region *r,
                 const struct proto_op *op)
{
    if (op->after && op->after_node != self_of(s))
        return false;
    return may_wait(r, op->mode, op->flags, op->sent_epoch, op->after);
}

uint32_t chain_join(struct step *s, struct proto_region *r,
                    struct proto_message *m, uint32_t to)
{
    if (!r->home || m->mode != DRASYNC_WRITE ||
        (m->flags & (PROTO_NOWAIT | PROTO_CHAINED | PROTO_LOST | PROTO_NEWER)))
        return to;
    m->flags |= PROTO_CHAINED;
    /* What was asked for here and is over is no place to wait. */
    if (r->tail_ticket &&
        (r->tail_node != self_of(s) || own_waits(r, r->tail_ticket))) {
        m->after = r->tail_ticket;
        to = r->tail_node;
    }
    r->tail_node = m->node;
    r->tail_ticket = m->ticket;
    return to;
}

/* @op goes with the token, in the message at @send. */
static void travel(struct step *s, size_t send, struct proto_region *r,
                   struct proto_op *op)
{
    struct proto_item *item = NULL;
    op_unlist(op);
    if (!FAULT(s, FAULT_LOSE_WAITERS))
        item = add_item(s, send, PROTO_ITEM_WAITER);
    if (is_local(op)) {
        op->where = AT_OWNER;
        op->ticket = s->env->ticket(s->env->ctx);
        op->sent_epoch = r->epoch + 1;
        r->sent++;
        list_insert(&r->root->requests, &op->link);
    }
    if (!item)
        return;
    item->node = op->node;
    item->version = op->ticket;
    item->mode = op->mode;
    item->flags = is_local(op) ? request_flags(op, r) : op->flags;
}

void chain_cut(struct step *s, size_t send, struct proto_region *r)
{
    uint32_t left = s->node->waiters_max, last_node = 0;
    uint64_t last = 0;
    struct proto_link *next;
    for (struct proto_link *l = r->queue.next; l != &r->queue; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (left || !last) {
            left -= left > 0;
            travel(s, send, r, op);
        } else {
            op_unlist(op);
            make_pending(op, r);
            if (is_local(op))
                continue; /* it asks again */
            op->flags |= PROTO_CHAINED;
            op->after = last;
            op->after_node = last_node;
        }
        if (op->mode == DRASYNC_WRITE) {
            last = op->ticket;
            last_node = op->node;
        }
        if (op->where == AT_NOTHING)
            op_free(s, op);
    }
    if (r->home && last) {
        r->tail_node = last_node;
        r->tail_ticket = last;
    }
}
