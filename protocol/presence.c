/*
 * presence.c - which nodes may have copies or hints of a region, and the
 * version each has: kept where the token is, up to what may travel with it.
 *
 * A longer list stays where it is when the token leaves, and the token's says
 * that this node knows of more.  Only a delete needs them all: it asks such
 * nodes first (RECALL with MORE), and those they name.
 *
 * A list is in order of arrival, for walks that repeat, and a tree by the bits
 * of the nodes' numbers, the lowest first, to find one: at most 17 deep.
 */
#include "protocol/internal.h"

static struct proto_presence **place_of(struct proto_region *r, uint32_t node)
{
    struct proto_presence **at = &r->presence_top;
    for (uint32_t bits = node; *at && (*at)->node != node; bits >>= 1)
        at = &(*at)->below[bits & 1];
    return at;
}

struct proto_presence *presence_of(struct proto_region *r, uint32_t node)
{
    return *place_of(r, node);
}

struct proto_presence *presence_add(struct step *s, struct proto_region *r,
                                    uint32_t node, uint64_t version,
                                    unsigned flags)
{
    struct proto_presence **at = place_of(r, node), *p = *at;
    if (!p) {
        p = take(s, PROTO_PRESENCE);
        if (!p)
            return NULL;
        memset(p, 0, sizeof(*p));
        p->node = node;
        list_insert(&r->presence, &p->link);
        r->presence_count++;
        *at = p;
    }
    if (p->version < version)
        p->version = version;
    p->more |= (flags & PROTO_MORE) != 0;
    if (flags & PROTO_BUSY) {
        p->reads = true;
        p->granted = 0;
    }
    return p;
}

void presence_end(struct step *s, struct proto_region *r)
{
    while (!list_empty(&r->presence)) {
        struct proto_presence *p =
            CONTAINER(r->presence.next, struct proto_presence, link);
        list_remove(&p->link);
        give(s, PROTO_PRESENCE, p);
    }
    r->presence_top = NULL;
    r->presence_count = 0;
}

/* Is the list too long to travel? */
static bool stays(struct step *s, const struct proto_region *r)
{
    return r->presence_count > s->node->presence_max;
}

void presence_item(struct step *s, size_t send, uint32_t node, uint64_t version,
                   bool more, bool reads)
{
    struct proto_item *item = add_item(s, send, PROTO_ITEM_PRESENCE);
    item->node = node;
    item->version = version;
    item->flags = (more ? PROTO_MORE : 0) | (reads ? PROTO_BUSY : 0);
}

/* Does a rank of this node have READ holds of @r, or will it? */
static bool read_here(struct step *s, const struct proto_region *r)
{
    for (const struct proto_link *l = r->copies.next; l != &r->copies;
         l = l->next)
        if (copy_read(s, CONTAINER(l, const struct proto_copy, link)))
            return true;
    return false;
}

bool presence_to_come(const struct proto_region *r)
{
    for (const struct proto_link *l = r->asking.next; l != &r->asking;
         l = l->next)
        if (CONTAINER(l, const struct proto_op, by_target)->relays)
            return true;
    return false;
}

void presence_items(struct step *s, size_t send, const struct proto_region *r,
                    uint32_t to)
{
    bool longer = stays(s, r), sends = r->sends > 1; /* this is one */
    const struct proto_link *l = longer ? &r->presence : r->presence.next;
    for (; l != &r->presence; l = l->next) {
        const struct proto_presence *p =
            CONTAINER(l, const struct proto_presence, link);
        if (p->node != to && p->node != self_of(s))
            presence_item(s, send, p->node, p->version, p->more, p->reads);
    }
    presence_item(s, send, self_of(s),
                  copy_find(r, r->version) ? r->version : 0,
                  longer || sends || presence_to_come(r),
                  read_here(s, r) && !FAULT(s, FAULT_FORGET_READS));
}

void presence_leave(struct step *s, struct proto_region *r)
{
    if (!stays(s, r))
        presence_end(s, r);
}

int presence_answered(struct step *s, const struct proto_message *m)
{
    uint32_t counts[PROTO_TYPES] = {0};
    struct proto_region *r = NULL;
    counts[PROTO_PRESENCE] = m->items_count;
    if (s->env->reserve(s->env->ctx, counts))
        return DRASYNC_ENOMEM;
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *item = &m->items[i];
        if (item->kind == PROTO_ITEM_DELETED) {
            r = find(s, item->address);
            if (r && r->incarnation != item->incarnation)
                r = NULL;
        } else if (r && item->node != self_of(s)) {
            bool more = item->flags & PROTO_MORE;
            const struct proto_presence *p = presence_of(r, item->node);
            if (r->lock && (!p || (more && !p->more)))
                r->lock->found = true;
            presence_add(s, r, item->node, 0, item->flags);
        }
    }
    return 0;
}
