/*
 * replay.c - a recorded run again, with other cores and another network.
 *
 * What a program computed, and what its calls computed, is taken as recorded;
 * when it waits, and for how long, comes out of the model.  Native calls are
 * steps of the real protocol.  Myrmics calls are messages with the recorded
 * bytes: on one node a send is in place as soon as the call is over; between
 * nodes it goes by way of the progress threads.  As the baseline, each
 * allocation call is a request to a scheduler, who serves one after the other;
 * a send asks the scheduler too, packs, and is received as an MPI message.
 */
#include "sim/replay.h"

#include <stdlib.h>
#include <string.h>

#include "sim/model.h"

/* What sys_send() sends; other tags are MPI's. */
#define TAG_REGIONS UINT32_C(0x80000000)

enum {
    ASKS_MAX = 256, /* requests between two lines, one by one */
    MPI_CALL_NS = 500,
    QUEUE = 8,
};

struct replayed {
    struct model_op op[QUEUE]; /* to be given out, then the next line */
    unsigned count, at;
    size_t call_at;         /* the line of the next call, */
    uint64_t asks, bytes;   /* what is allocated before it, */
    uint64_t piece, pieces; /* in so many parts; 0: not begun */
    bool marked;
    uint64_t since_ns;
    uint64_t compute0_ns, call0_ns, wait0_ns;
    uint64_t all_ns, compute_ns, call_ns, wait_ns; /* between marks */
};

struct address {
    uint64_t address;
    uint32_t slot, maker;
    bool used;
};

/* --- Regions by address ------------------------------------------------------
 */

static struct address *address_of(struct replay *replay, uint64_t address)
{
    size_t i = (size_t)((address * 0x9e3779b97f4a7c15u) >> 20);

    for (;; i++) {
        struct address *a = &replay->table[i % replay->table_slots];

        if (!a->used || a->address == address)
            return a;
    }
}

static struct address *region_at(struct replay *replay, uint32_t id,
                                 uint64_t address)
{
    struct address *a = address_of(replay, address);

    if (a->used)
        return a;
    model_fail(&replay->model,
               "rank %u uses region %llu, which is not there at that time", id,
               (unsigned long long)address);
    return NULL;
}

static uint32_t new_slot(struct replay *replay, uint32_t id, uint64_t address)
{
    struct address *a = address_of(replay, address);

    a->used = true;
    a->address = address;
    a->slot = replay->slots++;
    a->maker = id;
    return a->slot;
}

/* --- Operations of a line
 * ----------------------------------------------------- */

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

static uint64_t bytes_ns(double mb_s, uint64_t bytes)
{
    return (uint64_t)((double)bytes * 1e3 / mb_s);
}

static void push_ask(struct replay *replay, struct replayed *r, uint32_t id,
                     uint64_t bytes)
{
    struct model_op *op = push(r, MODEL_ASK);

    op->peer = id % replay->schedulers;
    op->other = replay->model.nodes > 1;
    op->ns = replay->cost.serve_ns + bytes_ns(replay->cost.serve_mb_s, bytes);
}

static void native_line(struct replay *replay, uint32_t id,
                        const struct record_line *line)
{
    struct replayed *r = &replay->rank[id];
    const struct address *a = NULL;
    struct model_op *op;

    if (strchr("ALD", line->kind)) {
        a = region_at(replay, id, line->argument[0]);
        if (!a)
            return;
    }
    switch (line->kind) {
    case 'N':
        a = line->argument[1] ? region_at(replay, id, line->argument[1]) : NULL;
        op = push(r, MODEL_CREATE);
        op->other = a ? a->slot : MODEL_NO_SLOT;
        op->slot = new_slot(replay, id, line->argument[0]);
        break;
    case 'A':
        op = push(r, MODEL_ACQUIRE);
        op->slot = a->slot;
        op->mode = (uint8_t)line->argument[1];
        break;
    case 'L':
        push(r, MODEL_RELEASE)->slot = a->slot;
        break;
    case 'D':
        push(r, MODEL_DELETE)->slot = a->slot;
        break;
    default: /* names: to the manager and back, then the flag */
        op = push(r, MODEL_ASK);
        op->other = replay->model.rank[id].node != 0;
        op->ns = replay->model.cost.overhead_ns;
        op = push(r, line->kind == 'P' ? MODEL_POST : MODEL_AWAIT);
        op->slot = address_of(replay, line->argument[0])->slot;
        break;
    }
}

/* The node of rank @id meets a region for the first time: it asks its maker's.
 */
static uint64_t attach_ns(struct replay *replay, uint32_t id, uint64_t region)
{
    const struct model *model = &replay->model;
    const struct address *a = address_of(replay, region);
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
        new_slot(replay, id, line->argument[0]);
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
        op->bytes = line->argument[2];
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

static void baseline_line(struct replay *replay, uint32_t id,
                          const struct record_line *line)
{
    const struct baseline_cost *cost = &replay->cost;
    struct replayed *r = &replay->rank[id];
    uint64_t ns = cost->call_ns + bytes_ns(cost->pack_mb_s, line->argument[2]);
    struct model_op *op;

    switch (line->kind) {
    case 'N':
    case 'D':
        push_ask(replay, r, id, 0);
        break;
    case 'S':
        push_ask(replay, r, id, line->argument[2] / 16);
        push_call(r, ns);
        op = push(r, MODEL_SEND);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        op->bytes = line->argument[2];
        break;
    default:
        op = push(r, MODEL_RECEIVE);
        op->peer = (uint32_t)line->argument[1];
        op->tag = TAG_REGIONS;
        op->ns = ns;
        break;
    }
}

/* --- Marks
 * -------------------------------------------------------------------- */

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

/* --- Line by line
 * ------------------------------------------------------------- */

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
        else if (replay->baseline)
            baseline_line(replay, id, line);
        else
            copy_line(replay, id, line);
        break;
    }
}

/* The next line that is a call, and what is to be done before it. */
static void begin_line(struct replay *replay, uint32_t id)
{
    const struct record_rank *record = &replay->records.rank[id];
    struct replayed *r = &replay->rank[id];
    uint64_t calls = 0;

    r->bytes = 0;
    for (r->call_at = record->at; record->line[r->call_at].kind == 'a';
         r->call_at++) {
        const struct record_line *line = &record->line[r->call_at];

        calls += line->call_ns + line->argument[1];
        r->bytes += line->argument[0];
    }
    r->asks = replay->baseline ? calls : 0;
    r->piece = 0;
    r->pieces = r->asks < 1 ? 1 : r->asks < ASKS_MAX ? r->asks : ASKS_MAX;
}

/*
 * Of what the program computed before the call, a part.  The baseline: as many
 * parts as there were allocations, and a request after each.
 */
static void push_piece(struct replay *replay, uint32_t id)
{
    const struct record_rank *record = &replay->records.rank[id];
    struct replayed *r = &replay->rank[id];

    push(r, MODEL_COMPUTE)->ns =
        (uint64_t)((double)record->line[r->call_at].program_ns *
                   replay->cost.compute / (double)r->pieces);
    r->piece++;
    if (!r->asks)
        return;
    push_ask(replay, r, id, r->bytes / r->pieces);
    r->op[r->count - 1].ns += (r->asks / r->pieces - 1) * replay->cost.serve_ns;
}

/* A line of allocations of a native region: it grows. */
static void push_growth(struct replay *replay, uint32_t id,
                        const struct record_line *line)
{
    const struct address *a;
    struct model_op *op;

    if (!line->program_ns || !line->argument[0])
        return;
    a = region_at(replay, id, line->program_ns);
    if (!a)
        return;
    op = push(&replay->rank[id], MODEL_GROW);
    op->slot = a->slot;
    op->bytes = line->argument[0];
}

static void next(void *ctx, uint32_t id, struct model_op *op_out)
{
    struct replay *replay = ctx;
    struct record_rank *record = &replay->records.rank[id];
    struct replayed *r = &replay->rank[id];

    while (r->at == r->count && !replay->model.error[0]) {
        r->at = r->count = 0;
        if (record->at == record->count)
            return;
        if (!r->pieces)
            begin_line(replay, id);
        if (r->piece < r->pieces) {
            push_piece(replay, id);
        } else if (record->at < r->call_at) {
            if (replay->records.native)
                push_growth(replay, id, &record->line[record->at]);
            record->at++;
        } else {
            push_call_of(replay, id, &record->line[record->at++]);
            r->pieces = 0;
        }
    }
    if (r->at < r->count)
        *op_out = r->op[r->at++];
}

/* --- The whole
 * ----------------------------------------------------------------- */

/* Names are flags; their slots are known before anybody asks for them. */
static void number_names(struct replay *replay)
{
    for (uint32_t i = 0; i < replay->records.ranks; i++) {
        const struct record_rank *rank = &replay->records.rank[i];

        for (size_t j = 0; j < rank->count; j++) {
            const struct record_line *line = &rank->line[j];
            struct address *a;

            if (line->kind != 'P' && line->kind != 'U')
                continue;
            a = address_of(replay, line->argument[0]);
            if (a->used)
                continue;
            a->used = true;
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
           replay->records.native ? "native"
           : replay->baseline     ? "baseline"
                                  : "copy",
           model->ranks, model->nodes, replay->baseline ? model->servers : 0,
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
    if (!replay->table || !replay->rank || !replay->known) {
        fprintf(stderr, "simulate: no memory\n");
        return 1;
    }
    number_names(replay);
    for (uint32_t i = 0; i < replay->records.ranks; i++)
        replay->rank[i].marked = !replay->records.measured_ns;
    failed = model_open(model) || model_run(model);
    if (failed)
        fprintf(stderr, "simulate: %s: %s\n", name, model->error);
    else
        print(replay, name);
    model_close(model);
    free(replay->table);
    free(replay->rank);
    free(replay->known);
    return failed;
}
