/*
 * bury.c - BURY: a region is deleted; forget it.  When all nodes have, its
 * addresses go back to where they were cut (FREED), and may be used again.
 */
#include "protocol/internal.h"

void on_BURY(struct step *s, uint32_t from, const struct proto_message *m)
{
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (!r || r->incarnation != m->items[i].incarnation)
            continue;
        if (r->sends) {
            r->asker = from + 1;
            r->asked = PROTO_BURY;
            continue;
        }
        region_dead(s, r);
    }
    answer_deletion(s, from, PROTO_BURIED, m, 0);
}

/* The next home after @home (-1: the first), in order of number, of @op's
 * regions or of what they have; -1: no more. */
static int64_t next_home(struct step *s, struct proto_op *op, int64_t home)
{
    struct proto_region *top = op->target;
    int64_t next = -1;
    for (struct proto_region *r = top; r; r = next_locked(op, r)) {
        uint64_t address = r->address, pages;
        for (uint32_t i = 0;; i++) {
            int64_t of = home_of(s, address);
            if (of > home && (next < 0 || of < next))
                next = of;
            if (!s->env->extent(s->env->ctx, r, i, &address, &pages))
                break;
        }
    }
    return next;
}

/* What goes back to a home, in messages that are made one after the other. */
struct freeing {
    const struct proto_region *top;
    uint32_t home;
    size_t send;   /* the last of them, */
    uint32_t room; /* which takes so many more */
};

static struct proto_item *freed_item(struct step *s, struct freeing *f,
                                     enum proto_item_kind kind)
{
    if (!f->room) {
        f->room = s->node->answer_items;
        f->send = s->out->count;
        send_about(s, f->home, PROTO_FREED, f->top, 0);
        effect_of(s, f->send)->lazy = true;
    }
    f->room--;
    return add_item(s, f->send, kind);
}

/* What of @r has its home there.  The region comes before its extents, which
 * are used again. */
static void free_at(struct step *s, struct freeing *f,
                    const struct proto_region *r)
{
    uint64_t address, pages;
    bool own = f->home == self_of(s);
    if (!own && home_of(s, r->address) == f->home) {
        struct proto_item *item = freed_item(s, f, PROTO_ITEM_DELETED);
        item->address = r->address;
        item->incarnation = r->incarnation;
    }
    for (uint32_t i = 0; s->env->extent(s->env->ctx, r, i, &address, &pages);
         i++) {
        if (home_of(s, address) != f->home)
            continue;
        if (own) {
            struct proto_effect *e = effect(s, PROTO_EXTENT);
            e->address = address;
            e->pages = pages;
            continue;
        }
        struct proto_item *item = freed_item(s, f, PROTO_ITEM_EXTENT);
        item->address = address;
        item->version = pages;
    }
}

/* FREED to each home. */
static void free_all(struct step *s, struct proto_op *op)
{
    struct proto_region *top = op->target;
    int64_t home = -1;
    if (FAULT(s, FAULT_LOSE_EXTENTS))
        return;
    if (s->env->nodes == 1) {
        struct freeing own = {.top = top, .home = self_of(s)};
        for (struct proto_region *r = top; r; r = next_locked(op, r))
            free_at(s, &own, r);
        return;
    }
    while ((home = next_home(s, op, home)) >= 0) {
        struct freeing f = {.top = top, .home = (uint32_t)home};
        for (struct proto_region *r = top; r; r = next_locked(op, r))
            free_at(s, &f, r);
    }
}

/* All nodes have forgotten the subtree of @op; so does this one. */
void bury_end(struct step *s, struct proto_op *op)
{
    struct proto_region *top = op->target, *r;
    for (r = top; r; r = next_locked(op, r)) {
        if (r->sends)
            return;
    }
    free_all(s, op);
    for (r = top; r; r = next_locked(op, r)) {
        presence_end(s, r);
        set_owned(r, false);
        copies_check(s, r);
    }
    op->stage = DELETE_GATHER;
    for (r = top; r; r = next_locked(op, r))
        count(r, COUNT_BUSY, -1);
    region_dead(s, top);
    for (r = top; r; r = proto_next(top, r))
        if (r->lock == op)
            r->lock = NULL;
    op_free(s, op);
}

/* A manager passes on what a sender could not tell the home of. */
static void pass_on(struct step *s, const struct proto_message *m,
                    uint32_t home)
{
    size_t send = s->out->count;
    struct proto_message *on = send_message(s, home, PROTO_FREED);
    on->root = m->root;
    on->region = m->region;
    on->incarnation = m->incarnation;
    for (uint32_t i = 0; i < m->items_count; i++)
        if (home_of(s, m->items[i].address) == home)
            *add_item(s, send, m->items[i].kind) = m->items[i];
}

/* Is item @i the first of its home? */
static bool first_of_home(struct step *s, const struct proto_message *m,
                          uint32_t i)
{
    uint32_t home = home_of(s, m->items[i].address);
    for (uint32_t j = 0; j < i; j++)
        if (home_of(s, m->items[j].address) == home)
            return false;
    return true;
}

void on_FREED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        uint32_t home = home_of(s, item->address);
        if (home != self_of(s)) {
            if (first_of_home(s, m, i))
                pass_on(s, m, home);
            continue;
        }
        if (item->kind == PROTO_ITEM_EXTENT) {
            struct proto_effect *e = effect(s, PROTO_EXTENT);
            e->address = item->address;
            e->pages = item->version;
            continue;
        }
        struct proto_region *r = find(s, item->address);
        if (r && r->incarnation == item->incarnation)
            region_dead(s, r);
    }
}
