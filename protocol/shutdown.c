/*
 * shutdown.c - DONE and STOP: when every node has finished, the manager counts
 * messages sent and received, over a binary tree of the nodes, until two counts
 * in a row are equal: then nothing is in flight (Mattern's four counters), and
 * STOP goes down.
 */
#include "protocol/internal.h"

static uint32_t children_of(const struct step *s)
{
    uint64_t first = (uint64_t)self_of(s) * 2 + 1, nodes = s->env->nodes;
    if (first >= nodes)
        return 0;
    return first + 1 < nodes ? 2 : 1;
}

static void tell_children(struct step *s, uint16_t flags)
{
    for (uint32_t i = 0; i < children_of(s); i++) {
        struct proto_message *m =
            send_message(s, self_of(s) * 2 + 1 + i, PROTO_STOP);
        m->flags = flags;
        m->version = s->node->wave;
    }
}

static void next_wave(struct proto_node *node)
{
    node->wave++;
    node->counting = true;
    node->children_done = 0;
    node->sent_sum = node->received_sum = 0;
}

static void manager_decides(struct step *s)
{
    struct proto_node *node = s->node;
    bool same = node->sent_sum == node->received_sum &&
                node->sent_sum == node->sent_before &&
                node->received_sum == node->received_before && node->wave > 1;
    if (same || FAULT(s, FAULT_EARLY_STOP)) {
        tell_children(s, 0);
        node->stopped = true;
        effect(s, PROTO_STOPPED);
        return;
    }
    node->sent_before = node->sent_sum;
    node->received_before = node->received_sum;
    next_wave(node);
    tell_children(s, PROTO_AGAIN);
}

/* This node's part of the wave goes up when its ranks and children are done. */
void proto_shutdown_step(struct step *s)
{
    struct proto_node *node = s->node;
    uint64_t sent, received;
    if (!node->finished || node->stopped || !node->counting ||
        node->children_done < children_of(s))
        return;
    s->env->traffic(s->env->ctx, &sent, &received);
    node->sent_sum += sent;
    node->received_sum += received;
    node->counting = false;
    if (self_of(s) == 0) {
        manager_decides(s);
        return;
    }
    struct proto_message *m =
        send_message(s, (self_of(s) - 1) / 2, PROTO_DONE);
    m->version = node->wave;
    m->sent = node->sent_sum;
    m->received = node->received_sum;
}

void on_DONE(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    s->node->children_done++;
    s->node->sent_sum += m->sent;
    s->node->received_sum += m->received;
}

void on_STOP(struct step *s, uint32_t from, const struct proto_message *m)
{
    (void)from;
    if (m->flags & PROTO_AGAIN) {
        next_wave(s->node);
        tell_children(s, PROTO_AGAIN);
        return;
    }
    tell_children(s, 0);
    s->node->stopped = true;
    effect(s, PROTO_STOPPED);
}

void proto_finish(struct proto_node *node, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    node->finished = true;
    proto_shutdown_step(&s);
    step_end(&s);
}

void proto_poll(struct proto_node *node, struct proto_effects *out)
{
    struct step s;
    step_begin(&s, node, out);
    proto_shutdown_step(&s);
    step_end(&s);
}
