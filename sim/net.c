/* net.c - time: the event heap, channels that keep order, data that comes
 * later than its message; and what becomes of a step's effects. */
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

/* What has time may take so many times as long as what has not. */
#define LATE 40

static bool before(const struct sim_event *a, const struct sim_event *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void event_add(struct sim *sim, uint64_t time, uint8_t kind, uint32_t who,
               uint32_t serial, void *what)
{
    if (sim->heap_count == sim->heap_room) {
        sim->heap_room = sim->heap_room ? sim->heap_room * 2 : 64;
        sim->heap = realloc(sim->heap, sim->heap_room * sizeof(*sim->heap));
    }
    struct sim_event e = {.time = time,
                          .order = ++sim->order,
                          .kind = kind,
                          .who = who,
                          .serial = serial,
                          .what = what};
    uint32_t i = sim->heap_count++;
    while (i > 0 && before(&e, &sim->heap[(i - 1) / 2])) {
        sim->heap[i] = sim->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    sim->heap[i] = e;
}

static struct sim_event event_pop(struct sim *sim)
{
    struct sim_event first = sim->heap[0];
    struct sim_event e = sim->heap[--sim->heap_count];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < sim->heap_count) {
        if (child + 1 < sim->heap_count &&
            before(&sim->heap[child + 1], &sim->heap[child]))
            child++;
        if (!before(&sim->heap[child], &e))
            break;
        sim->heap[i] = sim->heap[child];
        i = child;
    }
    sim->heap[i] = e;
    return first;
}

/* The table has grown. */
static void moved(struct sim_channel *to, const struct sim_channel *from)
{
    to->last = from->last;
    to->held = from->held;
    if (from->held)
        to->held_last = from->held_last;
}

/* Messages between two nodes. */
static struct sim_channel *channel(struct sim *sim, uint32_t from, uint32_t to)
{
    uint64_t key = ((uint64_t)from << 32 | to) + 1;
    if (sim->channels_count * 2 >= sim->channels_room) {
        struct sim_channel *old = sim->channels;
        uint32_t room = sim->channels_room;
        sim->channels_room = room ? room * 4 : 256;
        sim->channels = calloc(sim->channels_room, sizeof(*old));
        sim->channels_count = 0;
        for (uint32_t i = 0; i < room; i++)
            if (old[i].key)
                moved(channel(sim, (uint32_t)((old[i].key - 1) >> 32),
                              (uint32_t)(old[i].key - 1)),
                      &old[i]);
        free(old);
    }
    uint64_t at = key * 0x9e3779b97f4a7c15u >> 20;
    while (sim->channels[at % sim->channels_room].key &&
           sim->channels[at % sim->channels_room].key != key)
        at++;
    struct sim_channel *c = &sim->channels[at % sim->channels_room];
    if (!c->key)
        sim->channels_count++;
    if (!c->key)
        c->held_last = &c->held;
    c->key = key;
    return c;
}

static uint64_t delay(struct sim *sim, uint32_t node)
{
    uint64_t most = sim->script->delay_max;
    uint32_t slow = sim->script->slow_node;
    if (sim->script->scenario)
        return 10;
    if (slow && slow == node + 1)
        most *= 20;
    return 1 + sim_random(sim, most);
}

/* After the last one of @c, however long it takes by itself. */
static void leave(struct sim *sim, struct sim_channel *c,
                  struct sim_packet *packet)
{
    uint64_t time = sim->now + delay(sim, packet->from);
    if (time <= c->last)
        time = c->last + 1;
    c->last = time;
    event_add(sim, time, EVENT_PACKET, packet->to, 0, packet);
}

static void leave_held(struct sim *sim, struct sim_channel *c)
{
    struct sim_packet *packet;
    while ((packet = c->held) != NULL) {
        c->held = packet->next;
        leave(sim, c, packet);
    }
    c->held_last = &c->held;
}

/* What has time may wait for the next message to that node, and for long. */
static void hold_back(struct sim *sim, struct sim_channel *c,
                      struct sim_packet *packet)
{
    if (!c->held)
        event_add(sim,
                  sim->now + 1 + sim_random(sim, LATE * sim->script->delay_max),
                  EVENT_LATE, packet->from, packet->to, NULL);
    packet->next = NULL;
    *c->held_last = packet;
    c->held_last = &packet->next;
}

static void send_packet(struct sim *sim, uint32_t from, uint32_t to,
                        const struct proto_message *m, struct sim_data *data,
                        bool lazy)
{
    size_t size = proto_encoded_size(m);
    struct sim_packet *packet = malloc(sizeof(*packet) + size);
    packet->from = from;
    packet->to = to;
    packet->data = data;
    packet->size_bytes = size;
    proto_encode(m, packet->bytes);
    if (to >= sim->script->nodes || to == from)
        sim_found(sim, "node %u sends %s to node %u", from,
                  proto_message_name(m->type), to);
    sim->packets++;
    if (sim->show)
        show_message(sim, from, to, m);
    struct sim_channel *c = channel(sim, from, to);
    if (lazy && !sim->script->scenario && (c->held || sim_random(sim, 2))) {
        hold_back(sim, c, packet);
        return;
    }
    leave_held(sim, c);
    leave(sim, c, packet);
}

/* The SHIP effects that follow SEND number @i. */
static struct sim_data *data_of(struct sim *sim, uint32_t node,
                                struct proto_effects *out, size_t i)
{
    uint32_t count = 0;
    while (i + 1 + count < out->count &&
           out->effect[i + 1 + count].kind == PROTO_SHIP)
        count++;
    if (!count)
        return NULL;
    struct sim_data *data =
        sim_alloc(sim, sizeof(*data) + count * sizeof(data->part[0]));
    data->from = node;
    data->to = out->effect[i].node;
    data->count = count;
    data->ticket = proto_effect_message(out, i)->ticket;
    data->root = proto_effect_message(out, i)->root;
    for (uint32_t j = 0; j < count; j++) {
        data->part[j].item = out->effect[i + 1 + j].item;
        data->part[j].source = out->effect[i + 1 + j].copy;
        data->part[j].region = out->effect[i + 1 + j].region;
        /* Scenarios show the plain way. */
        if (!sim->script->scenario && sim_random(sim, 2))
            data->part[j].base = out->effect[i + 1 + j].base_version;
    }
    event_add(sim, sim->now + delay(sim, node), EVENT_SENT, node, 0, data);
    return data;
}

/* Frames for what arrives: new ones, or those of an older copy. */
static struct sim_frames *frames_for(struct sim *sim, uint32_t node,
                                     const struct proto_effect *e,
                                     uint64_t base)
{
    struct proto_node *proto = &sim->node[node].proto;
    struct sim_frames *frames = NULL;
    if (base && !e->base)
        proto_base_lost(e->region, e->copy);
    else if (base && (e->base->version != base || !e->base->frames))
        sim_found(sim, "data builds on what node %u did not keep", node);
    else
        frames =
            proto_take_frames(proto, e->region, e->copy, base ? e->base : NULL);
    if (!frames)
        return frames_new(sim, 0);
    frames->tag = 0; /* neither the old version nor the new one */
    return frames;
}

static void arriving(struct sim *sim, uint32_t node,
                     const struct proto_effect *e, struct sim_packet *packet)
{
    struct oracle *o = oracle_of(sim, e->region);
    e->region->memory = o;
    if (!e->data)
        return;
    if (o)
        o->here |= page_node(node);
    page_arrival_check(sim, node, o);
    for (uint32_t i = 0; packet && packet->data && i < packet->data->count; i++)
        if (packet->data->part[i].item == e->item) {
            e->copy->frames =
                frames_for(sim, node, e, packet->data->part[i].base);
            packet->data->part[i].target = e->copy->frames;
            return;
        }
    e->copy->frames = frames_new(sim, 0);
}

static void data_maybe_here(struct sim *sim, struct sim_data *data)
{
    if (data->captured && data->expected)
        event_add(sim, sim->now + delay(sim, data->from), EVENT_ARRIVED,
                  data->to, 0, data);
}

/* Right if tokens that came back found no memory; and all nodes must hear. */
static void poisoned(struct sim *sim, uint32_t id, const struct proto_effect *e)
{
    if (!e->told &&
        (sim->handling != PROTO_BOUNCE || !sim->script->bounce_fault))
        sim_found(sim, "node %u ends the job: %s", id, e->why);
    sim->poisoned = true;
    sim->node[id].poisoned = true;
    if (sim->show)
        fprintf(sim->show, "= %u ends the job: %s\n", id, e->why);
}

static bool is_delete(const struct proto_effect *e)
{
    const struct sim_rank *rank = e->waiter;
    return rank->doing.verb == SIM_DELETE;
}

static bool answers(const struct proto_effect *e)
{
    return e->kind == PROTO_GRANTED || e->kind == PROTO_FAILED;
}

static void effect_run(struct sim *sim, uint32_t id, struct proto_effects *out,
                       size_t i, struct sim_packet *packet)
{
    struct proto_effect *e = &out->effect[i];
    struct sim_frames *frames = e->frames;
    switch (e->kind) {
    case PROTO_SEND:
        send_packet(sim, id, e->node, proto_effect_message(out, i),
                    data_of(sim, id, out, i), e->lazy);
        break;
    case PROTO_ARRIVING:
        arriving(sim, id, e, packet);
        break;
    case PROTO_EXPECT:
        if (!packet || !packet->data) {
            sim_found(sim, "node %u expects data that is not sent", id);
            break;
        }
        packet->data->expected = true;
        data_maybe_here(sim, packet->data);
        break;
    case PROTO_COPY_RELEASED:
        if (frames && frames->freed)
            sim_found(sim, "node %u releases frames twice", id);
        if (frames)
            frames->freed = true;
        break;
    case PROTO_EXTENT:
        page_back(sim, id, e->address, e->pages);
        break;
    case PROTO_POISONED:
        poisoned(sim, id, e);
        break;
    case PROTO_GRANTED:
        /* Its extents come back by effects of the same step. */
        if (is_delete(e))
            rank_ended(sim, e->waiter, e);
        break;
    default:
        break;
    }
}

struct proto_effects *effects_take(struct sim *sim)
{
    struct proto_effects *out;
    if (sim->spare_count)
        out = sim->spare[--sim->spare_count];
    else
        out = calloc(1, sizeof(*out));
    out->grow = realloc;
    proto_effects_clear(out);
    return out;
}

static void effects_free(struct proto_effects *out)
{
    proto_effects_free(out, free);
    free(out);
}

void effects_give(struct sim *sim, struct proto_effects *out)
{
    sim->reserved = false;
    if (sim->spare_count < 64) {
        sim->spare[sim->spare_count++] = out;
        return;
    }
    effects_free(out);
}

void effects_run(struct sim *sim, uint32_t id, struct proto_effects *out,
                 struct sim_packet *packet)
{
    sim->reserved = false;
    /* Before what the same step brings, as in the runtime. */
    for (size_t i = 0; i < out->count; i++)
        if (out->effect[i].kind == PROTO_GONE && out->effect[i].memory)
            ((struct oracle *)out->effect[i].memory)->here &= ~page_node(id);
    for (size_t i = 0; i < out->count && !sim->finding[0]; i++)
        effect_run(sim, id, out, i, packet);
    for (size_t i = 0; i < out->count && !sim->finding[0]; i++) {
        struct proto_effect *e = &out->effect[i];
        if (answers(e) && (e->kind == PROTO_FAILED || !is_delete(e)))
            rank_ended(sim, e->waiter, e);
    }
}

static void packet_run(struct sim *sim, struct sim_packet *packet)
{
    struct sim_node *node = &sim->node[packet->to];
    uint32_t count = proto_encoded_items(packet->bytes, packet->size_bytes);
    struct proto_item *items = malloc((count + 1) * sizeof(*items));
    struct proto_message m = {0};
    const char *why;
    if (proto_decode(&node->proto.env, packet->bytes, packet->size_bytes, items,
                     &m, &why)) {
        sim_found(sim, "node %u got a bad message (%s): %s", packet->to,
                  proto_message_name(m.type), why);
    } else {
        struct proto_effects *out = effects_take(sim);
        sim->handling = m.type;
        if (m.type == PROTO_TRANSFER && m.flags & PROTO_GIVEN)
            gift_arrives(sim, packet->to, &m);
        proto_message(&node->proto, packet->from, &m, out);
        effects_run(sim, packet->to, out, packet);
        ahead_check(sim, packet->to, &m, out);
        effects_give(sim, out);
    }
    free(items);
    free(packet);
}

static void sent_run(struct sim *sim, struct sim_data *data)
{
    struct proto_region *root = data->part[0].region->root;
    for (uint32_t i = 0; i < data->count; i++) {
        struct sim_frames *frames = data->part[i].source->frames;
        if (frames->freed)
            sim_found(sim, "node %u sends from frames that are gone",
                      data->from);
        data->part[i].tag = frames->tag;
    }
    data->captured = true;
    data_maybe_here(sim, data);
    struct proto_effects *out = effects_take(sim);
    proto_sent(&sim->node[data->from].proto, root, data->to, data->ticket, out);
    effects_run(sim, data->from, out, NULL);
    effects_give(sim, out);
}

static void arrived_run(struct sim *sim, struct sim_data *data)
{
    uint32_t fault = sim->script->data_fault;
    int error = fault && sim_random(sim, fault) == 0 ? DRASYNC_ENOMEM : 0;
    for (uint32_t i = 0; i < data->count && !error; i++)
        if (data->part[i].target)
            data->part[i].target->tag = data->part[i].tag;
    struct proto_region *root = world_find(sim, data->to, data->root);
    if (!root) {
        sim_found(sim, "node %u lost the tree that data came for", data->to);
        return;
    }
    struct proto_effects *out = effects_take(sim);
    proto_arrived(&sim->node[data->to].proto, root, data->from, data->ticket,
                  error, out);
    effects_run(sim, data->to, out, NULL);
    effects_give(sim, out);
}

/* A node that has ended the job does nothing any more. */
static bool event_void(struct sim *sim, const struct sim_event *e)
{
    bool of_rank = e->kind == EVENT_RANK || e->kind == EVENT_TIMEOUT;
    uint32_t node = of_rank ? sim->rank[e->who].node : e->who;
    if (!sim->node[node].poisoned)
        return false;
    if (e->kind == EVENT_PACKET)
        free(e->what);
    return true;
}

bool event_run(struct sim *sim)
{
    if (!sim->heap_count || sim->finding[0])
        return false;
    struct sim_event e = event_pop(sim);
    if (++sim->events > SIM_EVENTS_MAX)
        sim_found(sim, "no end after %d events", SIM_EVENTS_MAX);
    sim->now = e.time;
    sim->step++;
    if (event_void(sim, &e))
        return true;
    switch (e.kind) {
    case EVENT_RANK:
        rank_next(sim, &sim->rank[e.who]);
        ahead_check(sim, sim->rank[e.who].node, NULL, NULL);
        break;
    case EVENT_PACKET:
        packet_run(sim, e.what);
        break;
    case EVENT_SENT:
        sent_run(sim, e.what);
        break;
    case EVENT_ARRIVED:
        arrived_run(sim, e.what);
        break;
    case EVENT_LATE:
        leave_held(sim, channel(sim, e.who, e.serial));
        break;
    default:
        rank_timeout(sim, &sim->rank[e.who], e.serial);
        break;
    }
    return true;
}

void event_rank(struct sim *sim, struct sim_rank *rank)
{
    uint64_t think = sim->script->think_max;
    if (!sim->script->scenario)
        event_add(sim, sim->now + 1 + sim_random(sim, think), EVENT_RANK,
                  rank->id, 0, NULL);
}

void net_close(struct sim *sim)
{
    while (sim->heap_count) {
        struct sim_event e = event_pop(sim);
        if (e.kind == EVENT_PACKET)
            free(e.what);
    }
    for (uint32_t i = 0; i < sim->channels_room; i++)
        while (sim->channels[i].held) {
            struct sim_packet *packet = sim->channels[i].held;
            sim->channels[i].held = packet->next;
            free(packet);
        }
    while (sim->spare_count) {
        struct proto_effects *out = sim->spare[--sim->spare_count];
        effects_free(out);
    }
    free(sim->heap);
    free(sim->channels);
}
