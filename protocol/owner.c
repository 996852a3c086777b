/* owner.c - OWNER: tells the home of a region that was long looked for where
 * its token is, so that the next request finds it in a few hops. */
#include "protocol/internal.h"

void tell_home(struct step *s, const struct proto_message *m)
{
    uint32_t home = home_of(s, m->region);
    if (home == self_of(s))
        return;
    size_t send = s->out->count;
    struct proto_message *owner = send_message(s, home, PROTO_OWNER);
    owner->root = m->root;
    owner->region = m->region;
    owner->via = self_of(s);
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *region = &m->items[i];
        if (region->kind != PROTO_ITEM_REGION ||
            home_of(s, region->address) != home)
            continue;
        struct proto_item *item = add_item(s, send, PROTO_ITEM_OWNED);
        item->address = region->address;
        item->incarnation = region->incarnation;
        item->epoch = region->epoch;
    }
}

void on_OWNER(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    uint32_t home = home_of(s, m->region);
    if (home != self_of(s)) {
        size_t send = s->out->count;
        *send_message(s, home, PROTO_OWNER) = *m;
        s->out->effect[send].message.items_count = 0;
        for (uint32_t i = 0; i < m->items_count; i++)
            *add_item(s, send, PROTO_ITEM_OWNED) = m->items[i];
        return;
    }
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (r && r->home && r->incarnation == m->items[i].incarnation)
            learn_hint(s, r, m->via, m->items[i].epoch);
    }
}
