/* model_net.c - time and the network: events, links, progress threads, and what
 * becomes of a step's effects. */
#include <stdlib.h>
#include <string.h>

#include "memory/pages.h"
#include "sim/model.h"

/* A message of the runtime's own: its header, and little else. */
#define CALL_BYTES 64

enum packet_kind { PACKET_PROTO, PACKET_CALL, PACKET_REPLY, PACKET_USER };

/* The data of a TRANSFER on its way. */
struct model_data {
    struct proto_region *region; /* at the sender */
    uint64_t ticket, root, there_ns;
    uint32_t from, to;
    bool expected;
    int uses; /* by what is yet to come: sent, and arrived or not wanted */
};

struct model_packet {
    uint32_t from, to;
    enum packet_kind kind;
    struct model_data *data;
    uint64_t bytes, pages; /* CALL: pages wanted, REPLY: the chunk */
    uint64_t first;
    uint64_t sent_ns;
    uint32_t rank, from_rank, tag; /* USER */
    bool direct;                   /* USER: no progress thread is needed */
    int error;
    struct proto_message message;
    struct proto_item items[];
};

/* --- Events -------------------------------------------------------------- */

static bool before(const struct model_event *a, const struct model_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void model_event(struct model *model, uint64_t time, enum model_event_kind kind,
                 uint32_t who, void *what)
{
    struct model_event e = {.time = time,
                            .order = ++model->order,
                            .kind = (uint8_t)kind,
                            .who = who,
                            .what = what};
    uint64_t i = model->heap_count++;

    if (i == model->heap_room) {
        model->heap_room = i ? i * 2 : 1024;
        model->heap =
            realloc(model->heap, model->heap_room * sizeof(*model->heap));
        if (!model->heap)
            abort();
    }
    while (i > 0 && before(&e, &model->heap[(i - 1) / 2])) {
        model->heap[i] = model->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    model->heap[i] = e;
}

bool model_pop(struct model *model, struct model_event *event_out)
{
    struct model_event *heap = model->heap, e;
    uint64_t i = 0, child;

    if (!model->heap_count)
        return false;
    *event_out = heap[0];
    e = heap[--model->heap_count];
    while ((child = 2 * i + 1) < model->heap_count) {
        if (child + 1 < model->heap_count &&
            before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &e))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = e;
    return true;
}

/* --- The network --------------------------------------------------------- */

static uint64_t wire_ns(double mb_s, uint64_t bytes)
{
    return mb_s > 0 ? (uint64_t)((double)bytes * 1e3 / mb_s) : 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The progress thread of @id looks at one message of @bytes; when it is done
 * with it. */
static uint64_t thread_takes(struct model *model, uint32_t id, uint64_t bytes)
{
    struct model_node *node = &model->node[id];
    uint64_t takes = model->cost.overhead_ns;

    node->thread_free = later(node->thread_free, model->now) + takes;
    node->busy_ns += takes;
    node->messages++;
    model_rank_steal(model, id,
                     takes + wire_ns(model->cost.bandwidth_mb_s, bytes));
    return node->thread_free;
}

/* @bytes leave node @from at @when at the earliest; when they have left. */
static uint64_t link_takes(struct model *model, uint32_t from, uint64_t when,
                           uint64_t bytes)
{
    struct model_node *node = &model->node[from];

    node->out_free = later(node->out_free, when) +
                     wire_ns(model->cost.bandwidth_mb_s, bytes);
    return node->out_free;
}

static void ship(struct model *model, struct model_packet *packet)
{
    uint64_t left;

    model->total.messages++;
    model->total.bytes += packet->bytes;
    left = packet->direct ? model->now + model->cost.overhead_ns
                          : thread_takes(model, packet->from, packet->bytes);
    left = link_takes(model, packet->from, left, packet->bytes);
    model_event(model, left + model->cost.latency_ns, MODEL_EVENT_COMES,
                packet->to, packet);
}

static struct model_packet *packet_new(struct model *model, uint32_t from,
                                       uint32_t to, enum packet_kind kind,
                                       uint32_t items)
{
    struct model_packet *packet =
        calloc(1, sizeof(*packet) + items * sizeof(packet->items[0]));

    if (!packet)
        abort();
    packet->from = from;
    packet->to = to;
    packet->kind = kind;
    packet->bytes = CALL_BYTES;
    packet->sent_ns = model->now;
    return packet;
}

static void chunk_ask(struct model *model, uint32_t id, uint32_t manager,
                      uint64_t pages)
{
    struct model_packet *packet =
        packet_new(model, id, manager, PACKET_CALL, 0);

    packet->pages = pages;
    if (id == manager) { /* it asks itself */
        packet->direct = true;
        model_event(model, model->now + model->cost.step_ns, MODEL_EVENT_HANDLE,
                    id, packet);
        return;
    }
    ship(model, packet);
}

void model_chunk_ask(struct model *model, uint32_t id, uint64_t pages)
{
    chunk_ask(model, id, (uint32_t)chunks_manager_of(&model->space, (int)id),
              pages);
}

void model_send(struct model *model, struct model_rank *rank)
{
    const struct model_op *op = &rank->doing;
    uint32_t to = model->rank[op->peer].node;
    struct model_packet *packet =
        packet_new(model, rank->node, to, PACKET_USER, 0);

    packet->rank = op->peer;
    packet->from_rank = rank->id;
    packet->tag = op->tag;
    packet->bytes = op->bytes;
    packet->direct = !op->progress;
    if (to != rank->node) {
        ship(model, packet);
        return;
    }
    packet->direct = true;
    model_event(model,
                model->now + model->cost.local_ns +
                    wire_ns(model->cost.local_mb_s, op->bytes),
                MODEL_EVENT_HANDLE, to, packet);
}

/* --- Effects of steps ---------------------------------------------------- */

static uint64_t bytes_of(const struct proto_region *region)
{
    const struct model_region *r = region->memory;

    return r ? r->bytes : 0;
}

static void send_message(struct model *model, uint32_t id,
                         struct proto_effects *out, size_t i)
{
    const struct proto_message *m = proto_effect_message(out, i);
    struct model_packet *packet = packet_new(model, id, out->effect[i].node,
                                             PACKET_PROTO, m->items_count);
    struct model_data *data = NULL;
    uint64_t header_bytes = proto_encoded_size(m), bulk = 0, left;

    packet->message = *m;
    packet->message.items = packet->items;
    if (m->items_count)
        memcpy(packet->items, m->items, m->items_count * sizeof(*m->items));
    model->total.by_type[m->type]++;
    for (size_t j = i + 1; j < out->count && out->effect[j].kind == PROTO_SHIP;
         j++) {
        if (!data) {
            data = calloc(1, sizeof(*data));
            if (!data)
                abort();
            data->region = out->effect[j].region;
            data->uses = 2;
        }
        bulk += bytes_of(out->effect[j].region);
    }
    packet->bytes = header_bytes;
    packet->data = data;
    ship(model, packet);
    if (!data)
        return;
    data->from = id;
    data->to = packet->to;
    data->ticket = m->ticket;
    data->root = m->root;
    left = link_takes(model, id, model->now, bulk);
    model_rank_steal(model, id, wire_ns(model->cost.bandwidth_mb_s, bulk));
    model_rank_steal(model, data->to,
                     wire_ns(model->cost.bandwidth_mb_s, bulk));
    data->there_ns = left + model->cost.latency_ns;
    model->total.bytes += bulk;
    model_event(model, left, MODEL_EVENT_SENT, id, data);
}

static void arriving(struct model *model, const struct proto_effect *e)
{
    e->region->memory = model_region_at(model, e->region->address);
    if (e->data)
        e->copy->frames = e->region->memory;
}

static void data_used(struct model_data *data)
{
    if (--data->uses == 0)
        free(data);
}

static void expect(struct model *model, struct model_data *data)
{
    if (!data) {
        model_fail(model, "data is expected that was not sent");
        return;
    }
    data->expected = true;
    model_event(model, later(data->there_ns, model->now), MODEL_EVENT_ARRIVED,
                data->to, data);
}

static void effect_run(struct model *model, uint32_t id,
                       struct proto_effects *out, size_t i,
                       struct model_packet *packet)
{
    struct proto_effect *e = &out->effect[i];

    switch (e->kind) {
    case PROTO_SEND:
        send_message(model, id, out, i);
        break;
    case PROTO_ARRIVING:
        arriving(model, e);
        break;
    case PROTO_EXPECT:
        expect(model, packet ? packet->data : NULL);
        break;
    case PROTO_POISONED:
        model_fail(model, "node %u ends the job: %s", id, e->why);
        break;
    default:
        break;
    }
}

struct proto_effects *model_effects(struct model *model)
{
    struct proto_effects *out = model->spare;

    model->spare = NULL;
    if (!out)
        out = calloc(1, sizeof(*out));
    if (!out)
        abort();
    out->grow = realloc;
    proto_effects_clear(out);
    return out;
}

void model_effects_give(struct model *model, struct proto_effects *out)
{
    if (!model->spare) {
        model->spare = out;
        return;
    }
    proto_effects_free(out, free);
    free(out);
}

void model_effects_run(struct model *model, uint32_t id,
                       struct proto_effects *out, struct model_packet *packet)
{
    for (size_t i = 0; i < out->count; i++)
        effect_run(model, id, out, i, packet);
    for (size_t i = 0; i < out->count; i++) {
        struct proto_effect *e = &out->effect[i];

        if (e->kind == PROTO_FAILED || e->kind == PROTO_GRANTED)
            model_rank_done(model, e->waiter, e);
    }
}

/* --- Packets and data that arrive ---------------------------------------- */

static void handle_proto(struct model *model, struct model_packet *packet)
{
    struct model_node *node = &model->node[packet->to];
    struct proto_effects *out = model_effects(model);

    proto_message(&node->proto, packet->from, &packet->message, out);
    model_effects_run(model, packet->to, out, packet);
    model_effects_give(model, out);
}

/* The manager's book decides, as in the product. */
static void handle_call(struct model *model, struct model_packet *packet)
{
    struct model_packet *reply =
        packet_new(model, packet->to, packet->from, PACKET_REPLY, 0);

    reply->error = chunks_grant(
        &model->space, model->node[packet->to].book, (int)packet->from,
        packet->pages,
        chunks_wanted(&model->space, model->node[packet->from].had),
        &reply->first, &reply->pages);
    if (reply->error)
        reply->pages = packet->pages;
    model->total.chunks++;
    if (packet->from == packet->to)
        model_event(model, model->now, MODEL_EVENT_HANDLE, packet->to, reply);
    else
        ship(model, reply);
}

static void handle_reply(struct model *model, struct model_packet *packet)
{
    struct model_node *node = &model->node[packet->to];

    if (packet->error == DRASYNC_ENOSPACE && packet->from != 0) {
        chunk_ask(model, packet->to, 0, packet->pages);
        return;
    }
    node->had += packet->error ? 0 : packet->pages;
    node->lane_next = packet->first;
    node->lane_end = packet->first + packet->pages;
    model_rank_chunk(model, packet->to, packet->error);
}

static void handle(struct model *model, struct model_packet *packet)
{
    if (packet->kind == PACKET_PROTO)
        handle_proto(model, packet);
    else if (packet->kind == PACKET_CALL)
        handle_call(model, packet);
    else if (packet->kind == PACKET_REPLY)
        handle_reply(model, packet);
    else
        model_rank_mail(model, &model->rank[packet->rank], packet->from_rank,
                        packet->tag, packet->sent_ns);
    if (packet->data && !packet->data->expected)
        data_used(packet->data); /* nobody wants it */
    free(packet);
}

static void sent(struct model *model, struct model_data *data)
{
    struct proto_effects *out = model_effects(model);

    proto_sent(&model->node[data->from].proto, data->region->root, data->to,
               data->ticket, out);
    model_effects_run(model, data->from, out, NULL);
    model_effects_give(model, out);
    data_used(data);
}

static void arrived(struct model *model, struct model_data *data)
{
    struct proto_region *root = model_find(model, data->to, data->root);
    struct proto_effects *out = model_effects(model);

    if (!root)
        model_fail(model, "node %u lost the tree data came for", data->to);
    else
        proto_arrived(&model->node[data->to].proto, root, data->from,
                      data->ticket, 0, out);
    model_effects_run(model, data->to, out, NULL);
    model_effects_give(model, out);
    data_used(data);
}

void model_net_event(struct model *model, const struct model_event *event)
{
    struct model_packet *packet = event->what;

    switch ((enum model_event_kind)event->kind) {
    case MODEL_EVENT_COMES:
        model_event(model,
                    packet->direct
                        ? model->now + model->cost.overhead_ns
                        : thread_takes(model, packet->to, packet->bytes),
                    MODEL_EVENT_HANDLE, packet->to, packet);
        break;
    case MODEL_EVENT_HANDLE:
        handle(model, packet);
        break;
    case MODEL_EVENT_SENT:
        sent(model, event->what);
        break;
    case MODEL_EVENT_ARRIVED:
        arrived(model, event->what);
        break;
    default:
        break;
    }
}
