/* chunk.c - CHUNK_REQUEST: a node's lane is used up; the manager cuts it a
 * chunk of the shared half of the space (CHUNK_GRANT). */
#include "protocol/internal.h"

void on_CHUNK_REQUEST(struct step *s, uint32_t from,
                      const struct proto_message *m)
{
    (void)from;
    struct proto_message grant = {.type = PROTO_CHUNK_GRANT,
                                  .node = m->node,
                                  .ticket = m->ticket};
    s->env->chunk_cut(s->env->ctx, m->node, m->version, &grant.region,
                      &grant.version);
    if (m->node == self_of(s))
        on_CHUNK_GRANT(s, self_of(s), &grant);
    else
        *send_message(s, m->node, PROTO_CHUNK_GRANT) = grant;
}

void on_CHUNK_GRANT(struct step *s, uint32_t from,
                    const struct proto_message *m)
{
    (void)from;
    struct proto_op *op = ask_by_ticket(s, m->ticket);
    if (!op)
        return;
    list_remove(&op->link);
    op->detached = false; /* a chunk must not be lost: the caller always hears */
    granted(s, op, NULL, false);
    s->out->effect[s->out->count - 1].address = m->region;
    s->out->effect[s->out->count - 1].pages = m->version;
    op_free(s, op);
}
