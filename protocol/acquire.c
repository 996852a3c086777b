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
    for (struct proto_region *x = parent; x; x = x->parent)
        if (++depth >= PROTO_DEPTH_MAX)
            return DRASYNC_ELIMIT;
    struct step s;
    step_begin(&s, node, out);
    *region_out = create(&s, rank, address, memory, frames, parent);
    step_end(&s);
    return *region_out ? 0 : DRASYNC_ENOMEM;
}

bool proto_held_below(const struct proto_region *top, int32_t rank)
{
    if (!top->busy && !top->reads)
        return false;
    for (struct proto_region *r = proto_next(top, top); r;
         r = proto_next(top, r))
        if (r->write_rank == rank || hold_of(r, rank))
            return true;
    return false;
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
    else if (own_cover(r, op->rank, &have))
        complete(s, op);
    else if (proto_held_below(r, op->rank))
        op_fail(s, op, DRASYNC_EORDER);
    else if (!waits_above(op))
        op_begin(s, op);
}

static int acquire_slow(struct step *s, int32_t rank, struct proto_region *r,
                        enum drasync_mode mode, bool nowait, void *waiter,
                        struct proto_op **op_out)
{
    struct proto_op *op = op_new(s, OP_ACQUIRE, rank, r, mode, waiter);
    if (!op)
        return DRASYNC_ENOMEM;
    if (nowait)
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
    m->via = (uint32_t)home;
    m->flags = climbs ? PROTO_CLIMBS : 0;
    *region_out = r;
    return 0;
}

/* Ask where it is, and at the same time for it. */
static int acquire_unknown(struct step *s, int32_t rank, uint64_t address,
                           enum drasync_mode mode, bool nowait, void *waiter,
                           struct proto_grant *grant, struct proto_op **op_out)
{
    struct proto_region *r;
    size_t send;
    int err =
        locate_begin(s, address, mode == DRASYNC_READ && !nowait, &r, &send);
    if (err)
        return err;
    *grant = (struct proto_grant){.region = r};
    err = acquire_slow(s, rank, r, mode, nowait, waiter, op_out);
    if (err != PROTO_WAIT || !*op_out)
        return err;
    (*op_out)->ticket = s->env->ticket(s->env->ctx);
    struct proto_message *m = message_of(s, send);
    m->ticket = (*op_out)->ticket;
    m->mode = (uint8_t)mode;
    m->flags |= nowait ? PROTO_NOWAIT : 0;
    return PROTO_WAIT;
}

static int acquire(struct step *s, int32_t rank, struct proto_region *r,
                   uint64_t address, enum drasync_mode mode, bool nowait,
                   void *waiter, struct proto_grant *grant,
                   struct proto_op **op_out)
{
    enum drasync_mode have;
    if (mode != DRASYNC_READ && mode != DRASYNC_WRITE)
        return DRASYNC_EINVAL;
    if (!r)
        r = find(s, address);
    if (!r)
        return acquire_unknown(s, rank, address, mode, nowait, waiter, grant,
                               op_out);
    if (r->dead || r->gone)
        return DRASYNC_EDELETED;
    *grant = (struct proto_grant){.region = r};
    if (own_cover(r, rank, &have))
        return acquire_nested(s, rank, r, mode, have, grant);
    if (proto_held_below(r, rank))
        return DRASYNC_EORDER;
    bool above = asked_above(r, rank, UINT64_MAX) != NULL;
    if (above && nowait)
        return DRASYNC_EAGAIN;
    if (idle(r, mode) && !above)
        return acquire_idle(s, rank, r, mode, grant);
    struct proto_op *promised =
        mode == DRASYNC_READ && !above ? ahead_ready(r) : NULL;
    if (promised)
        return acquire_promised(s, rank, r, promised, grant);
    return acquire_slow(s, rank, r, mode, nowait, waiter, op_out);
}

int proto_acquire(struct proto_node *node, int32_t rank,
                  struct proto_region *region, uint64_t address,
                  enum drasync_mode mode, bool nowait, void *waiter,
                  struct proto_grant *grant_out, struct proto_op **op_out,
                  struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    *op_out = NULL;
    int err = acquire(&s, rank, region, address, mode, nowait, waiter,
                      grant_out, op_out);
    step_end(&s);
    return err;
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
