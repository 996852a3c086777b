/* step.c - a step begins; it ends when nothing is left to serve or to remove. */
#include "protocol/internal.h"

void step_begin(struct step *s, struct proto_node *node,
                struct proto_effects *out)
{
    s->node = node;
    s->env = &node->env;
    s->out = out;
    s->request = NULL;
    s->requester = NULL;
    s->forgets = false;
    list_init(&s->serve);
    list_init(&s->gc);
    list_init(&s->begin);
}

void step_end(struct step *s)
{
    while (!list_empty(&s->serve) || !list_empty(&s->begin)) {
        if (!list_empty(&s->begin)) {
            acquire_answered(s,
                             CONTAINER(s->begin.next, struct proto_op, link));
            continue;
        }
        struct proto_region *r =
            CONTAINER(s->serve.next, struct proto_region, serve);
        list_remove(&r->serve);
        if (!list_empty(&r->locates) && !r->locating)
            locates_end(s, r);
        if (!list_empty(&r->pending))
            pump(s, r);
        serve(s, r);
    }
    collect(s);
}
