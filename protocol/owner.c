/* owner.c - OWNER: tells the home of a region where its token is, when a request
 * came a long way, or when the hints that lead there may be wrong. */
#include "protocol/internal.h"

/* What of @m's tokens has its home at @home, where this node is not. */
static void tell(struct step *s, const struct proto_message *m, uint32_t home,
                 uint64_t region)
{
    size_t send = s->out->count;
    struct proto_message *owner = send_message(s, home, PROTO_OWNER);
    owner->root = m->root;
    owner->region = region;
    owner->via = self_of(s);
    owner->ticket = m->ticket;
    for (uint32_t i = 0; i < m->items_count; i++) {
        const struct proto_item *token = &m->items[i];
        if (token->kind != PROTO_ITEM_REGION ||
            home_of(s, token->address) != home)
            continue;
        struct proto_item *item = add_item(s, send, PROTO_ITEM_OWNED);
        item->address = token->address;
        item->incarnation = token->incarnation;
        item->epoch = token->epoch;
    }
}

void tell_home(struct step *s, const struct proto_message *m)
{
    uint32_t home = home_of(s, m->region);
    if (home != self_of(s))
        tell(s, m, home, m->region);
}

void tell_homes(struct step *s, const struct proto_message *m)
{
    for (uint32_t i = 0; i < m->items_count; i++) {
        uint32_t home = home_of(s, m->items[i].address), j = 0;
        if (m->items[i].kind != PROTO_ITEM_REGION || home == self_of(s))
            continue;
        while (j < i && (m->items[j].kind != PROTO_ITEM_REGION ||
                         home_of(s, m->items[j].address) != home))
            j++;
        if (j == i)
            tell(s, m, home, m->items[i].address);
    }
}

void on_OWNER(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    uint32_t home = home_of(s, m->region);
    if (home != self_of(s)) {
        size_t send = s->out->count;
        *send_message(s, home, PROTO_OWNER) = *m;
        message_of(s, send)->items_count = 0;
        for (uint32_t i = 0; i < m->items_count; i++)
            *add_item(s, send, PROTO_ITEM_OWNED) = m->items[i];
        return;
    }
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (!r || !r->home || r->incarnation != m->items[i].incarnation)
            continue;
        learn_hint(s, r, m->via, m->items[i].epoch);
        if (r->tail_ticket == m->ticket && r->tail_node == m->via)
            r->tail_ticket = 0; /* it is no more than where the token is */
    }
}
