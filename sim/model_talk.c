/* model_talk.c - ranks that wait for each other without regions: messages,
 * servers, flags, barriers. */
#include <stdlib.h>
#include <string.h>

#include "sim/model.h"

static bool take_mail(struct model *model, struct model_rank *rank)
{
    uint64_t sent_ns;

    for (uint32_t i = 0; i < rank->mail_count; i++) {
        if (rank->mail[i].from != rank->doing.peer ||
            rank->mail[i].tag != rank->doing.tag)
            continue;
        /* The wait was for the sender, then for the network. */
        sent_ns = rank->mail[i].sent_ns;
        if (rank->blocked && sent_ns > rank->since)
            model_rank_overhead(rank, model->now - sent_ns);
        else if (rank->blocked)
            model_rank_overhead(rank, model->now - rank->since);
        memmove(&rank->mail[i], &rank->mail[i + 1],
                (rank->mail_count - i - 1) * sizeof(rank->mail[0]));
        rank->mail_count--;
        return true;
    }
    return false;
}

void model_rank_receive(struct model *model, struct model_rank *rank)
{
    if (take_mail(model, rank))
        model_rank_finished(model, rank, rank->doing.ns);
    else
        model_rank_block(model, rank);
}

void model_rank_mail(struct model *model, struct model_rank *rank,
                     uint32_t from, uint32_t tag, uint64_t sent_ns)
{
    if (rank->mail_count == rank->mail_room) {
        rank->mail_room = rank->mail_room ? rank->mail_room * 2 : 8;
        rank->mail = realloc(rank->mail, rank->mail_room * sizeof(*rank->mail));
        if (!rank->mail)
            abort();
    }
    rank->mail[rank->mail_count++] =
        (struct model_mail){.from = from, .tag = tag, .sent_ns = sent_ns};
    if (rank->blocked && rank->doing.verb == MODEL_RECEIVE &&
        take_mail(model, rank))
        model_rank_finished(model, rank, rank->doing.ns);
}

void model_rank_ask(struct model *model, struct model_rank *rank)
{
    const struct model_op *op = &rank->doing;
    struct model_server *server = &model->server[op->peer];
    uint64_t way = op->other ? model->cost.latency_ns + model->cost.overhead_ns
                             : model->cost.local_ns;
    uint64_t at = model->now + way;

    if (at < server->free_ns)
        at = server->free_ns;
    server->free_ns = at + op->ns;
    server->busy_ns += op->ns;
    server->requests++;
    model->total.messages += 2;
    model_rank_block(model, rank);
    model_event(model, server->free_ns + way, MODEL_EVENT_ANSWER, rank->id,
                NULL);
}

void model_rank_await(struct model *model, struct model_rank *rank)
{
    if (model->flag[rank->doing.slot])
        model_rank_finished(model, rank, model->cost.step_ns);
    else
        model_rank_block(model, rank);
}

void model_flag_raise(struct model *model, uint32_t slot, uint32_t node)
{
    model->flag[slot] = true;
    for (uint32_t i = 0; i < model->ranks; i++) {
        struct model_rank *other = &model->rank[i];

        if (other->blocked && other->doing.verb == MODEL_AWAIT &&
            other->doing.slot == slot)
            model_event(model,
                        model->now + (other->node == node
                                          ? model->cost.local_ns
                                          : model->cost.latency_ns),
                        MODEL_EVENT_ANSWER, i, NULL);
    }
}

void model_rank_post(struct model *model, struct model_rank *rank)
{
    model_flag_raise(model, rank->doing.slot, rank->node);
    model_rank_finished(model, rank, model->cost.step_ns);
}

/* What was before a barrier that is `counted`, and over in @ns, does not count.
 */
static void begin_counting(struct model *model, uint64_t ns)
{
    for (uint32_t i = 0; i < model->ranks; i++)
        if (model->rank[i].blocked && !model->rank[i].doing.counted)
            return;
    memset(&model->total, 0, sizeof(model->total));
    model->total.begin_ns = model->now + ns;
    for (uint32_t i = 0; i < model->nodes; i++)
        model->node[i].messages = model->node[i].busy_ns = 0;
}

void model_rank_barrier_look(struct model *model)
{
    uint64_t ns = 0;

    if (!model->at_barrier || model->at_barrier + model->ended < model->ranks)
        return;
    for (uint32_t n = 1; n < model->per_node; n *= 2)
        ns += model->cost.local_ns;
    for (uint32_t n = 1; n < model->nodes; n *= 2)
        ns += model->cost.latency_ns + 2 * model->cost.overhead_ns;
    model->at_barrier = 0;
    begin_counting(model, ns);
    for (uint32_t i = 0; i < model->ranks; i++) {
        struct model_rank *rank = &model->rank[i];

        if (rank->blocked && rank->doing.verb == MODEL_BARRIER)
            model_event(model, model->now + ns, MODEL_EVENT_ANSWER, i, NULL);
    }
}
