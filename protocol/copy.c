/* copy.c - versions of regions on this node, and who refers to them. */
#include "protocol/internal.h"

uint64_t proto_version(const struct proto_region *region)
{
    uint64_t version = region->version;
    for (const struct proto_region *r = region; r; r = r->parent)
        if (r->written > region->arrived && r->written > version)
            version = r->written;
    return version;
}

const struct proto_pin *pin_of(const struct proto_hold *hold,
                               const struct proto_region *r)
{
    /* A hold may pin 100,000 regions, but a region's copies have few pins. */
    for (const struct proto_link *c = r->copies.next; c != &r->copies;
         c = c->next) {
        const struct proto_link *head =
            &CONTAINER(c, const struct proto_copy, link)->pinned;
        for (const struct proto_link *l = head->next; l != head; l = l->next) {
            const struct proto_pin *pin =
                CONTAINER(l, const struct proto_pin, by_copy);
            if (pin->of == &hold->pins)
                return pin;
        }
    }
    return NULL;
}

uint64_t proto_seen_version(const struct proto_region *region,
                            const struct proto_hold *hold)
{
    const struct proto_pin *pin = hold ? pin_of(hold, region) : NULL;
    if (pin)
        return pin->version;
    if (region->owned)
        return proto_version(region);
    const struct proto_copy *copy = proto_newest(region);
    return copy ? copy->version : 0;
}

struct proto_copy *proto_newest(const struct proto_region *r)
{
    if (list_empty(&r->copies))
        return NULL;
    return CONTAINER(r->copies.next, struct proto_copy, link);
}

struct proto_copy *proto_older(const struct proto_region *r,
                               const struct proto_copy *copy)
{
    return copy->link.next == &r->copies
               ? NULL
               : CONTAINER(copy->link.next, struct proto_copy, link);
}

void proto_layout_changed(struct proto_region *region)
{
    region->root->layout++;
}

void pinned_update(struct proto_region *r)
{
    const struct proto_copy *copy = proto_newest(r);
    bool pinned = r->owned && copy && (copy->pins || copy->sends);
    if (pinned == r->pin_counted)
        return;
    r->pin_counted = pinned;
    count(r, COUNT_PINNED, pinned ? 1 : -1);
}

struct proto_copy *copy_new(struct step *s, struct proto_region *r,
                            uint64_t version, uint64_t arriving)
{
    struct proto_copy *copy = take(s, PROTO_COPY);
    if (!copy)
        return NULL;
    memset(copy, 0, sizeof(*copy));
    list_init(&copy->pinned);
    copy->version = version;
    copy->arriving = arriving;
    struct proto_link *at = r->copies.next;
    if (arriving && r->owned)
        at = at->next; /* the first is the current one */
    while (at != &r->copies &&
           CONTAINER(at, struct proto_copy, link)->version > version)
        at = at->next;
    list_insert(at, &copy->link);
    copies_check(s, r);
    r->root->layout++;
    pinned_update(r);
    return copy;
}

struct proto_copy *copy_find(const struct proto_region *r, uint64_t version)
{
    for (struct proto_link *l = r->copies.next; l != &r->copies; l = l->next) {
        struct proto_copy *copy = CONTAINER(l, struct proto_copy, link);
        if (copy->version == version && !copy->arriving && !copy->taken)
            return copy;
    }
    return NULL;
}

struct proto_copy *copy_here(const struct proto_region *r)
{
    for (struct proto_link *l = r->copies.next; l != &r->copies; l = l->next) {
        struct proto_copy *copy = CONTAINER(l, struct proto_copy, link);
        if (!copy->arriving && !copy->taken)
            return copy;
    }
    return NULL;
}

/* Is it worth keeping though nothing refers to it? */
static bool kept(const struct proto_region *r, const struct proto_copy *copy)
{
    if (r->gone || copy->taken)
        return false;
    if (r->owned && proto_newest(r) == copy)
        return true;
    if (copy->arriving)
        return false;
    for (struct proto_link *l = r->copies.next; l != &copy->link; l = l->next) {
        const struct proto_copy *newer = CONTAINER(l, struct proto_copy, link);
        if (!newer->arriving && !newer->taken)
            return false;
    }
    return true;
}

void copy_drop(struct step *s, struct proto_region *r, struct proto_copy *copy)
{
    list_remove(&copy->link);
    if (copy->arriving && !list_empty(&r->pending))
        mark_serve(s, r);
    if (copy->frames) {
        struct proto_effect *e = effect(s, PROTO_COPY_RELEASED);
        e->region = r;
        e->frames = copy->frames;
        e->address = r->address;
        e->memory = r->memory;
    }
    give(s, PROTO_COPY, copy);
    mark_gc(s, r);
}

void copy_check(struct step *s, struct proto_region *r, struct proto_copy *copy)
{
    if (!copy->pins && !copy->sends && !copy->bases && !kept(r, copy))
        copy_drop(s, r, copy);
}

void base_begin(struct proto_op *op, struct proto_region *r)
{
    struct proto_copy *copy = copy_here(r);
    if (op->base || !copy)
        return;
    op->base = copy;
    op->base_of = r;
    copy->bases++;
}

void base_end(struct step *s, struct proto_op *op,
              const struct proto_region *of)
{
    struct proto_copy *copy = op->base;
    struct proto_region *r = op->base_of;
    if (!copy || r != of)
        return;
    op->base = NULL;
    copy->bases--;
    copy_check(s, r, copy);
}

void bases_end(struct step *s, struct proto_region *r, struct proto_copy *copy)
{
    struct proto_link *head = &r->root->requests;
    for (struct proto_link *l = head->next; copy->bases && l != head;
         l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (op->base == copy)
            base_end(s, op, r);
    }
}

void proto_base_lost(struct proto_region *region, struct proto_copy *copy)
{
    struct proto_link *head = &region->root->arrivals;
    copy->taken = true;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_arrival *a = CONTAINER(l, struct proto_arrival, link);
        if (a->region != region || a->ticket != copy->arriving)
            continue;
        a->op->restart = true;
        a->error = DRASYNC_EAGAIN; /* for SETTLED: it will not be here */
        a->failed |= a->op->mode == DRASYNC_WRITE; /* so the token goes back */
    }
}

/* The request that the transfer with @ticket answers. */
static const struct proto_op *asker_of(const struct proto_region *root,
                                       uint64_t ticket)
{
    const struct proto_link *head = &root->arrivals;
    for (const struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_arrival *a =
            CONTAINER(l, const struct proto_arrival, link);
        if (a->ticket == ticket && !arrival_here(a))
            return a->op;
    }
    return NULL;
}

/* May @copy be overwritten with the newer version that comes with @ticket? That
 * others still believe it to be here does no harm: theirs is current no more.
 */
static bool unused(const struct proto_region *r, const struct proto_copy *copy,
                   uint64_t ticket)
{
    if (copy->pins || copy->sends)
        return false;
    if (!copy->bases)
        return true;
    const struct proto_op *op = asker_of(r->root, ticket);
    return copy->bases == 1 && op && op->base == copy;
}

void *proto_take_frames(struct proto_node *node, struct proto_region *region,
                        const struct proto_copy *copy, struct proto_copy *old)
{
    const struct step s = {.node = node};
    if (!old)
        old = copy_here(region);
    if (!old || !old->frames || old->version >= copy->version ||
        (region->owned && proto_newest(region) != copy))
        return NULL;
    void *frames = old->frames;
    if (!unused(region, old, copy->arriving))
        return FAULT(&s, FAULT_TAKE_USED) ? frames : NULL;
    old->taken = true;
    old->frames = NULL;
    return frames;
}

void copies_check(struct step *s, struct proto_region *r)
{
    struct proto_link *next;
    for (struct proto_link *l = r->copies.next; l != &r->copies; l = next) {
        struct proto_copy *copy = CONTAINER(l, struct proto_copy, link);
        next = l->next;
        if (!copy->arriving)
            copy_check(s, r, copy);
    }
}

struct proto_copy *copy_current(struct proto_region *r)
{
    struct proto_copy *copy = proto_newest(r);
    assert(copy && r->owned);
    r->version = proto_version(r);
    r->arrived = r->root->clock;
    copy->version = r->version;
    return copy;
}

struct proto_pin *pin_new(struct step *s, struct proto_link *list,
                          struct proto_region *r, struct proto_copy *copy)
{
    struct proto_pin *pin = take(s, PROTO_PIN);
    if (!pin)
        return NULL;
    pin->region = r;
    pin->copy = copy;
    pin->shared = pin->promise = pin->ahead = false;
    pin->version = copy ? copy->version : 0;
    list_insert(list, &pin->link);
    pin->of = list;
    if (copy) {
        list_insert(&copy->pinned, &pin->by_copy);
        copy->pins++;
        pinned_update(r);
    }
    return pin;
}

void unshare(struct step *s, struct proto_pin *pin)
{
    if (!pin->shared)
        return;
    pin->shared = false;
    assert(pin->region->shared > 0);
    pin->region->shared--;
    if (pin->promise) {
        pin->promise = false;
        pin->region->promised--;
    }
    count(pin->region, COUNT_BUSY, -1);
    mark_serve(s, pin->region);
    mark_gc(s, pin->region);
}

void pin_end(struct step *s, struct proto_pin *pin)
{
    struct proto_region *r = pin->region;
    unshare(s, pin);
    if (pin->copy) {
        assert(pin->copy->pins > 0);
        list_remove(&pin->by_copy);
        pin->copy->pins--;
        pin->copy->ahead -= pin->ahead;
        pinned_update(r);
        copy_check(s, r, pin->copy);
    }
    list_remove(&pin->link);
    give(s, PROTO_PIN, pin);
}

void pins_move(struct proto_link *to, struct proto_link *from)
{
    for (struct proto_link *l = from->next; l != from; l = l->next)
        CONTAINER(l, struct proto_pin, link)->of = to;
    list_move_all(to, from);
}

void pins_end(struct step *s, struct proto_link *list)
{
    while (!list_empty(list))
        pin_end(s, CONTAINER(list->next, struct proto_pin, link));
}

bool clone_pins(struct step *s, struct proto_link *from, struct proto_link *to)
{
    for (struct proto_link *l = from->next; l != from; l = l->next) {
        struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
        if (!pin_new(s, to, pin->region, pin->copy)) {
            pins_end(s, to);
            return false;
        }
    }
    return true;
}

void proto_copying(struct proto_region *region, struct proto_copy *copy)
{
    copy->sends++;
    region->sends++;
    pinned_update(region);
}

void proto_copied(struct proto_node *node, struct proto_region *region,
                  struct proto_copy *copy, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    copy->sends--;
    pinned_update(region);
    copy_check(&s, region, copy);
    region_sent(&s, region);
    step_end(&s);
}

int proto_split(struct proto_node *node, int32_t rank,
                struct proto_region *region, void *frames,
                struct proto_effects *out)
{
    enum drasync_mode mode;
    if (!own_cover(region, rank, &mode) || mode != DRASYNC_WRITE)
        return DRASYNC_ENOTHELD;
    struct step s;
    step_begin(&s, node, out);
    struct proto_copy *copy = copy_new(&s, region, proto_version(region), 0);
    if (copy)
        copy->frames = frames;
    step_end(&s);
    return copy ? 0 : DRASYNC_ENOMEM;
}

void copy_dropped(struct proto_region *r, bool dropped)
{
    if (r->dropped == dropped)
        return;
    r->dropped = dropped;
    count(r, COUNT_FORGOT, dropped ? 1 : -1);
}

/* Does nothing but subscriptions wait for an answer?  These may wait for long, so
 * they keep no base then: an answer that builds on one is not taken. */
static bool only_subscribed(struct step *s, struct proto_region *root)
{
    struct proto_link *head = &root->requests;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        const struct proto_op *op = CONTAINER(l, const struct proto_op, link);
        if (op->where != AT_NEWER && !(op->flags & PROTO_NEWER))
            return false;
    }
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (op->mode == DRASYNC_READ)
            base_end(s, op, op->base_of);
    }
    return true;
}

/* Waits a rank for the token of @r, or of what is above it, until somebody
 * writes?  What answers that counts on the copies that were here when it was
 * asked. */
static bool is_awaited(const struct proto_region *r)
{
    const struct proto_link *head = &r->root->requests, *l;
    for (; r; r = r->parent)
        for (l = head->next; r->awaited && l != head; l = l->next) {
            const struct proto_op *op =
                CONTAINER(l, const struct proto_op, link);
            if (op->at == r && op->where == AT_NEWER &&
                op->mode == DRASYNC_WRITE)
                return true;
        }
    return false;
}

bool proto_drop_copies(struct proto_node *node, struct proto_region *root,
                       struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    for (struct proto_region *r = root; r; r = proto_next(root, r))
        ahead_give_back(&s, r);
    if (!only_subscribed(&s, root) || !list_empty(&root->arrivals)) {
        step_end(&s);
        return false;
    }
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        struct proto_copy *copy = proto_newest(r);
        if (r->owned || !copy || copy->arriving || copy->pins || copy->sends ||
            copy->bases || is_awaited(r))
            continue;
        copy_dropped(r, true);
        r->present = true; /* others believe that the copy is here */
        copy_drop(&s, r, copy);
    }
    step_end(&s);
    return true;
}

bool proto_absent(const struct proto_region *r)
{
    return !r->owned && !r->gone && !r->dead && list_empty(&r->copies);
}
