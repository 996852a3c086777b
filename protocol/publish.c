/* publish.c - PUBLISH: by way of the region's home, which knows whether it
 * lives, to the manager, which keeps the name. */
#include "protocol/internal.h"

static void manager_publish(struct step *s, const struct proto_message *m)
{
    struct proto_link *slot = name_slot(s->node, m->name), *l;
    struct proto_name asker = {.node = m->node, .ticket = m->ticket};
    for (l = slot->next; l != slot; l = l->next) {
        if (strcmp(CONTAINER(l, struct proto_name, link)->name, m->name))
            continue;
        lookup_answer(s, &asker, NULL, DRASYNC_EEXIST);
        return;
    }
    struct proto_name *name = NULL;
    if (s->node->names_count < PROTO_NAMES_MAX)
        name = take(s, PROTO_NAME);
    if (!name) {
        lookup_answer(s, &asker, NULL, DRASYNC_ENOMEM);
        return;
    }
    memset(name, 0, sizeof(*name));
    memcpy(name->name, m->name, sizeof(name->name));
    name->region = m->region;
    name->incarnation = m->incarnation;
    list_insert(slot, &name->link);
    s->node->names_count++;
    lookup_answer(s, &asker, NULL, 0);
    struct proto_link *next;
    for (l = s->node->lookups.next; l != &s->node->lookups; l = next) {
        struct proto_name *lookup = CONTAINER(l, struct proto_name, link);
        next = l->next;
        if (strcmp(lookup->name, name->name))
            continue;
        list_remove(&lookup->link);
        s->node->lookups_count--;
        lookup_answer(s, lookup, name, 0);
        give(s, PROTO_NAME, lookup);
    }
}

void on_PUBLISH(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_message on = *m;
    if (!m->incarnation) {
        uint32_t home = home_of(s, m->region);
        if (home != self_of(s)) {
            *send_message(s, home, PROTO_PUBLISH) = *m;
            return;
        }
        struct proto_region *r = find(s, m->region);
        if (!r || !r->home || r->dead) {
            struct proto_name asker = {.node = m->node, .ticket = m->ticket};
            lookup_answer(s, &asker, NULL, DRASYNC_ENOREGION);
            return;
        }
        r->named = true;
        on.incarnation = r->incarnation;
    }
    if (self_of(s) == 0)
        manager_publish(s, &on);
    else
        *send_message(s, 0, PROTO_PUBLISH) = on;
}
