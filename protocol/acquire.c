/* acquire.c - what ranks ask for: new regions, and holds. */
#include "protocol/internal.h"

static struct proto_region *create(struct step *s, int32_t rank,
                                   uint64_t address, void *memory, void *frames,
                                   struct proto_region *parent)
{
    struct proto_region *r =
        region_new(s, address, s->env->stamp(s->env->ctx), parent);
    if (!r)
        return NULL;
    r->memory = memory;
    r->home = true;
    r->epoch = 1;
    r->version = ++r->root->clock;
    r->arrived = r->version;
    struct proto_copy *copy = copy_new(s, r, r->version, 0);
    if (!copy) {
        r->home = false;
        r->gone = true;
        r->memory = NULL;
        mark_gc(s, r);
        return NULL;
    }
    copy->frames = frames;
    set_owned(r, true);
    recovery_inherit(r);
    if (!parent)
        grant_write(r, rank);
    return r;
}

int proto_create_root(struct proto_node *node, int32_t rank, uint64_t address,
                      void *memory, void *frames,
                      struct proto_region **region_out,
                      struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    *region_out = create(&s, rank, address, memory, frames, NULL);
    step_end(&s);
    return *region_out ? 0 : DRASYNC_ENOMEM;
}

int proto_create_subregion(struct proto_node *node, int32_t rank,
                           struct proto_region *parent, uint64_t address,
                           void *memory, void *frames,
                           struct proto_region **region_out,
                           struct proto_effects *out)
{
    enum drasync_mode mode;
    int depth = 0;
    if (parent->dead || parent->gone)
        return DRASYNC_EDELETED;
    if (!own_cover(parent, rank, &mode) || mode != DRASYNC_WRITE)
        return DRASYNC_ENOTHELD;
    /* The delete has listed what is below. */
    if (parent->lock && parent->lock->kind == OP_DELETE)
        return DRASYNC_EBUSY;
    for (struct proto_region *x = parent; x; x = x->parent)
        if (++depth >= PROTO_DEPTH_MAX)
            return DRASYNC_ELIMIT;
    struct step s;
    step_begin(&s, node, out);
    *region_out = create(&s, rank, address, memory, frames, parent);
    step_end(&s);
    return *region_out ? 0 : DRASYNC_ENOMEM;
}

const struct proto_region *proto_held_below(const struct proto_region *top,
                                            int32_t rank)
{
    if (!top->busy && !top->reads)
        return NULL;
    for (struct proto_region *r = proto_next(top, top); r;
         r = proto_next(top, r))
        if (r->write_rank == rank || hold_of(r, rank))
            return r;
    return NULL;
}

static struct proto_hold *hold_new(struct step *s, int32_t rank, bool covered)
{
    struct proto_hold *hold = take(s, PROTO_HOLD);
    if (!hold)
        return NULL;
    memset(hold, 0, sizeof(*hold));
    hold->rank = rank;
    hold->covered = covered;
    list_init(&hold->link);
    list_init(&hold->pins);
    return hold;
}

/* @rank has a hold of @have that covers @r. */
static int acquire_nested(struct step *s, int32_t rank, struct proto_region *r,
                          enum drasync_mode mode, enum drasync_mode have,
                          struct proto_grant *grant)
{
    if (mode == DRASYNC_WRITE) {
        if (have == DRASYNC_READ)
            return DRASYNC_EUPGRADE;
        grant_write(r, rank);
        grant->split = r->pinned > 0;
        return 0;
    }
    struct proto_hold *hold = hold_of(r, rank);
    if (hold) {
        hold->count++;
    } else {
        hold = hold_new(s, rank, true);
        if (!hold)
            return DRASYNC_ENOMEM;
        hold_link(hold, r);
    }
    grant->hold = hold;
    return 0;
}

/* Nothing stands in the way of a hold of @r's subtree, here and now. */
static bool idle(const struct proto_region *r, enum drasync_mode mode)
{
    if (!r->owned || r->away || r->waiting || r->dead)
        return false;
    if (r->busy && !(mode == DRASYNC_READ && proto_promised_only(r)))
        return false;
    for (r = r->parent; r; r = r->parent)
        if (r->write_rank >= 0)
            return false;
    return true;
}

static int acquire_idle(struct step *s, int32_t rank, struct proto_region *r,
                        enum drasync_mode mode, struct proto_grant *grant)
{
    ahead_token_used(s, r, true);
    if (mode == DRASYNC_WRITE) {
        if (!previous_keep(s, r))
            return DRASYNC_ENOMEM;
        grant_write(r, rank);
        if (!FAULT(s, FAULT_SAME_VERSION))
            r->written = ++r->root->clock;
        grant->split = r->pinned > 0 && !FAULT(s, FAULT_NO_SPLIT);
        end_above(s, r, rank);
        return 0;
    }
    struct proto_hold *hold = hold_new(s, rank, false);
    if (!hold)
        return DRASYNC_ENOMEM;
    if (!pin_subtree(s, &hold->pins, r)) {
        give(s, PROTO_HOLD, hold);
        return DRASYNC_ENOMEM;
    }
    hold_link(hold, r);
    grant->hold = hold;
    end_above(s, r, rank);
    return 0;
}

/* What was asked ahead is here, and nobody has written it since. */
static int acquire_promised(struct step *s, int32_t rank,
                            struct proto_region *r, struct proto_op *promised,
                            struct proto_grant *grant)
{
    struct proto_hold *hold = hold_new(s, rank, false);
    if (!hold)
        return DRASYNC_ENOMEM;
    if (!ahead_take(s, promised, hold)) {
        give(s, PROTO_HOLD, hold);
        return DRASYNC_ENOMEM;
    }
    hold_link(hold, r);
    grant->hold = hold;
    end_above(s, r, rank);
    return 0;
}

/* If @op's rank has asked for what is above before, @op begins after that. */
static bool waits_above(struct proto_op *op)
{
    struct proto_op *above = asked_above(op->target, op->rank, op->born);
    if (!above)
        return false;
    op->at = op->target;
    op->where = AT_ABOVE;
    list_insert(&above->below, &op->link);
    return true;
}

void acquires_located(struct proto_region *r)
{
    struct proto_link *next;
    for (struct proto_link *l = r->pending.next; l != &r->pending; l = next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        next = l->next;
        if (op->kind != OP_ACQUIRE || op->detached ||
            (op->flags & PROTO_NOWAIT) || !asked_above(r, op->rank, op->born))
            continue;
        op_unlist(op);
        waits_above(op);
    }
}

void acquire_answered(struct step *s, struct proto_op *op)
{
    enum drasync_mode have;
    const struct proto_region *r = op->target;
    op_unlist(op);
    if (r->dead || r->gone)
        op_fail(s, op, DRASYNC_EDELETED);
    else if (own_cover(r, op->rank, &have) && op->newer)
        op_fail(s, op, DRASYNC_ENESTED);
    else if (own_cover(r, op->rank, &have))
        complete(s, op);
    else if (proto_held_below(r, op->rank))
        op_fail(s, op, DRASYNC_EORDER);
    else if (!waits_above(op))
        op_begin(s, op);
}

/* A request for what is newer than @asked's version, which a rank that gave up
 * has left under way: it is @asked's from now on, or there is none. */
static struct proto_op *take_over(struct proto_region *r,
                                  const struct proto_asked *asked)
{
    struct proto_link *head = &r->asking;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
        if (!op->detached || op->where != AT_NEWER || op->mode != asked->mode ||
            op->newer != asked->newer || op->flags & PROTO_NOWAIT)
            continue;
        op->detached = false;
        op->rank = asked->rank;
        op->waiter = asked->waiter;
        if (op->hold)
            op->hold->rank = asked->rank;
        return op;
    }
    return NULL;
}

static int acquire_slow(struct step *s, struct proto_region *r,
                        const struct proto_asked *asked,
                        struct proto_op **op_out)
{
    bool above = asked_above(r, asked->rank, UINT64_MAX) != NULL;
    if (asked->newer && !asked->nowait && !above)
        *op_out = take_over(r, asked);
    if (*op_out)
        return PROTO_WAIT;
    struct proto_op *op =
        op_new(s, OP_ACQUIRE, asked->rank, r, asked->mode, asked->waiter);
    if (!op)
        return DRASYNC_ENOMEM;
    op->newer = asked->newer;
    op->asked_newer = asked->newer;
    if (asked->nowait)
        op->flags |= PROTO_NOWAIT;
    if (waits_above(op) || op_begin(s, op))
        *op_out = op;
    return PROTO_WAIT;
}

int locate_begin(struct step *s, uint64_t address, bool read,
                 struct proto_region **region_out, size_t *send_out)
{
    int64_t home = s->env->home(s->env->ctx, address);
    if (home == -2 || home == (int64_t)self_of(s) || s->env->nodes == 1)
        return DRASYNC_ENOREGION;
    struct proto_region *r = region_new(s, address, 0, NULL);
    if (!r)
        return DRASYNC_ENOMEM;
    r->locating = true;
    bool climbs = read && climb_pays(s, (uint32_t)home);
    *send_out = s->out->count;
    struct proto_message *m =
        send_message(s, climbs ? climb_from(s, (uint32_t)home) : (uint32_t)home,
                     PROTO_LOCATE);
    m->root = m->region = address;
    m->after = s->env->ticket(s->env->ctx);
    m->via = (uint32_t)home;
    m->flags = climbs ? PROTO_CLIMBS : 0;
    *region_out = r;
    return 0;
}

/* Ask where it is, and at the same time for it, whatever its version is. */
static int acquire_unknown(struct step *s, uint64_t address,
                           const struct proto_asked *asked,
                           struct proto_grant *grant, struct proto_op **op_out)
{
    struct proto_region *r;
    size_t send;
    bool read = asked->mode == DRASYNC_READ && !asked->nowait && !asked->newer;
    int err = locate_begin(s, address, read, &r, &send);
    if (err)
        return err;
    *grant = (struct proto_grant){.region = r};
    err = acquire_slow(s, r, asked, op_out);
    if (err != PROTO_WAIT || !*op_out)
        return err;
    struct proto_message *m = message_of(s, send);
    m->after = s->env->ticket(s->env->ctx);
    if (asked->newer)
        return err;
    (*op_out)->ticket = m->after;
    m->ticket = (*op_out)->ticket;
    m->mode = (uint8_t)asked->mode;
    m->flags |= asked->nowait ? PROTO_NOWAIT : 0;
    return PROTO_WAIT;
}

/* What this node was promised of @r, if it is what @asked wants. */
static struct proto_op *promised_for(struct step *s, struct proto_region *r,
                                     const struct proto_asked *asked)
{
    struct proto_op *op = asked->mode == DRASYNC_READ ? ahead_ready(r) : NULL;
    if (!op || !asked->newer || ahead_version(op) > asked->newer)
        return op;
    /* It would only keep the writer out who is waited for. */
    ahead_give_back(s, r);
    return NULL;
}

static int acquire(struct step *s, struct proto_region *r, uint64_t address,
                   const struct proto_asked *asked, struct proto_grant *grant,
                   struct proto_op **op_out)
{
    enum drasync_mode have;
    if (asked->mode != DRASYNC_READ && asked->mode != DRASYNC_WRITE)
        return DRASYNC_EINVAL;
    if (!r)
        r = find(s, address);
    if (!r)
        return acquire_unknown(s, address, asked, grant, op_out);
    if (r->dead || r->gone)
        return DRASYNC_EDELETED;
    *grant = (struct proto_grant){.region = r};
    if (own_cover(r, asked->rank, &have))
        return asked->newer ? DRASYNC_ENESTED
                            : acquire_nested(s, asked->rank, r, asked->mode,
                                             have, grant);
    if (proto_held_below(r, asked->rank))
        return DRASYNC_EORDER;
    if (r->losses)
        return DRASYNC_ELOST;
    bool above = asked_above(r, asked->rank, UINT64_MAX) != NULL;
    if (above && asked->nowait)
        return DRASYNC_EAGAIN;
    if (asked->newer && r->owned && proto_version(r) < asked->newer)
        return DRASYNC_EINVAL;
    bool known = asked->newer && r->owned && proto_version(r) == asked->newer;
    if (idle(r, asked->mode) && !above && !known)
        return acquire_idle(s, asked->rank, r, asked->mode, grant);
    struct proto_op *promised = above ? NULL : promised_for(s, r, asked);
    if (promised)
        return acquire_promised(s, asked->rank, r, promised, grant);
    return acquire_slow(s, r, asked, op_out);
}

void proto_forget_gone(struct proto_node *node, struct proto_region *r,
                       struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    s.forgets = true;
    if (r->gone && !r->dead && !r->owned && !r->home && !r->sends)
        region_dead(&s, r);
    step_end(&s);
}

int proto_acquire_as(struct proto_node *node, struct proto_region *region,
                     uint64_t address, const struct proto_asked *asked,
                     struct proto_grant *grant_out, struct proto_op **op_out,
                     struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    *op_out = NULL;
    int err = acquire(&s, region, address, asked, grant_out, op_out);
    step_end(&s);
    return err;
}

int proto_acquire(struct proto_node *node, int32_t rank,
                  struct proto_region *region, uint64_t address,
                  enum drasync_mode mode, bool nowait, void *waiter,
                  struct proto_grant *grant_out, struct proto_op **op_out,
                  struct proto_effects *out)
{
    const struct proto_asked asked = {
        .rank = rank, .mode = mode, .nowait = nowait, .waiter = waiter};
    return proto_acquire_as(node, region, address, &asked, grant_out, op_out,
                            out);
}

/* The region a delete is about, or an error. */
static int delete_target(struct step *s, int32_t rank, uint64_t address,
                         struct proto_region **region)
{
    enum drasync_mode have;
    struct proto_region *r = *region ? *region : find(s, address);
    if (!r) {
        size_t send;
        int err = locate_begin(s, address, false, &r, &send);
        if (err)
            return err;
    }
    *region = r;
    if (r->dead || r->gone)
        return DRASYNC_EDELETED;
    if (own_cover(r, rank, &have) && have == DRASYNC_READ)
        return DRASYNC_EUPGRADE;
    return 0;
}

int proto_delete(struct proto_node *node, int32_t rank,
                 struct proto_region *region, uint64_t address, void *waiter,
                 struct proto_effects *out)
{
    struct step s;
    struct proto_op *op = NULL;
    step_begin(&s, node, out);
    int err = delete_target(&s, rank, address, &region);
    if (!err) {
        op = op_new(&s, OP_DELETE, rank, region, DRASYNC_WRITE, waiter);
        if (op && !part_push(&s, op, &op->parts, region)) {
            op_free(&s, op);
            op = NULL;
        }
        if (!op)
            err = DRASYNC_ENOMEM;
    }
    if (op) {
        op->flags |= PROTO_NOWAIT | PROTO_DELETION;
        advance(&s, op);
    }
    step_end(&s);
    return err ? err : PROTO_WAIT;
}
