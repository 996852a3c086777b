/* model_rank.c - what ranks do, one operation after the other, and the cores
 * they do it on. */
#include <stdlib.h>
#include <string.h>

#include "sim/model.h"

/* --- Cores --------------------------------------------------------------- */

static void enqueue(struct model *model, struct model_rank *rank, bool front)
{
    uint32_t room = model->ranks + 1, at;

    if (front) {
        model->queue_first = (model->queue_first + room - 1) % room;
        at = model->queue_first;
    } else {
        at = (model->queue_first + model->queue_count) % room;
    }
    model->queue[at] = rank;
    model->queue_count++;
}

static void slice(struct model *model, struct model_rank *rank)
{
    rank->slice_ns =
        rank->left_ns < rank->quantum_ns ? rank->left_ns : rank->quantum_ns;
    model_event(model, model->now + rank->slice_ns, MODEL_EVENT_CORE, rank->id,
                NULL);
}

static void take_core(struct model *model, struct model_rank *rank)
{
    rank->running = true;
    rank->quantum_ns = model->cost.quantum_ns;
    model->cores_busy++;
    slice(model, rank);
}

static void give_core(struct model *model, struct model_rank *rank)
{
    if (!rank->running)
        return;
    rank->running = false;
    model->cores_busy--;
    while (model->queue_count && model->cores_busy < model->cost.cores) {
        struct model_rank *next = model->queue[model->queue_first];

        model->queue_first = (model->queue_first + 1) % (model->ranks + 1);
        model->queue_count--;
        take_core(model, next);
    }
}

void model_rank_steal(struct model *model, uint32_t node, uint64_t ns)
{
    struct model_rank *rank;

    if (model->cost.together) {
        rank = &model->rank[node * model->per_node];
        if (!rank->blocked)
            rank->stolen_ns += ns;
        return;
    }
    if (!model->cost.cores || model->cores_busy < model->cost.cores)
        return;
    do {
        model->robbed = (model->robbed + 1) % model->ranks;
        rank = &model->rank[model->robbed];
    } while (!rank->running);
    rank->stolen_ns += ns;
}

/* The rank works for left_ns, when it has a core; then it goes on. */
static void work(struct model *model, struct model_rank *rank, uint64_t ns)
{
    rank->left_ns = ns;
    if (!model->cost.cores)
        model_event(model, model->now + ns, MODEL_EVENT_RANK, rank->id, NULL);
    else if (rank->running)
        slice(model, rank);
    else if (model->cores_busy < model->cost.cores)
        take_core(model, rank);
    else
        enqueue(model, rank, rank->blocked);
    rank->blocked = false;
}

void model_rank_block(struct model *model, struct model_rank *rank)
{
    rank->blocked = true;
    rank->since = model->now;
    give_core(model, rank);
}

/* What it waited for is there; it has @ns to do about it. */
static void wake(struct model *model, struct model_rank *rank, uint64_t ns)
{
    rank->wait_ns += model->now - rank->since;
    rank->call_ns += ns;
    work(model, rank, ns);
}

/* So much of the wait that ends now is not another rank's. */
void model_rank_overhead(struct model_rank *rank, uint64_t ns)
{
    rank->wait_ns -= ns;
    rank->call_ns += ns;
}

/* An operation is over but for @ns of work. */
void model_rank_finished(struct model *model, struct model_rank *rank,
                         uint64_t ns)
{
    uint64_t latency = model->now + ns - rank->issued;

    if (rank->doing.counted && rank->doing.verb != MODEL_BARRIER) {
        model->total.operations++;
        model->total.latency_ns += latency;
        if (latency > model->total.latency_max_ns)
            model->total.latency_max_ns = latency;
    }
    if (rank->blocked) {
        wake(model, rank, ns);
    } else {
        rank->call_ns += ns;
        work(model, rank, ns);
    }
}

/* --- Regions ------------------------------------------------------------- */

static void wait_chunk(struct model *model, struct model_rank *rank,
                       uint64_t pages)
{
    struct model_node *node = &model->node[rank->node];

    rank->next_wait = node->wants;
    node->wants = rank;
    model_rank_block(model, rank);
    if (node->asking)
        return;
    node->asking = true;
    model_chunk_ask(model, rank->node, pages);
}

static void do_create(struct model *model, struct model_rank *rank)
{
    const struct model_op *op = &rank->doing;
    struct model_region *r = &model->region[op->slot];
    struct proto_node *node = &model->node[rank->node].proto;
    struct proto_region *made, *above;
    struct proto_effects *out;
    int err;

    memset(r, 0, sizeof(*r));
    if (!model_pages(model, rank->node, r, 1)) {
        wait_chunk(model, rank, 1);
        return;
    }
    out = model_effects(model);
    if (op->other == MODEL_NO_SLOT) {
        err = proto_create_root(node, (int32_t)rank->id, r->address, r, r,
                                &made, out);
    } else {
        above = model_find(model, rank->node, model->region[op->other].address);
        err = !above ? DRASYNC_ENOREGION
                     : proto_create_subregion(node, (int32_t)rank->id, above,
                                              r->address, r, r, &made, out);
    }
    if (err)
        model_fail(model, "rank %u cannot create region %u: error %d", rank->id,
                   op->slot, err);
    else
        r->incarnation = made->incarnation;
    model_effects_run(model, rank->node, out, NULL);
    model_effects_give(model, out);
    model_rank_finished(model, rank, model->cost.step_ns);
}

static void do_grow(struct model *model, struct model_rank *rank)
{
    const struct model_op *op = &rank->doing;
    struct model_region *r = &model->region[op->slot];
    uint64_t pages = (r->bytes + op->bytes + PAGE_BYTES - 1) >> PAGE_SHIFT;

    if (pages > r->pages &&
        !model_pages(model, rank->node, r, pages - r->pages)) {
        wait_chunk(model, rank, pages - r->pages);
        return;
    }
    r->bytes += op->bytes;
    model_rank_finished(model, rank, model->cost.step_ns);
}

/* Before a WRITE hold is used: readers keep the frames they have. */
static uint64_t split(struct model *model, struct model_rank *rank,
                      struct proto_region *top)
{
    uint64_t bytes = 0;

    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        struct proto_copy *copy = proto_newest(r);
        struct model_region *region = r->memory;
        struct proto_effects *out;

        if (!r->owned || r->dead || !copy || (!copy->pins && !copy->sends))
            continue;
        out = model_effects(model);
        if (proto_split(&model->node[rank->node].proto, (int32_t)rank->id, r,
                        region, out))
            model_fail(model, "rank %u may not split what it holds", rank->id);
        model_effects_run(model, rank->node, out, NULL);
        model_effects_give(model, out);
        bytes += region ? region->bytes : 0;
    }
    return (uint64_t)((double)bytes * 1e3 / model->cost.copy_mb_s);
}

static void do_acquire(struct model *model, struct model_rank *rank)
{
    const struct model_op *op = &rank->doing;
    uint64_t address = model->region[op->slot].address, ns;
    struct proto_effects *out = model_effects(model);
    struct proto_grant grant = {0};
    const struct proto_asked asked = {
        .rank = (int32_t)rank->id,
        .mode = (enum drasync_mode)op->mode,
        .waiter = rank,
        .newer = op->newer ? rank->seen : 0,
    };
    int err;

    err = proto_acquire_as(&model->node[rank->node].proto,
                           model_find(model, rank->node, address), address,
                           &asked, &grant, &rank->op, out);
    if (err == PROTO_WAIT) {
        model_rank_block(model, rank);
    } else if (err) {
        model_fail(model, "rank %u cannot acquire region %u: error %d",
                   rank->id, op->slot, err);
    } else {
        ns = model->cost.step_ns;
        if (op->newer)
            rank->seen = proto_seen_version(grant.region, grant.hold);
        if (grant.split && op->mode == DRASYNC_WRITE)
            ns += split(model, rank, grant.region);
        model_rank_finished(model, rank, ns);
    }
    model_effects_run(model, rank->node, out, NULL);
    model_effects_give(model, out);
}

static void do_release(struct model *model, struct model_rank *rank)
{
    struct model_region *r = &model->region[rank->doing.slot];
    struct proto_region *record = model_find(model, rank->node, r->address);
    struct proto_effects *out = model_effects(model);
    enum drasync_mode mode =
        rank->doing.mode == DRASYNC_READ ? DRASYNC_READ : DRASYNC_WRITE;

    if (!record || proto_release(&model->node[rank->node].proto,
                                 (int32_t)rank->id, record, mode, out))
        model_fail(model, "rank %u cannot release region %u", rank->id,
                   rank->doing.slot);
    model_effects_run(model, rank->node, out, NULL);
    model_effects_give(model, out);
    model_rank_finished(model, rank, model->cost.step_ns);
}

static void do_delete(struct model *model, struct model_rank *rank)
{
    uint64_t address = model->region[rank->doing.slot].address;
    struct proto_effects *out = model_effects(model);
    int err;

    err = proto_delete(&model->node[rank->node].proto, (int32_t)rank->id,
                       model_find(model, rank->node, address), address, rank,
                       out);
    if (err == PROTO_WAIT)
        model_rank_block(model, rank);
    else
        model_fail(model, "rank %u cannot delete region %u: error %d", rank->id,
                   rank->doing.slot, err);
    model_effects_run(model, rank->node, out, NULL);
    model_effects_give(model, out);
}

/* It does no harm if the region is not there any more. */
static void do_ahead(struct model *model, struct model_rank *rank)
{
    uint64_t address = model->region[rank->doing.slot].address;
    struct proto_region *record = model_find(model, rank->node, address);
    struct proto_effects *out = model_effects(model);

    if (model->subscribe && !(record && record->owned))
        proto_ahead(&model->node[rank->node].proto, record, address,
                    (enum drasync_mode)rank->doing.mode, out);
    model_effects_run(model, rank->node, out, NULL);
    model_effects_give(model, out);
    model_rank_finished(model, rank, model->cost.step_ns);
}

void model_rank_done(struct model *model, struct model_rank *rank,
                     const struct proto_effect *effect)
{
    uint64_t ns = model->cost.step_ns;

    rank->op = NULL;
    if (effect->kind == PROTO_FAILED) {
        model_fail(model, "rank %u: region %u: error %d", rank->id,
                   rank->doing.slot, effect->error);
        return;
    }
    if (rank->doing.verb == MODEL_ACQUIRE && effect->split &&
        rank->doing.mode == DRASYNC_WRITE)
        ns += split(model, rank, effect->region);
    if (rank->doing.verb == MODEL_ACQUIRE && rank->doing.newer)
        rank->seen = proto_seen_version(effect->region, effect->hold);
    model_rank_finished(model, rank, ns);
}

void model_rank_chunk(struct model *model, uint32_t id, int error)
{
    struct model_node *node = &model->node[id];
    struct model_rank *rank = node->wants;

    node->wants = NULL;
    node->asking = false;
    if (error)
        model_fail(model,
                   "the manager has no chunk for node %u: error %d after %llu "
                   "chunks",
                   id, error, (unsigned long long)model->total.chunks - 1);
    while (rank) {
        struct model_rank *next = rank->next_wait;

        rank->next_wait = NULL;
        if (rank->doing.verb == MODEL_CREATE)
            do_create(model, rank);
        else
            do_grow(model, rank);
        rank = next;
    }
}

/* --- One operation after the other --------------------------------------- */

static void rank_end(struct model *model, struct model_rank *rank)
{
    rank->ended = true;
    rank->end_ns = model->now;
    if (model->now > model->total.end_ns)
        model->total.end_ns = model->now;
    model->ended++;
    give_core(model, rank);
    model_rank_barrier_look(model);
}

static void next(struct model *model, struct model_rank *rank)
{
    struct model_op *op = &rank->doing;

    memset(op, 0, sizeof(*op));
    model->next(model->ctx, rank->id, op);
    rank->issued = model->now;
    switch ((enum model_verb)op->verb) {
    case MODEL_COMPUTE:
        rank->compute_ns += op->ns;
        work(model, rank, op->ns);
        break;
    case MODEL_CALL:
        model_rank_finished(model, rank, op->ns);
        break;
    case MODEL_CREATE:
        do_create(model, rank);
        break;
    case MODEL_GROW:
        do_grow(model, rank);
        break;
    case MODEL_ACQUIRE:
        do_acquire(model, rank);
        break;
    case MODEL_RELEASE:
        do_release(model, rank);
        break;
    case MODEL_DELETE:
        do_delete(model, rank);
        break;
    case MODEL_AHEAD:
        do_ahead(model, rank);
        break;
    case MODEL_SEND:
        model_send(model, rank);
        model_rank_finished(model, rank, op->ns);
        break;
    case MODEL_RECEIVE:
        model_rank_receive(model, rank);
        break;
    case MODEL_ASK:
        model_rank_ask(model, rank);
        break;
    case MODEL_POST:
        model_rank_post(model, rank);
        break;
    case MODEL_AWAIT:
        model_rank_await(model, rank);
        break;
    case MODEL_BARRIER:
        model_rank_block(model, rank);
        model->at_barrier++;
        model_rank_barrier_look(model);
        break;
    default:
        rank_end(model, rank);
        break;
    }
}

void model_rank_event(struct model *model, const struct model_event *event)
{
    struct model_rank *rank = &model->rank[event->who];

    if (event->kind == MODEL_EVENT_ANSWER) {
        if (rank->doing.verb == MODEL_ASK)
            model_rank_overhead(rank, model->now - rank->since);
        model_rank_finished(model, rank, model->cost.step_ns);
        return;
    }
    if (event->kind == MODEL_EVENT_CORE) {
        rank->left_ns -= rank->slice_ns;
        rank->quantum_ns -= rank->slice_ns;
    } else {
        rank->left_ns = 0;
    }
    rank->left_ns += rank->stolen_ns;
    rank->stolen_ns = 0;
    if (!rank->left_ns) {
        next(model, rank);
    } else if (!model->cost.cores) {
        work(model, rank, rank->left_ns);
    } else if (rank->quantum_ns || !model->queue_count) {
        if (!rank->quantum_ns)
            rank->quantum_ns = model->cost.quantum_ns;
        slice(model, rank);
    } else {
        give_core(model, rank);
        enqueue(model, rank, false);
    }
}
