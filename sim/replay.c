/*
 * replay.c - a recorded run again, with other cores and another network.
 *
 * What a program computed, and what its calls computed, is taken as recorded;
 * when it waits, and for how long, comes out of the model.  Native calls are
 * steps of the real protocol.  Myrmics calls are messages with the recorded
 * bytes: on one node a send is in place as soon as the call is over; between
 * nodes it goes by way of the progress threads.  The baseline's records have
 * its requests to schedulers too, who serve one after the other, and its sends
 * are MPI messages.
 */
#include "sim/replay.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model.h"

/* What sys_send() sends; other tags are MPI's. */
#define TAG_REGIONS UINT32_C(0x80000000)

enum {
    MPI_CALL_NS = 500,
    QUEUE = 8,
};

struct replayed {
    struct model_op op[QUEUE]; /* to be given out, then the next line */
    unsigned count, at;
    bool computed; /* the next line's program time is given out */
    uint64_t made; /* number of the region that it is making */
    const struct record_line *using; /* what it waits to do with a region */
    const struct record_line *asked; /* the acquire that it is in; or NULL */
    bool marked;
    uint64_t since_ns;
    uint64_t compute0_ns, call0_ns, wait0_ns;
    uint64_t all_ns, compute_ns, call_ns, wait_ns; /* between marks */
};

/* --- Operations of a line ------------------------------------------------ */

static struct model_op *push(struct replayed *r, enum model_verb verb)
{
    struct model_op *op = &r->op[r->count++];

    memset(op, 0, sizeof(*op));
    op->verb = (uint8_t)verb;
    return op;
}

static void push_call(struct replayed *r, uint64_t ns)
{
    push(r, MODEL_CALL)->ns = ns;
}

static void native_line(struct replay *replay, uint32_t id,
                        const struct record_line *line)
{
    struct replayed *r = &replay->rank[id];
    uint32_t slot = MODEL_NO_SLOT, flags[REPLAY_WAITS], count;
    struct model_op *op;

    count = replay_life_wait(replay, line, flags);
    for (uint32_t i = 0; i < count; i++)
        push(r, MODEL_AWAIT)->slot = flags[i];
    if (strchr("ALDH", line->kind)) {
        slot = replay_slot(replay, id, line->argument[0], line->life[0]);
        if (slot == MODEL_NO_SLOT)
            return;
        if (line->kind != 'H')
            r->using = line;
    }
    switch (line->kind) {
    case 'N':
        if (line->argument[1])
            slot = replay_slot(replay, id, line->argument[1], line->life[1]);
        op = push(r, MODEL_CREATE);
        op->other = slot;
        op->slot =
            replay_slot_new(replay, id, line->argument[0], line->life[0]);
        r->made = line->life[0];
        r->using = line;
        break;
    case 'A':
        op = push(r, MODEL_ACQUIRE);
        op->slot = slot;
        op->mode = (uint8_t)line->argument[1];
        break;
    case 'H':
        op = push(r, MODEL_AHEAD);
        op->slot = slot;
        op->mode = (uint8_t)line->argument[1];
        break;
    case 'L':
        op = push(r, MODEL_RELEASE);
        op->slot = slot;
        op->mode = (uint8_t)line->argument[1];
        break;
    case 'D':
        push(r, MODEL_DELETE)->slot = slot;
        break;
    default: /* names: to the manager and back, then the flag */
        op = push(r, MODEL_ASK);
        op->other = replay->model.rank[id].node != 0;
        op->ns = replay->model.cost.overhead_ns;
        slot = replay_address(replay, line->argument[0], true)->slot;
        push(r, line->kind == 'P' ? MODEL_POST : MODEL_AWAIT)->slot = slot;
        break;
    }
}

/* The node of rank @id meets a region for the first time: it asks its maker's.
 */
static uint64_t attach_ns(struct replay *replay, uint32_t id, uint64_t region)
{
    const struct model *model = &replay->model;
    const struct replay_address *a = replay_address(replay, region, false);
    uint8_t *known;

    if (!a->used || model->rank[a->maker].node == model->rank[id].node)
        return 0;
    known =
        &replay->known[(size_t)a->slot * model->nodes + model->rank[id].node];
    if (*known)
        return 0;
    *known = 1;
    return 2 * (model->cost.latency_ns + 2 * model->cost.overhead_ns);
}

static void copy_line(struct replay *replay, uint32_t id,
                      const struct record_line *line)
{
    struct replayed *r = &replay->rank[id];
    const struct model_cost *cost = &replay->model.cost;
    struct model_op *op;
    uint64_t ns = line->call_ns;

    switch (line->kind) {
    case 'N':
        replay_slot_new(replay, id, line->argument[0], 0);
        push_call(r, ns);
        break;
    case 'D': /* one round to all nodes that may know it, and one more */
        if (replay->model.nodes > 1)
            ns += 2 *
                  (cost->latency_ns + replay->model.nodes * cost->overhead_ns);
        push_call(r, ns);
        break;
    case 'S':
        push_call(r, ns);
        op = push(r, MODEL_SEND);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        op->bytes = replay_kept_bytes(replay, id, line);
        op->progress = true;
        break;
    default:
        op = push(r, MODEL_RECEIVE);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        op->ns = ns + attach_ns(replay, id, line->argument[0]);
        break;
    }
}

static uint64_t mean_ns(uint64_t all_ns, uint64_t count)
{
    return count ? all_ns / count : 0;
}

/* The records are of one scheduler; of several each worker has its own. */
static void push_ask(struct replay *replay, uint32_t id, bool query)
{
    const struct records *records = &replay->records;
    const struct model *model = &replay->model;
    struct model_op *op = push(&replay->rank[id], MODEL_ASK);

    op->peer = id % replay->schedulers;
    op->other = model->rank[id].node != op->peer % model->nodes;
    if (query)
        op->ns = replay->cost.query_ns
                     ? replay->cost.query_ns
                     : mean_ns(records->queries_ns, records->queries);
    else
        op->ns = replay->cost.request_ns
                     ? replay->cost.request_ns
                     : mean_ns(records->requests_ns, records->requests);
}

static void baseline_line(struct replay *replay, uint32_t id,
                          const struct record_line *line)
{
    struct replayed *r = &replay->rank[id];
    uint64_t bytes = line->argument[2], most;
    struct model_op *op;

    switch (line->kind) {
    case 'Q':
        push_ask(replay, id, line->argument[2] != 0);
        break;
    case 'S':
        push_call(r, line->call_ns);
        op = push(r, MODEL_SEND);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        op->bytes = bytes;
        break;
    default:
        op = push(r, MODEL_RECEIVE);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        most = (uint64_t)(replay->unpack_ns * (double)bytes);
        op->ns = line->call_ns;
        if (bytes > UNPACK_BYTES_MIN && op->ns > most)
            op->ns = most;
        break;
    }
}

/* --- Marks --------------------------------------------------------------- */

static void mark(struct replay *replay, uint32_t id, bool begin)
{
    const struct model_rank *rank = &replay->model.rank[id];
    struct replayed *r = &replay->rank[id];

    if (r->marked) {
        r->all_ns += replay->model.now - r->since_ns;
        r->compute_ns += rank->compute_ns - r->compute0_ns;
        r->call_ns += rank->call_ns - r->call0_ns;
        r->wait_ns += rank->wait_ns - r->wait0_ns;
    }
    r->marked = begin;
    r->since_ns = replay->model.now;
    r->compute0_ns = rank->compute_ns;
    r->call0_ns = rank->call_ns;
    r->wait0_ns = rank->wait_ns;
}

/* --- Line by line -------------------------------------------------------- */

static void push_call_of(struct replay *replay, uint32_t id,
                         const struct record_line *line)
{
    struct replayed *r = &replay->rank[id];
    struct model_op *op;

    switch (line->kind) {
    case 's':
    case 'r':
        op = push(r, line->kind == 's' ? MODEL_SEND : MODEL_RECEIVE);
        op->peer = (uint32_t)line->argument[0];
        op->tag = (uint32_t)line->argument[1] & ~TAG_REGIONS;
        op->bytes = line->argument[2];
        op->ns = MPI_CALL_NS;
        break;
    case 'B':
    case 'b':
        push(r, MODEL_BARRIER);
        break;
    case 'M':
        mark(replay, id, line->argument[0] != 0);
        break;
    case 'E':
        mark(replay, id, false);
        break;
    default:
        if (replay->records.native)
            native_line(replay, id, line);
        else if (replay->records.baseline)
            baseline_line(replay, id, line);
        else
            copy_line(replay, id, line);
        break;
    }
}

/* A line of allocations of a native region: it grows. */
static void push_growth(struct replay *replay, uint32_t id,
                        const struct record_line *line)
{
    struct model_op *op;
    uint32_t slot;

    if (!line->program_ns || !line->argument[0])
        return;
    slot = replay_slot(replay, id, line->program_ns, line->life[0]);
    if (slot == MODEL_NO_SLOT)
        return;
    op = push(&replay->rank[id], MODEL_GROW);
    op->slot = slot;
    op->bytes = line->argument[0];
}

/* The versions that @op, of the line that is run, leaves or is to get. */
static void settle_versions(struct replay *replay, uint32_t id,
                            struct model_op *op)
{
    const struct record_line *line = replay->rank[id].using;

    if (op->verb == MODEL_RELEASE)
        replay_version_left(replay, id, op->slot, line);
    if (op->verb != MODEL_ACQUIRE)
        return;
    replay->model.rank[id].seen = replay_version_known(replay, op->slot, line);
    op->newer = replay->model.rank[id].seen != 0;
}

static void next(void *ctx, uint32_t id, struct model_op *op_out)
{
    struct replay *replay = ctx;
    struct record_rank *record = &replay->records.rank[id];
    struct replayed *r = &replay->rank[id];

    while (r->at == r->count && !replay->model.error[0]) {
        const struct record_line *line = &record->line[record->at];

        r->at = r->count = 0;
        if (r->made)
            replay_life_made(replay, id, r->made);
        r->made = 0;
        if (r->asked)
            replay_life_used(replay, id, r->asked);
        r->asked = NULL;
        if (record->at == record->count)
            return;
        r->computed = !r->computed && line->kind != 'a';
        if (r->computed) { /* first what was computed before the call */
            push(r, MODEL_COMPUTE)->ns = line->program_ns;
            continue;
        }
        record->at++;
        if (line->kind != 'a')
            push_call_of(replay, id, line);
        else if (replay->records.native)
            push_growth(replay, id, line);
    }
    if (r->at == r->count)
        return;
    *op_out = r->op[r->at++];
    if (op_out->verb != MODEL_AWAIT && r->using) {
        if (replay->records.native)
            settle_versions(replay, id, op_out);
        /* Between nodes who asks first need not have it first. */
        if (op_out->verb == MODEL_ACQUIRE)
            r->asked = r->using;
        else
            replay_life_used(replay, id, r->using);
        r->using = NULL;
    }
}

/* --- The whole ----------------------------------------------------------- */

/* Names are flags; their slots are known before anybody asks for them. */
static void number_names(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->records.ranks; i++) {
        const struct record_rank *rank = &replay->records.rank[i];

        for (size_t j = 0; j < rank->count; j++) {
            const struct record_line *line = &rank->line[j];
            struct replay_address *a;

            if (line->kind != 'P' && line->kind != 'U')
                continue;
            a = replay_address(replay, line->argument[0], true);
            if (a->used)
                continue;
            a->used = a->name = true;
            a->address = line->argument[0];
            a->slot = replay->model.flags++;
        }
    }
}

static size_t names_most(const struct records *records)
{
    size_t count = 0;

    for (uint32_t i = 0; i < records->ranks; i++)
        for (size_t j = 0; j < records->rank[i].count; j++)
            count += records->rank[i].line[j].kind == 'P' ||
                     records->rank[i].line[j].kind == 'U';
    return count;
}

static void print(const struct replay *replay, const char *name)
{
    double compute = 0, call = 0, wait = 0;
    const struct model *model = &replay->model;

    for (uint32_t i = 0; i < model->ranks; i++) {
        compute += (double)replay->rank[i].compute_ns;
        call += (double)replay->rank[i].call_ns;
        wait += (double)replay->rank[i].wait_ns;
    }
    printf("%s,%s,%u,%u,%u,%.6f,%.6f,%.6f,%.6f,%llu,%llu,%.6f\n", name,
           replay->records.native     ? "native"
           : replay->records.baseline ? "baseline"
                                      : "copy",
           model->ranks, model->nodes,
           replay->records.baseline ? model->servers : 0,
           (double)replay->rank[0].all_ns / 1e9, compute / model->ranks / 1e9,
           call / model->ranks / 1e9, wait / model->ranks / 1e9,
           (unsigned long long)model->total.messages,
           (unsigned long long)model->total.bytes,
           (double)replay->records.measured_ns / 1e9);
}

int replay_run(struct replay *replay, const char *name)
{
    struct model *model = &replay->model;
    size_t names = names_most(&replay->records);
    int failed;

    model->per_node = model->per_node && model->per_node < replay->records.ranks
                          ? model->per_node
                          : replay->records.ranks;
    model->nodes = replay->records.ranks / model->per_node;
    model->regions = (uint32_t)replay->records.creations;
    model->servers = replay->schedulers;
    model->next = next;
    model->ctx = replay;
    replay->table_slots = 2 * (replay->records.creations + names) + 16;
    replay->table = calloc(replay->table_slots, sizeof(*replay->table));
    replay->rank = calloc(replay->records.ranks, sizeof(*replay->rank));
    replay->known = calloc(replay->records.creations + 1, model->nodes);
    if (!replay->table || !replay->rank || !replay->known ||
        replay_kept_open(replay) ||
        records_unpack_ns(&replay->records, &replay->unpack_ns)) {
        fprintf(stderr, "simulate: no memory\n");
        return 1;
    }
    number_names(replay);
    if (replay_lives_open(replay) || replay_versions_open(replay)) {
        fprintf(stderr, "simulate: no memory\n");
        return 1;
    }
    for (uint32_t i = 0; i < replay->records.ranks; i++)
        replay->rank[i].marked = !replay->records.measured_ns;
    model->subscribe = replay->quiet ? 0 : PROTO_SUBSCRIBE;
    failed = model_open(model) || model_run(model);
    if (failed)
        fprintf(stderr, "simulate: %s: %s\n", name, model->error);
    else
        print(replay, name);
    model_close(model);
    free(replay->table);
    free(replay->rank);
    free(replay->known);
    replay_kept_close(replay);
    replay_lives_close(replay);
    replay_versions_close(replay);
    return failed;
}
