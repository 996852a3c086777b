/*
 * recall.c - RECALL: a delete asks whether data of its regions is still on its
 * way out of this node, and then, with HELD, whether a rank here reads them.
 * RECALLED answers: at once about all of which no data is on its way, and later
 * about each of the others.
 */
#include "protocol/internal.h"

/* An answer to @m, without items yet. */
static struct proto_message *answer_to(struct step *s, uint32_t to,
                                       enum proto_message_type type,
                                       const struct proto_message *m)
{
    struct proto_message *answer = send_message(s, to, type);
    answer->root = m->root;
    answer->region = m->region;
    answer->incarnation = m->incarnation;
    return answer;
}

void answer_deletion(struct step *s, uint32_t to, enum proto_message_type type,
                     const struct proto_message *m, uint16_t flags)
{
    size_t send = s->out->count;
    answer_to(s, to, type, m)->flags = flags;
    effect_of(s, send)->lazy =
        type == PROTO_BURIED || m->flags & PROTO_DELETION;
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (r && r->incarnation == m->items[i].incarnation && r->asker)
            continue;
        *add_item(s, send, PROTO_ITEM_DELETED) = m->items[i];
    }
    if (!s->out->failed && !message_of(s, send)->items_count)
        s->out->count = send; /* nothing to say yet */
}

/* Whom this node knows at each region of @m: several messages, if need be. */
static void answer_presence(struct step *s, uint32_t to,
                            const struct proto_message *m)
{
    size_t send = s->out->count;
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (i == 0 ||
            message_of(s, send)->items_count >= s->node->answer_items) {
            send = s->out->count;
            answer_to(s, to, PROTO_RECALLED, m)->flags = PROTO_MORE;
        }
        *add_item(s, send, PROTO_ITEM_DELETED) = m->items[i];
        if (!r || r->incarnation != m->items[i].incarnation)
            continue;
        for (struct proto_link *l = r->presence.next; l != &r->presence;
             l = l->next) {
            const struct proto_presence *p =
                CONTAINER(l, struct proto_presence, link);
            presence_item(s, send, p->node, 0, p->more, true);
        }
    }
}

void on_RECALL(struct step *s, uint32_t from, const struct proto_message *m)
{
    bool held = m->flags & PROTO_HELD, busy = false;
    if (m->flags & PROTO_MORE) {
        answer_presence(s, from, m);
        return;
    }
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (!r || r->incarnation != m->items[i].incarnation)
            continue;
        if (!held && r->sends) {
            r->asker = from + 1;
            r->asked = PROTO_RECALL;
        }
        struct proto_link *l;
        for (l = r->copies.next; held && l != &r->copies; l = l->next)
            busy |= copy_read(s, CONTAINER(l, struct proto_copy, link)) > 0;
    }
    answer_deletion(s, from, PROTO_RECALLED, m, busy ? PROTO_BUSY : 0);
}

/* The last answer that a stage awaits begins the next, or ends the delete. */
static void answered(struct step *s, const struct proto_message *m)
{
    int err = m->flags & PROTO_MORE ? presence_answered(s, m) : 0;
    for (uint32_t i = 0; i < m->items_count; i++) {
        struct proto_region *r = find(s, m->items[i].address);
        if (m->items[i].kind != PROTO_ITEM_DELETED || !r ||
            r->incarnation != m->items[i].incarnation || !r->lock ||
            r->lock->kind != OP_DELETE || !r->lock->awaiting)
            continue;
        struct proto_op *op = r->lock;
        if (m->flags & PROTO_BUSY)
            op->busy = true;
        if (err)
            op->error = err;
        if (--op->awaiting == 0)
            delete_next(s, op);
    }
}

void on_RECALLED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    answered(s, m);
}

void on_BURIED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    answered(s, m);
}
