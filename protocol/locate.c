/*
 * locate.c - LOCATE: a rank names a region that its node has never met; the
 * region's home says, in LOCATED, which tree it is in and who has the token.
 */
#include "protocol/internal.h"

static void add_ancestors(struct step *s, size_t send,
                          const struct proto_region *r)
{
    const struct proto_region *chain[PROTO_DEPTH_MAX];
    size_t depth = 0;
    for (r = r->parent; r && depth < PROTO_DEPTH_MAX; r = r->parent)
        chain[depth++] = r;
    while (depth > 0) {
        r = chain[--depth];
        struct proto_item *item = add_item(s, send, PROTO_ITEM_ANCESTOR);
        item->address = r->address;
        item->incarnation = r->incarnation;
    }
}

void on_LOCATE(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    uint32_t home = home_of(s, m->region);
    if (home != self_of(s)) {
        *send_message(s, home, PROTO_LOCATE) = *m;
        return;
    }
    struct proto_region *r = find(s, m->region);
    size_t send = s->out->count;
    struct proto_message *answer = send_message(s, m->node, PROTO_LOCATED);
    answer->root = answer->region = m->region;
    if (!r || !r->home || r->dead) {
        answer->error = DRASYNC_ENOREGION;
        return;
    }
    answer->root = r->root->address;
    answer->incarnation = r->incarnation;
    answer->via = r->owned ? self_of(s) : r->hint;
    answer->epoch = r->epoch;
    add_ancestors(s, send, r);
}

static void located_none(struct step *s, struct proto_region *r, int error)
{
    r->locating = false;
    while (!list_empty(&r->pending)) {
        struct proto_op *op =
            CONTAINER(r->pending.next, struct proto_op, link);
        op_unlist(op);
        op_fail(s, op, error);
    }
    r->gone = true;
    mark_gc(s, r);
}

void on_LOCATED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_region *r = find(s, m->region);
    if (!r || !r->locating)
        return;
    if (m->error) {
        located_none(s, r, m->error);
        return;
    }
    uint32_t counts[PROTO_TYPES] = {0};
    counts[PROTO_REGION] = m->items_count;
    if (s->env->reserve(s->env->ctx, counts)) {
        located_none(s, r, DRASYNC_ENOMEM);
        return;
    }
    struct proto_region *parent = NULL;
    for (uint32_t i = 0; i < m->items_count && m->epoch; i++) {
        parent = region_learn(s, m->items[i].address,
                              m->items[i].incarnation, parent);
        if (!parent) {
            located_none(s, r, DRASYNC_EDELETED);
            return;
        }
        mark_gc(s, parent);
    }
    r = region_learn(s, m->region, m->incarnation, parent);
    if (!r)
        return;
    learn_hint(s, r, m->via, m->epoch);
    pump(s, r);
    mark_gc(s, r);
}
