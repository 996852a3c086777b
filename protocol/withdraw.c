/* withdraw.c - WITHDRAW: the names of a region that was deleted go; or, with
 * CANCEL, a lookup that nobody waits for any more. */
#include "protocol/internal.h"

static void withdraw_lookup(struct step *s, const struct proto_message *m)
{
    struct proto_link *head = &s->node->lookups;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_name *lookup = CONTAINER(l, struct proto_name, link);
        if (lookup->node != m->node || lookup->ticket != m->ticket)
            continue;
        list_remove(&lookup->link);
        s->node->lookups_count--;
        give(s, PROTO_NAME, lookup);
        return;
    }
}

void on_WITHDRAW(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    if (m->flags & PROTO_CANCEL) {
        withdraw_lookup(s, m);
        return;
    }
    for (int i = 0; i < PROTO_NAME_SLOTS; i++) {
        struct proto_link *slot = &s->node->names[i], *next;
        for (struct proto_link *l = slot->next; l != slot; l = next) {
            struct proto_name *name = CONTAINER(l, struct proto_name, link);
            next = l->next;
            if (name->region != m->region ||
                name->incarnation != m->incarnation)
                continue;
            list_remove(&name->link);
            s->node->names_count--;
            give(s, PROTO_NAME, name);
        }
    }
}
