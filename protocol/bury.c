/*
 * bury.c - BURY: a region is deleted; forget it.  When all nodes have, its
 * addresses go back to where they were cut (FREED), and may be used again.
 */
#include "protocol/internal.h"

void on_BURY(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (r && r->incarnation == m->incarnation) {
        if (r->sends) {
            r->asker = from + 1;
            r->asked = PROTO_BURY;
            return;
        }
        region_dead(s, r);
    }
    struct proto_message *answer = send_message(s, from, PROTO_BURIED);
    answer->root = m->root;
    answer->region = m->region;
    answer->incarnation = m->incarnation;
}

/* One FREED for @r: what of its extents was cut at @home. */
static void free_at(struct step *s, const struct proto_region *r, uint32_t home)
{
    uint64_t address, pages;
    size_t send = s->out->count;
    bool own = home == home_of(s, r->address);
    bool started = own && home != self_of(s);
    if (started)
        send_about(s, home, PROTO_FREED, r, 0);
    for (uint32_t i = 0; s->env->extent(s->env->ctx, r, i, &address, &pages);
         i++) {
        if (home_of(s, address) != home)
            continue;
        if (home == self_of(s)) {
            struct proto_effect *e = effect(s, PROTO_EXTENT);
            e->address = address;
            e->pages = pages;
            continue;
        }
        if (!started)
            send_about(s, home, PROTO_FREED, r, 0);
        started = true;
        struct proto_item *item = add_item(s, send, PROTO_ITEM_EXTENT);
        item->address = address;
        item->version = pages;
    }
}

/* Is extent @i the first of @r's that was cut at its home? */
static bool first_of_home(struct step *s, const struct proto_region *r,
                          uint32_t i, uint32_t *home_out)
{
    uint64_t address, pages;
    s->env->extent(s->env->ctx, r, i, &address, &pages);
    *home_out = home_of(s, address);
    for (uint32_t j = 0; j < i; j++) {
        s->env->extent(s->env->ctx, r, j, &address, &pages);
        if (home_of(s, address) == *home_out)
            return false;
    }
    return true;
}

static void free_extents(struct step *s, const struct proto_region *r)
{
    uint64_t address, pages;
    uint32_t home, own = home_of(s, r->address);
    bool told = false;
    if (FAULT(s, FAULT_LOSE_EXTENTS))
        return;
    if (s->env->nodes == 1) {
        free_at(s, r, own);
        return;
    }
    for (uint32_t i = 0; s->env->extent(s->env->ctx, r, i, &address, &pages);
         i++) {
        if (!first_of_home(s, r, i, &home))
            continue;
        told |= home == own;
        free_at(s, r, home);
    }
    if (!told && own != self_of(s))
        free_at(s, r, own);
}

/* All nodes have forgotten the subtree of @op; so does this one. */
void bury_end(struct step *s, struct proto_op *op)
{
    struct proto_region *top = op->target, *r;
    for (r = top; r; r = next_locked(op, r)) {
        if (r->sends)
            return;
    }
    for (r = top; r; r = next_locked(op, r)) {
        while (!list_empty(&r->presence)) {
            struct proto_presence *p =
                CONTAINER(r->presence.next, struct proto_presence, link);
            list_remove(&p->link);
            give(s, PROTO_PRESENCE, p);
        }
        free_extents(s, r);
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

/* The manager passes on what a sender could not tell the home of. */
static void pass_on(struct step *s, const struct proto_message *m,
                    const struct proto_item *item, uint32_t home)
{
    size_t send = s->out->count;
    struct proto_message *on = send_message(s, home, PROTO_FREED);
    on->root = m->root;
    on->region = m->region;
    on->incarnation = m->incarnation;
    if (item)
        *add_item(s, send, PROTO_ITEM_EXTENT) = *item;
}

void on_FREED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_region *r = find(s, m->region);
    uint32_t own = home_of(s, m->region);
    if (r && r->incarnation == m->incarnation)
        region_dead(s, r);
    else if (self_of(s) == 0 && own != 0)
        pass_on(s, m, NULL, own);
    for (uint32_t i = 0; i < m->items_count; i++) {
        uint32_t home = home_of(s, m->items[i].address);
        if (home != self_of(s)) {
            if (self_of(s) == 0)
                pass_on(s, m, &m->items[i], home);
            continue;
        }
        struct proto_effect *e = effect(s, PROTO_EXTENT);
        e->address = m->items[i].address;
        e->pages = m->items[i].version;
    }
}
