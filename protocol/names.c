/*
 * names.c - what a rank asks of the manager: names and chunks.  The table of
 * names is at the manager (node 0); a node that is the manager answers itself.
 */
#include "protocol/internal.h"

struct proto_link *name_slot(struct proto_node *node, const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    return &node->names[hash % PROTO_NAME_SLOTS];
}

struct proto_op *ask_by_ticket(struct step *s, uint64_t ticket)
{
    struct proto_link *head = &s->node->asks;
    for (struct proto_link *l = head->next; l != head; l = l->next) {
        struct proto_op *op = CONTAINER(l, struct proto_op, link);
        if (op->ticket == ticket)
            return op;
    }
    return NULL;
}

static struct proto_op *ask(struct step *s, enum op_kind kind, void *waiter)
{
    struct proto_op *op = op_new(s, kind, -1, NULL, DRASYNC_WRITE, waiter);
    if (!op)
        return NULL;
    op->ticket = s->env->ticket(s->env->ctx);
    list_insert(&s->node->asks, &op->link);
    return op;
}

/* Give a message to node @to, or handle it here if that is this node. */
static void deliver(struct step *s, uint32_t to, struct proto_message *m,
                    handler *here)
{
    m->node = self_of(s);
    if (to == self_of(s))
        here(s, to, m);
    else
        *send_message(s, to, (enum proto_message_type)m->type) = *m;
}

static bool name_valid(const char *name)
{
    size_t length = name ? strnlen(name, DRASYNC_NAME_MAX + 1) : 0;
    return length > 0 && length <= DRASYNC_NAME_MAX;
}

static int ask_manager(struct proto_node *node, enum op_kind kind,
                       uint32_t to, struct proto_message *m, void *waiter,
                       handler *here, struct proto_op **op_out,
                       struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    struct proto_op *op = ask(&s, kind, waiter);
    if (!op)
        return DRASYNC_ENOMEM;
    *op_out = op;
    m->ticket = op->ticket;
    deliver(&s, to, m, here);
    step_end(&s);
    return PROTO_WAIT;
}

int proto_publish(struct proto_node *node, const char *name, uint64_t address,
                  void *waiter, struct proto_op **op_out,
                  struct proto_effects *out)
{
    struct proto_message m = {.type = PROTO_PUBLISH, .region = address};
    int64_t home = node->env.home(node->env.ctx, address);
    if (!name_valid(name))
        return DRASYNC_EINVAL;
    if (home == -2)
        return DRASYNC_ENOREGION;
    strcpy(m.name, name);
    return ask_manager(node, OP_PUBLISH, home < 0 ? 0 : (uint32_t)home, &m,
                       waiter, on_PUBLISH, op_out, out);
}

int proto_lookup(struct proto_node *node, const char *name, bool nowait,
                 void *waiter, struct proto_op **op_out,
                 struct proto_effects *out)
{
    struct proto_message m = {.type = PROTO_LOOKUP};
    if (!name_valid(name))
        return DRASYNC_EINVAL;
    strcpy(m.name, name);
    if (nowait)
        m.flags = PROTO_NOWAIT;
    return ask_manager(node, OP_LOOKUP, 0, &m, waiter, on_LOOKUP, op_out, out);
}

int proto_chunk(struct proto_node *node, uint64_t pages, void *waiter,
                struct proto_op **op_out, struct proto_effects *out)
{
    struct proto_message m = {.type = PROTO_CHUNK_REQUEST, .version = pages};
    return ask_manager(node, OP_CHUNK, 0, &m, waiter, on_CHUNK_REQUEST, op_out,
                       out);
}

/* The waiter of a publish, lookup or chunk is gone. */
void ask_detach(struct step *s, struct proto_op *op)
{
    struct proto_message m = {.type = PROTO_WITHDRAW,
                              .flags = PROTO_CANCEL,
                              .ticket = op->ticket};
    if (op->kind == OP_LOOKUP) {
        list_remove(&op->link);
        op_free(s, op);
        deliver(s, 0, &m, on_WITHDRAW);
    }
}

/* Send NAMED about @lookup (its node and ticket) to who asked. */
void lookup_answer(struct step *s, const struct proto_name *lookup,
                   const struct proto_name *found, int error)
{
    struct proto_message m = {.type = PROTO_NAMED,
                              .node = lookup->node,
                              .ticket = lookup->ticket,
                              .error = (int16_t)error};
    if (found) {
        m.root = m.region = found->region;
        m.incarnation = found->incarnation;
    }
    if (lookup->node == self_of(s))
        on_NAMED(s, self_of(s), &m);
    else
        *send_message(s, lookup->node, PROTO_NAMED) = m;
}
