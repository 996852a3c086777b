/*
 * unread.c - who deletes need not ask readers that are gone.
 *
 * A delete must not end what others READ, and a reader says nothing when it
 * releases: so the node that deletes asks those that it gave READ to, and its
 * caller waits for a round trip (delete.c).  Once that has happened on a node,
 * its answers to READ say TELL; their receiver says UNREAD, which has time, when
 * no rank of it READs anything below that region any more, nor has asked to.
 *
 * What UNREAD says is true when it is sent.  Is it when it comes?  A READ that
 * was granted since has another ticket, or came by a token that was elsewhere
 * meanwhile; then the node stays one that may READ.  What the owner granted
 * before, the reader had received, as messages keep their order.
 */
#include "protocol/internal.h"

#include <stdatomic.h>

/* --- At the owner --------------------------------------------------------- */

void unread_asked(struct step *s, const struct proto_op *op)
{
    /* Relaxed: advice, here and below. */
    if (op->awaiting && s->env->deletes_asked)
        atomic_store_explicit(s->env->deletes_asked, true,
                              memory_order_relaxed);
}

bool unread_wanted(struct step *s)
{
    return s->env->deletes_asked &&
           atomic_load_explicit(s->env->deletes_asked, memory_order_relaxed);
}

void on_UNREAD(struct step *s, uint32_t from, const struct proto_message *m)
{
    struct proto_region *top = find(s, m->region);
    if (!top || top->incarnation != m->incarnation)
        return;
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_presence *p = r->owned ? presence_of(r, from) : NULL;
        if (p && p->granted == m->ticket)
            p->reads = false;
    }
}

/* --- At the reader -------------------------------------------------------- */

void unread_note(struct proto_region *r, uint32_t from,
                 const struct proto_message *m)
{
    r->told = m->flags & PROTO_TELL ? from + 1 : 0;
    r->told_ticket = m->ticket;
}

/* May a rank of this node READ something of @top's subtree, or come to without
 * asking anew? */
static bool may_read(struct step *s, struct proto_region *top)
{
    const struct proto_region *root = top->root;
    if (FAULT(s, FAULT_UNREAD_EARLY))
        return false;
    if (root->reads || !list_empty(&root->requests) ||
        !list_empty(&root->arrivals))
        return true;
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        for (struct proto_link *l = r->copies.next; l != &r->copies;
             l = l->next)
            if (copy_read(s, CONTAINER(l, struct proto_copy, link)))
                return true;
    return false;
}

void unread(struct step *s, struct proto_region *r)
{
    if (!r->told || r->owned || r->dead || r->gone || may_read(s, r))
        return;
    size_t send = s->out->count;
    send_about(s, r->told - 1, PROTO_UNREAD, r, r->told_ticket);
    effect_of(s, send)->lazy = true;
    r->told = 0;
}
