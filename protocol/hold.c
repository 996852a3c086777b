/* hold.c - holds of this node's ranks: nesting, release, questions. */
#include "protocol/internal.h"

struct proto_hold *hold_of(const struct proto_region *r, int32_t rank)
{
    for (struct proto_link *l = r->holds.next; l != &r->holds; l = l->next) {
        struct proto_hold *hold = CONTAINER(l, struct proto_hold, link);
        if (hold->rank == rank)
            return hold;
    }
    return NULL;
}

struct proto_hold *proto_read_hold(const struct proto_region *region,
                                   int32_t rank)
{
    return hold_of(region, rank);
}

/* Is @r part of what @hold pins? */
static bool sees(const struct proto_hold *hold, const struct proto_region *r)
{
    return hold->region == r || pin_of(hold, r);
}

/* The hold of @rank that covers @r, except @but: WRITE before READ. */
static bool cover(const struct proto_region *r, int32_t rank,
                  const struct proto_hold *but, struct proto_hold **hold_out,
                  enum drasync_mode *mode_out)
{
    const struct proto_region *x;
    *hold_out = NULL;
    /* A WRITE hold has all that lives: what is elsewhere is deleted. */
    for (x = r->owned ? r : NULL; x; x = x->parent) {
        if (x->write_rank == rank) {
            *mode_out = DRASYNC_WRITE;
            return true;
        }
    }
    for (x = r; x; x = x->parent) {
        if (list_empty(&x->holds))
            continue;
        struct proto_hold *hold = hold_of(x, rank);
        if (!hold || hold == but || hold->covered || !sees(hold, r))
            continue;
        *mode_out = DRASYNC_READ;
        *hold_out = hold;
        return true;
    }
    return false;
}

bool own_cover(const struct proto_region *r, int32_t rank,
               enum drasync_mode *mode_out)
{
    struct proto_hold *hold;
    return cover(r, rank, NULL, &hold, mode_out);
}

int proto_held_version(const struct proto_region *region, int32_t rank,
                       uint64_t *version_out)
{
    struct proto_hold *hold;
    enum drasync_mode mode;
    if (!cover(region, rank, NULL, &hold, &mode))
        return DRASYNC_ENOTHELD;
    *version_out = proto_seen_version(region, hold);
    return 0;
}

int proto_held(const struct proto_region *region, int32_t rank)
{
    enum drasync_mode mode;
    return own_cover(region, rank, &mode) ? (int)mode : 0;
}

void hold_link(struct proto_hold *hold, struct proto_region *r)
{
    hold->region = r;
    hold->count = 1;
    list_insert(&r->holds, &hold->link);
    count(r, COUNT_READS, 1);
}

void hold_end(struct step *s, struct proto_hold *hold)
{
    struct proto_region *r = hold->region;
    pins_end(s, &hold->pins);
    list_remove(&hold->link);
    count(r, COUNT_READS, -1);
    mark_gc(s, r);
    give(s, PROTO_HOLD, hold);
    unread(s, r);
    ahead_released(s, r);
    subscribe_released(s, r);
}

void grant_write(struct proto_region *r, int32_t rank)
{
    if (r->write_rank < 0) {
        r->write_rank = rank;
        r->write_count = 0;
        count(r, COUNT_BUSY, 1);
    }
    r->write_count++;
}

struct proto_op *asked_by(const struct proto_region *r, int32_t rank,
                          uint64_t born)
{
    for (struct proto_link *l = r->asking.next; l != &r->asking; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, by_target);
        if (op->rank == rank && op->born < born && !op->detached)
            return op;
    }
    return NULL;
}

struct proto_op *asked_above(const struct proto_region *r, int32_t rank,
                             uint64_t born)
{
    struct proto_op *op;
    while ((r = r->parent) != NULL)
        if ((op = asked_by(r, rank, born)) != NULL)
            return op;
    return NULL;
}

void end_above(struct step *s, const struct proto_region *r, int32_t rank)
{
    struct proto_op *op;
    while ((r = r->parent) != NULL) {
        if (list_empty(&r->asking))
            continue;
        const struct proto_hold *hold = hold_of(r, rank);
        if (r->write_rank == rank || (hold && !hold->covered))
            return;
        while ((op = asked_by(r, rank, UINT64_MAX)) != NULL)
            op_give_up(s, op, DRASYNC_EORDER);
    }
}

bool pin_subtree(struct step *s, struct proto_link *list,
                 struct proto_region *top)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        /* What is elsewhere is deleted, and this node has yet to be told. */
        if (r->dead || r->gone || !r->owned)
            continue;
        if (!pin_new(s, list, r, copy_current(r))) {
            pins_end(s, list);
            return false;
        }
    }
    return true;
}

static bool is_below(const struct proto_region *r,
                     const struct proto_region *top)
{
    for (; r; r = r->parent)
        if (r == top)
            return true;
    return false;
}

/*
 * @hold was covered by something that is released: @ended (READ), or a WRITE
 * hold.  Give it pins of its own, unless something else of the rank covers it;
 * what the rank waits for above it would be out of order then.
 */
static void uncover(struct step *s, struct proto_hold *hold,
                    struct proto_hold *ended)
{
    struct proto_hold *other;
    enum drasync_mode mode;
    struct proto_region *top = hold->region;
    if (cover(top, hold->rank, hold, &other, &mode))
        return;
    hold->covered = false;
    end_above(s, top, hold->rank);
    if (!ended) {
        if (top->busy == 0 && pin_subtree(s, &hold->pins, top))
            return;
        /* The rank writes below, or there is no memory for pins: the hold
         * stays as strong as before until it is released. */
        for (uint32_t i = 0; i < hold->count; i++)
            grant_write(top, hold->rank);
        hold_end(s, hold);
        return;
    }
    struct proto_link *next;
    for (struct proto_link *l = ended->pins.next; l != &ended->pins; l = next) {
        struct proto_pin *pin = CONTAINER(l, struct proto_pin, link);
        next = l->next;
        if (!is_below(pin->region, top))
            continue;
        list_remove(l);
        list_insert(&hold->pins, l);
        pin->of = &hold->pins;
    }
}

/* The holds of @rank in @top's subtree that @ended (NULL: WRITE) covered. */
static void uncover_below(struct step *s, struct proto_region *top,
                          int32_t rank, struct proto_hold *ended)
{
    uint32_t own = ended ? 1 : 0;
    if (top->reads <= own)
        return;
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_hold *hold = hold_of(r, rank);
        if (hold && hold != ended && hold->covered)
            uncover(s, hold, ended);
    }
}

void write_end(struct step *s, struct proto_region *r)
{
    int32_t rank = r->write_rank;
    r->write_rank = -1;
    r->write_count = 0;
    count(r, COUNT_BUSY, -1);
    previous_end(s, r);
    uncover_below(s, r, rank, NULL);
    /* What it waits for above what it still writes is out of order now. */
    for (struct proto_region *x = r->busy ? r : NULL; x; x = proto_next(r, x))
        if (x->write_rank == rank)
            end_above(s, x, rank);
    subscriptions_serve(s, r);
    mark_serve_below(s, r);
}

void proto_pass(struct proto_node *node, struct proto_region *region,
                int32_t rank, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    region->write_rank = rank;
    region->written = ++region->root->clock;
    end_above(&s, region, rank);
    step_end(&s);
}

static void read_end(struct step *s, struct proto_hold *hold)
{
    if (!hold->covered) {
        hold->covered = true; /* it covers no more */
        uncover_below(s, hold->region, hold->rank, hold);
    }
    hold_end(s, hold);
}

/* One hold less: @hold for READ, NULL for WRITE. */
static void give_back(struct proto_node *node, struct proto_region *r,
                      struct proto_hold *hold, struct proto_effects *out)
{
    uint32_t *count = hold ? &hold->count : &r->write_count;
    struct step s;

    if (*count > 1) {
        --*count;
        return;
    }
    step_begin(&s, node, out);
    if (hold)
        read_end(&s, hold);
    else
        write_end(&s, r);
    step_end(&s);
}

int proto_release(struct proto_node *node, int32_t rank, struct proto_region *r,
                  enum drasync_mode mode, struct proto_effects *out)
{
    bool writes = r->write_rank == rank;
    struct proto_hold *hold = NULL;

    if (mode == DRASYNC_READ || !writes)
        hold = hold_of(r, rank);
    if (!hold && !writes)
        return DRASYNC_ENOTHELD;
    give_back(node, r, hold, out);
    return 0;
}

void proto_end_rank(struct proto_node *node, int32_t rank,
                    struct proto_region *top, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    /* READ holds first, so that none is left for a WRITE hold to uncover. */
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_hold *hold;
        while ((hold = hold_of(r, rank)) != NULL)
            hold_end(&s, hold);
    }
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        if (r->write_rank == rank)
            write_end(&s, r);
    step_end(&s);
}
