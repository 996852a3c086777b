/* lookup.c - LOOKUP: which region has this name?  NAMED answers, when there is
 * one. */
#include "protocol/internal.h"

void on_LOOKUP(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_link *slot = name_slot(s->node, m->name), *l;
    struct proto_name asker = {.node = m->node, .ticket = m->ticket};
    for (l = slot->next; l != slot; l = l->next) {
        struct proto_name *name = CONTAINER(l, struct proto_name, link);
        if (strcmp(name->name, m->name))
            continue;
        lookup_answer(s, &asker, name, 0);
        return;
    }
    if (m->flags & PROTO_NOWAIT) {
        lookup_answer(s, &asker, NULL, DRASYNC_EAGAIN);
        return;
    }
    struct proto_name *lookup = NULL;
    if (s->node->lookups_count < PROTO_NAMES_MAX)
        lookup = take(s, PROTO_NAME);
    if (!lookup) {
        lookup_answer(s, &asker, NULL, DRASYNC_ENOMEM);
        return;
    }
    memset(lookup, 0, sizeof(*lookup));
    memcpy(lookup->name, m->name, sizeof(lookup->name));
    lookup->waits = true;
    lookup->node = m->node;
    lookup->ticket = m->ticket;
    list_insert(&s->node->lookups, &lookup->link);
    s->node->lookups_count++;
}

void on_NAMED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_op *op = ask_by_ticket(s, m->ticket);
    if (!op)
        return;
    list_remove(&op->link);
    if (m->error) {
        failed(s, op, m->error);
    } else if (!op->detached) {
        granted(s, op, NULL, false);
        s->out->effect[s->out->count - 1].address = m->region;
    }
    op_free(s, op);
}
