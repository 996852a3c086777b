/*
 * recall.c - RECALL: a delete asks whether a region's data is still on its way
 * out of this node (and waits until it is not), and then, with HELD, whether a
 * rank here reads it.  RECALLED answers.
 */
#include "protocol/internal.h"

void on_RECALL(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    bool busy = false;
    if (r && r->incarnation == m->incarnation) {
        if (!(m->flags & PROTO_HELD) && r->sends) {
            r->asker = from + 1;
            r->asked = PROTO_RECALL;
            return;
        }
        struct proto_link *l;
        for (l = r->copies.next; l != &r->copies; l = l->next)
            busy |= CONTAINER(l, struct proto_copy, link)->pins > 0;
    }
    struct proto_message *answer = send_message(s, from, PROTO_RECALLED);
    answer->root = m->root;
    answer->region = m->region;
    answer->incarnation = m->incarnation;
    if (busy && (m->flags & PROTO_HELD))
        answer->flags = PROTO_BUSY;
}

static void answered(struct step *s, const struct proto_message *m)
{
    struct proto_region *r = find(s, m->region);
    if (!r || r->incarnation != m->incarnation || !r->lock ||
        r->lock->kind != OP_DELETE || !r->lock->awaiting)
        return;
    struct proto_op *op = r->lock;
    if (m->flags & PROTO_BUSY)
        op->busy = true;
    op->awaiting--;
    delete_next(s, op);
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
