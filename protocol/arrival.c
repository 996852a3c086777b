/* arrival.c - the data of a TRANSFER is in place, or cannot be. */
#include "protocol/arrival.h"

static void say_settled(struct step *s, const struct proto_arrival *a,
                        int error)
{
    size_t send = s->out->count;
    if (FAULT(s, FAULT_NO_SETTLED))
        return;
    send_about(s, a->node, PROTO_SETTLED, a->region, a->ticket)->error =
        (int16_t)error;
    /* Who keeps no writers out for it has time, but not for much at once. */
    effect_of(s, send)->late = !error && !a->shared && !a->several;
}

/* The sender may forget this transfer. */
void arrival_end(struct step *s, struct proto_arrival *a, int error)
{
    say_settled(s, a, error);
    list_remove(&a->by_op);
    list_remove(&a->link);
    a->region->keeps--;
    mark_gc(s, a->region);
    give(s, PROTO_ARRIVAL, a);
}

struct proto_op *request_ended(struct step *s, struct proto_region *r,
                               uint64_t ticket)
{
    struct proto_op *op = request_by_ticket(r, ticket);
    const struct proto_arrival *last;
    if (!op || list_empty(&op->arrivals))
        return op;
    last = CONTAINER(op->arrivals.prev, const struct proto_arrival, by_op);
    if (!last->more)
        return op;
    poison(s, "a request is answered between the portions of its answer");
    return NULL;
}

static struct proto_copy *copy_of(struct proto_region *r, uint64_t ticket)
{
    for (struct proto_link *l = r->copies.next; l != &r->copies; l = l->next) {
        struct proto_copy *copy = CONTAINER(l, struct proto_copy, link);
        if (copy->arriving == ticket)
            return copy;
    }
    return NULL;
}

/* Below this lies all that it brings. */
static struct proto_region *top_of(const struct proto_arrival *a)
{
    return a->wide ? a->op->target : a->region;
}

static void copy_came(struct step *s, struct proto_region *r,
                      struct proto_copy *copy)
{
    copy->arriving = 0;
    /* What was to be built on a base that is lost is not here. */
    if (!copy->taken)
        copy_dropped(r, false);
    if (!list_empty(&r->pending))
        mark_serve(s, r);
    copies_check(s, r);
}

/* What it brings mostly begins with its region, and lies side by side: of a tree
 * that comes in many answers each one is not looked for in all of it. */
static void data_here(struct step *s, struct proto_arrival *a)
{
    struct proto_region *top = top_of(a);
    struct proto_region *first = a->region->indexed ? a->region : top,
                        *r = first;
    uint32_t left = a->copies;

    while (left) {
        struct proto_copy *copy = copy_of(r, a->ticket);
        if (copy) {
            copy_came(s, r, copy);
            left--;
        }
        r = proto_next(top, r);
        if (!r && first != top)
            r = top;
        if (!r || r == first)
            break;
    }
}

/* No memory for the data: tokens go back to where it still is. */
static void data_failed(struct step *s, struct proto_arrival *a)
{
    struct proto_region *top = top_of(a);
    bool token = a->op->mode == DRASYNC_WRITE;
    size_t send = s->out->count;
    if (token) {
        send_about(s, a->node, PROTO_BOUNCE, a->region, a->ticket);
        message_of(s, send)->mode = DRASYNC_WRITE;
    }
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_copy *copy = copy_of(r, a->ticket);
        if (!copy)
            continue;
        if (token) {
            token_items(s, send, r, a->node);
            token_leave(s, r, a->node);
            r->lock = NULL;
            count(r, COUNT_BUSY, -1);
            copy_drop(s, r, copy);
        }
        /* A reader's copy goes with its pin; what it overwrote goes now. */
        copies_check(s, r);
    }
    for (struct proto_region *r = top; token && r; r = proto_next(top, r))
        pump(s, r);
}

void arrival_advance(struct step *s, struct proto_arrival *a)
{
    struct proto_op *op = a->op;
    if (!arrival_here(a))
        return;
    if (a->failed && !(op->restart && FAULT(s, FAULT_BASE_LOST)))
        data_failed(s, a);
    else if (a->data)
        data_here(s, a);
    base_end(s, op, a->region);
    /* What others have from here is settled after they have settled it. */
    if ((!a->shared && !op->relays) || op->mode == DRASYNC_WRITE)
        arrival_end(s, a, a->error);
}

/* Nobody waits for @op, whose request is out for as long as another rank keeps
 * what it asks for: that rank may wait for what @op has locked. */
void op_let_go(struct step *s, struct proto_op *op)
{
    if (!op->detached || op->awaiting || op->kind != OP_ACQUIRE ||
        op->where != AT_OWNER || !list_empty(&op->followers))
        return;
    for (struct proto_link *l = op->arrivals.next; l != &op->arrivals;
         l = l->next)
        if (!arrival_here(CONTAINER(l, struct proto_arrival, by_op)))
            return;
    op_unlock(s, op);
    op_settle(s, op);
}

void proto_arrived(struct proto_node *node, struct proto_region *root,
                   uint32_t from, uint64_t ticket, int error,
                   struct proto_effects *out)
{
    struct step s;
    struct proto_arrival *a = NULL;
    struct proto_link *head = &root->root->arrivals;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        a = CONTAINER(l, struct proto_arrival, link);
        if (a->node == from && a->ticket == ticket && a->awaiting)
            break;
        a = NULL;
    }
    if (!a)
        return;
    step_begin(&s, node, out);
    struct proto_op *op = a->op;
    a->awaiting--;
    op->awaiting--;
    if (error) {
        a->failed = true;
        a->error = error;
        if (!op->error)
            op->error = error;
        failed(&s, op, error);
    }
    arrival_advance(&s, a);
    if (op->where == AT_NOTHING)
        advance(&s, op);
    else
        op_let_go(&s, op);
    step_end(&s);
}
