/* bounce.c - BOUNCE: a TRANSFER that finds no memory, or that nobody waits for,
 * sends its tokens back. */
#include "protocol/internal.h"

/* Nothing of @m can be kept: its tokens go back to @from, who has the data. */
void bounce(struct step *s, uint32_t from, const struct proto_message *m)
{
    if (m->mode == DRASYNC_WRITE) {
        size_t send = s->out->count;
        *send_message(s, from, PROTO_BOUNCE) = *m;
        struct proto_message *back = message_of(s, send);
        back->type = PROTO_BOUNCE;
        back->flags = 0;
        back->version = back->after = 0;
        back->items_count = 0;
        back->via = self_of(s);
        for (uint32_t i = 0; i < m->items_count; i++) {
            if (m->items[i].kind == PROTO_ITEM_UNSENT ||
                m->items[i].kind == PROTO_ITEM_ANCESTOR)
                continue;
            struct proto_item *item = add_item(s, send, m->items[i].kind);
            *item = m->items[i];
            if (item->kind != PROTO_ITEM_REGION)
                continue;
            item->flags = 0;
            uint64_t address = item->address, epoch = ++item->epoch;
            uint64_t incarnation = item->incarnation;
            /* Older copies may be here, and read. */
            struct proto_item *own = add_item(s, send, PROTO_ITEM_PRESENCE);
            own->node = self_of(s);
            own->flags = PROTO_BUSY;
            struct proto_region *x = find(s, address);
            if (!x || x->incarnation != incarnation)
                continue;
            learn_hint(s, x, from, epoch);
            if (x->presence_count || presence_to_come(x))
                own->flags |= PROTO_MORE;
        }
    }
    struct proto_message *settled = send_message(s, from, PROTO_SETTLED);
    settled->root = m->root;
    settled->region = m->region;
    settled->incarnation = m->incarnation;
    settled->ticket = m->ticket;
    settled->error = DRASYNC_ENOMEM;
}
