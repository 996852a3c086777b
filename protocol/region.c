/* region.c - the records of regions: links, sums, hints, and their end. */
#include "protocol/internal.h"

size_t proto_object_size(enum proto_type type)
{
    switch (type) {
    case PROTO_REGION:
        return sizeof(struct proto_region);
    case PROTO_COPY:
        return sizeof(struct proto_copy);
    case PROTO_PIN:
        return sizeof(struct proto_pin);
    case PROTO_HOLD:
        return sizeof(struct proto_hold);
    case PROTO_OP:
        return sizeof(struct proto_op);
    case PROTO_PART:
        return sizeof(struct proto_part);
    case PROTO_SENDING:
        return sizeof(struct proto_sending);
    case PROTO_ARRIVAL:
        return sizeof(struct proto_arrival);
    case PROTO_PRESENCE:
        return sizeof(struct proto_presence);
    case PROTO_TYPES:
        break;
    }
    return 0;
}

static uint32_t *counter_of(struct proto_region *r, enum counter which)
{
    switch (which) {
    case COUNT_AWAY:
        return &r->away;
    case COUNT_BUSY:
        return &r->busy;
    case COUNT_WAITING:
        return &r->waiting;
    case COUNT_READS:
        return &r->reads;
    case COUNT_PINNED:
        return &r->pinned;
    case COUNT_FORGOT:
        return &r->forgot;
    case COUNT_LOST:
        return &r->losses;
    case COUNT_ASKING:
        return &r->asked_for;
    case COUNT_SUBSCRIBED:
        break;
    }
    return &r->subscribed;
}

void count(struct proto_region *r, enum counter which, int delta)
{
    for (; r; r = r->parent) {
        uint32_t *sum = counter_of(r, which);
        assert(delta >= 0 || *sum >= (uint32_t)-delta);
        *sum += (uint32_t)delta;
    }
}

static void count_all(struct proto_region *from, const struct proto_region *r,
                      int sign)
{
    count(from, COUNT_AWAY, sign * (int)r->away);
    count(from, COUNT_BUSY, sign * (int)r->busy);
    count(from, COUNT_WAITING, sign * (int)r->waiting);
    count(from, COUNT_READS, sign * (int)r->reads);
    count(from, COUNT_PINNED, sign * (int)r->pinned);
    count(from, COUNT_FORGOT, sign * (int)r->forgot);
    count(from, COUNT_LOST, sign * (int)r->losses);
    count(from, COUNT_SUBSCRIBED, sign * (int)r->subscribed);
    count(from, COUNT_ASKING, sign * (int)r->asked_for);
}

void region_link(struct proto_region *r, struct proto_region *parent)
{
    r->parent = parent;
    r->root = parent ? parent->root : r;
    if (!parent)
        return;
    list_insert(&parent->children, &r->sibling);
    parent->children_count++;
    count_all(parent, r, 1);
}

static void region_unlink(struct proto_region *r)
{
    if (!r->parent)
        return;
    count_all(r->parent, r, -1);
    list_remove(&r->sibling);
    r->parent->children_count--;
    r->parent = NULL;
}

struct proto_region *region_new(struct step *s, uint64_t address,
                                uint64_t incarnation,
                                struct proto_region *parent)
{
    struct proto_region *r = take(s, PROTO_REGION);
    if (!r)
        return NULL;
    memset(r, 0, sizeof(*r));
    r->address = address;
    r->incarnation = incarnation;
    r->write_rank = -1;
    r->away = 1;
    struct proto_link *lists[] = {
        &r->sibling,     &r->children, &r->holds,    &r->copies,   &r->queue,
        &r->pending,     &r->presence, &r->sendings, &r->requests, &r->arrivals,
        &r->serve,       &r->gc,       &r->parts,    &r->asking,   &r->locates,
        &r->subscribers, &r->previous,
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        list_init(lists[i]);
    if (s->env->insert(s->env->ctx, r)) {
        give(s, PROTO_REGION, r);
        return NULL;
    }
    r->indexed = true;
    region_link(r, parent);
    return r;
}

void region_unindex(struct step *s, struct proto_region *r)
{
    if (!r->indexed)
        return;
    s->env->remove(s->env->ctx, r);
    r->indexed = false;
}

struct proto_region *region_learn(struct step *s, uint64_t address,
                                  uint64_t incarnation,
                                  struct proto_region *parent)
{
    struct proto_region *r = find(s, address);
    if (r && r->locating) {
        r->locating = false;
        r->incarnation = incarnation;
        region_link(r, parent);
        acquires_located(r);
        mark_serve(s, r); /* what waits here goes on at the step's end */
        return r;
    }
    if (r && r->incarnation == incarnation)
        return r->forgotten ? NULL : r;
    if (r && r->incarnation > incarnation)
        return NULL; /* that one is gone, its address was used again */
    if (!r && home_of(s, address) == self_of(s))
        return NULL; /* the home knows all that live */
    if (r) {
        s->forgets = true;
        region_dead(s, r);
        s->forgets = false;
        if (r->indexed) /* still being sent: nobody has its address already */
            return NULL;
    }
    return region_new(s, address, incarnation, parent);
}

void mark_gc(struct step *s, struct proto_region *r)
{
    if (r && list_empty(&r->gc))
        list_insert(&s->gc, &r->gc);
}

void mark_serve(struct step *s, struct proto_region *r)
{
    if (list_empty(&r->serve))
        list_insert(&s->serve, &r->serve);
}

void mark_serve_below(struct step *s, struct proto_region *top)
{
    if (!top->waiting)
        return;
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        if (!list_empty(&r->queue))
            mark_serve(s, r);
}

static bool removable(const struct proto_region *r)
{
    if (r->owned || r->home || r->present || r->keeps || r->sends || r->sent ||
        r->shared || r->lock || r->write_count || r->locating)
        return false;
    if (r->parent && r->parent->owned && !r->gone && !r->dead)
        return false;
    return list_empty(&r->children) && list_empty(&r->holds) &&
           list_empty(&r->copies) && list_empty(&r->queue) &&
           list_empty(&r->pending) && list_empty(&r->sendings) &&
           list_empty(&r->requests) && list_empty(&r->arrivals) &&
           list_empty(&r->parts) && list_empty(&r->locates);
}

/* The caller's memory of @r goes, or there is none. */
static void memory_gone(struct step *s, struct proto_region *r)
{
    struct proto_effect *e = effect(s, PROTO_GONE);
    e->memory = r->memory;
    e->address = r->address;
    e->dead = r->dead;
    r->memory = NULL;
}

void collect(struct step *s)
{
    while (!list_empty(&s->gc)) {
        struct proto_region *r = CONTAINER(s->gc.next, struct proto_region, gc);
        list_remove(&r->gc);
        if (!removable(r))
            continue;
        struct proto_region *parent = r->parent;
        region_unlink(r);
        region_unindex(s, r);
        list_remove(&r->serve);
        memory_gone(s, r);
        give(s, PROTO_REGION, r);
        mark_gc(s, parent);
    }
}

void set_owned(struct proto_region *r, bool owned)
{
    if (r->owned == owned)
        return;
    r->owned = owned;
    count(r, COUNT_AWAY, owned ? -1 : 1);
    pinned_update(r);
}

uint32_t home_of(struct step *s, uint64_t address)
{
    int64_t home = s->env->home(s->env->ctx, address);
    return home < 0 ? 0 : (uint32_t)home;
}

void learn_hint(struct step *s, struct proto_region *r, uint32_t node,
                uint64_t epoch)
{
    if (r->owned || node == self_of(s) || epoch <= r->epoch)
        return;
    r->hint = node;
    r->epoch = epoch;
}

/* End what waits for @r alone: pending operations and requests. */
void region_end_waiting(struct step *s, struct proto_region *r)
{
    subscriptions_end(s, r, DRASYNC_EDELETED);
    struct proto_link *lists[] = {&r->queue, &r->pending};
    for (int i = 0; i < 2; i++) {
        while (!list_empty(lists[i])) {
            struct proto_op *op =
                CONTAINER(lists[i]->next, struct proto_op, link);
            op_unlist(op);
            if (op->kind == OP_FOREIGN) {
                /* Other ranks of that node may ask later for a new region at
                 * this address, so it has to hear of the deletion. */
                presence_add(s, r, op->node, 0, 0);
                refuse(s, r, op, DRASYNC_EDELETED)->flags |= PROTO_DELETION;
            } else {
                op->waited = !s->forgets;
                request_refused(s, op, DRASYNC_EDELETED);
            }
        }
    }
    struct proto_link *next;
    for (struct proto_link *l = r->asking.next; l != &r->asking; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
        next = l->next;
        if (op->where != AT_ABOVE)
            continue;
        op_unlist(op);
        op->waited = !s->forgets;
        op_fail(s, op, DRASYNC_EDELETED);
        next = r->asking.next;
    }
    if (!r->sent && !r->awaited && !r->ahead)
        return;
    struct proto_link *requests = &r->root->requests;
    for (struct proto_link *l = requests->next; l != requests; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (op->at != r)
            continue;
        op_unlist(op);
        op->waited = !s->forgets;
        request_refused(s, op, DRASYNC_EDELETED);
        next = requests->next;
    }
}

static void region_dead_one(struct step *s, struct proto_region *r)
{
    r->gone = r->dead = r->forgotten = true;
    r->present = false;
    r->home = false;
    ahead_give_back(s, r);
    region_end_waiting(s, r);
    presence_end(s, r);
    while (!list_empty(&r->parts)) {
        struct proto_part *part =
            CONTAINER(r->parts.next, struct proto_part, by_region);
        list_remove(&part->by_region);
        part->region = NULL;
    }
    copies_check(s, r);
    /* SETTLED, RECALL and BURY have to find what is still being sent. */
    if (!r->sends)
        region_unindex(s, r);
    /* The record may be here for as long as this node buries what is below it,
     * but the addresses are used again. */
    if (list_empty(&r->copies))
        memory_gone(s, r);
    mark_gc(s, r);
}

void region_dead(struct step *s, struct proto_region *top)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        if (r->indexed && !(r->lock && r->lock->stage >= DELETE_DEAD))
            region_dead_one(s, r); /* not what this node is burying itself */
}

struct proto_region *proto_next(const struct proto_region *top,
                                const struct proto_region *at)
{
    if (!at)
        return (struct proto_region *)(uintptr_t)top;
    if (!list_empty(&at->children))
        return CONTAINER(at->children.next, struct proto_region, sibling);
    return proto_next_beyond(top, at);
}

struct proto_region *proto_next_beyond(const struct proto_region *top,
                                       const struct proto_region *at)
{
    while (at != top) {
        if (at->sibling.next != &at->parent->children)
            return CONTAINER(at->sibling.next, struct proto_region, sibling);
        at = at->parent;
    }
    return NULL;
}
