/* refused.c - REFUSED: the token's node cannot give what was asked for. */
#include "protocol/arrival.h"

struct proto_message *refuse(struct step *s, struct proto_region *r,
                             struct proto_op *op, int error)
{
    struct proto_message *m =
        send_about(s, op->node, PROTO_REFUSED, r, op->ticket);
    m->error = (int16_t)error;
    m->via = self_of(s);
    m->epoch = r->owned ? r->epoch : 0;
    if (op->kind == OP_FOREIGN)
        op_free(s, op);
    return m;
}

void request_refused(struct step *s, struct proto_op *op, int error)
{
    struct proto_region *r = op->at;
    base_end(s, op, r);
    if (error == DRASYNC_EDELETED && op->target != r) {
        /* A part is gone: the rest is the subtree. */
        r->gone = true;
        mark_gc(s, r);
        advance(s, op);
        return;
    }
    if (error == DRASYNC_EDELETED) {
        r->gone = true;
        mark_gc(s, r);
    }
    if (error == DRASYNC_EAGAIN && op->newer && !op->detached &&
        !(op->flags & PROTO_NOWAIT)) {
        op_begin(s, op);
        return;
    }
    op_fail(s, op, error);
}

void on_REFUSED(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    struct proto_region *r = find(s, m->region);
    if (r && r->locating) {
        locate_again(s, r, m);
        return;
    }
    if (!r || r->incarnation != m->incarnation)
        return;
    struct proto_op *op = request_ended(s, r, m->ticket);
    if (!op)
        return;
    op_unlist(op);
    op->waited = m->flags & PROTO_DELETION;
    learn_hint(s, r, m->via, m->epoch);
    if (m->flags & PROTO_HOT && op->newer && !op->detached)
        newer_told(s, op);
    else
        request_refused(s, op, m->error);
    pump(s, r);
}
