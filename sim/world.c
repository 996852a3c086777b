/* world.c - what the environment of a simulated node is made of: objects,
 * records by address, pages. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { ARENA_BYTES = 1 << 20, TABLE_SLOTS = 1 << 14 };

struct arena {
    struct arena *next;
    size_t used, room;
    _Alignas(max_align_t) char bytes[];
};

struct entry {
    struct entry *next;
    uint32_t node;
    uint64_t address;
    struct proto_region *region;
};

void *sim_alloc(struct sim *sim, size_t size_bytes)
{
    struct arena *arena = sim->arena;
    size_bytes = (size_bytes + 15) & ~(size_t)15;
    if (!arena || arena->used + size_bytes > arena->room) {
        size_t room = size_bytes > ARENA_BYTES ? size_bytes : ARENA_BYTES;
        arena = malloc(sizeof(*arena) + room);
        if (!arena)
            abort();
        arena->next = sim->arena;
        arena->used = 0;
        arena->room = room;
        sim->arena = arena;
    }
    void *bytes = arena->bytes + arena->used;
    arena->used += size_bytes;
    memset(bytes, 0, size_bytes);
    return bytes;
}

uint64_t sim_random(struct sim *sim, uint64_t below)
{
    uint64_t z = sim->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return below ? z % below : z;
}

void sim_found(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->finding[0])
        return;
    va_start(arguments, format);
    vsnprintf(sim->finding, sizeof(sim->finding), format, arguments);
    va_end(arguments);
}

struct sim_frames *frames_new(struct sim *sim, uint64_t tag)
{
    struct sim_frames *frames = sim_alloc(sim, sizeof(*frames));
    frames->tag = tag;
    return frames;
}

/* Objects are chained, so that what is left at the end can be freed. */
struct object {
    struct object *next, *prev;
    max_align_t body[];
};

/* The environment's ctx: which node of which simulation. */
struct place {
    struct sim *sim;
    uint32_t node;
};

static void *env_take(void *ctx, enum proto_type type)
{
    struct place *place = ctx;
    struct sim *sim = place->sim;
    uint32_t fault = sim->script->memory_fault;
    if (fault && !sim->reserved && sim_random(sim, fault) == 0)
        return NULL;
    sim->node[place->node].objects[type]++;
    struct object *o = malloc(sizeof(*o) + proto_object_size(type));
    struct object *head = sim->objects;
    o->next = head->next;
    o->prev = head;
    head->next->prev = o;
    head->next = o;
    return o->body;
}

static void env_give(void *ctx, enum proto_type type, void *object)
{
    struct place *place = ctx;
    place->sim->node[place->node].objects[type]--;
    struct object *o = (struct object *)(void *)((char *)object -
                                                 offsetof(struct object, body));
    o->next->prev = o->prev;
    o->prev->next = o->next;
    memset(object, 0xdd, proto_object_size(type));
    free(o);
}

static int env_reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    struct place *place = ctx;
    struct sim *sim = place->sim;
    uint32_t fault = sim->handling == PROTO_BOUNCE ? sim->script->bounce_fault
                                                   : sim->script->memory_fault;
    (void)counts;
    if (fault && sim_random(sim, fault) == 0)
        return DRASYNC_ENOMEM;
    sim->reserved = true;
    return 0;
}

static struct entry **bucket(struct sim *sim, uint32_t node, uint64_t address)
{
    struct entry **table = sim->table;
    uint64_t hash = ((address >> 12) * 0x9e3779b97f4a7c15u) ^
                    (node * UINT64_C(0xc2b2ae3d27d4eb4f));
    return &table[(hash >> 40) % TABLE_SLOTS];
}

struct proto_region *world_find(struct sim *sim, uint32_t node,
                                uint64_t address)
{
    for (struct entry *e = *bucket(sim, node, address); e; e = e->next)
        if (e->node == node && e->address == address)
            return e->region;
    return NULL;
}

static struct proto_region *env_find(void *ctx, uint64_t address)
{
    struct place *place = ctx;
    return world_find(place->sim, place->node, address);
}

static int env_insert(void *ctx, struct proto_region *region)
{
    struct place *place = ctx;
    struct sim *sim = place->sim;
    if (world_find(sim, place->node, region->address))
        sim_found(sim, "node %u: two records of one address", place->node);
    struct entry **slot = bucket(sim, place->node, region->address);
    struct entry *e = malloc(sizeof(*e));
    e->node = place->node;
    e->address = region->address;
    e->region = region;
    e->next = *slot;
    *slot = e;
    return 0;
}

static void env_remove(void *ctx, struct proto_region *region)
{
    struct place *place = ctx;
    struct entry **slot = bucket(place->sim, place->node, region->address);
    for (; *slot; slot = &(*slot)->next) {
        struct entry *e = *slot;
        if (e->region != region)
            continue;
        *slot = e->next;
        free(e);
        return;
    }
}

struct proto_region *world_next_root(struct sim *sim, uint32_t node,
                                     uint64_t *cursor)
{
    /* In order of creation of the regions, not in hash order. */
    struct oracle *best = NULL;
    for (struct oracle *o = sim->regions; o; o = o->next) {
        if (o->parent || o->number <= *cursor)
            continue;
        if (!best || o->number < best->number)
            best = o;
    }
    if (!best)
        return NULL;
    *cursor = best->number;
    struct proto_region *r = world_find(sim, node, best->address);
    if (r && r->incarnation == best->incarnation)
        return r;
    return world_next_root(sim, node, cursor);
}

static uint64_t env_stamp(void *ctx)
{
    struct place *place = ctx;
    return ++place->sim->counter;
}

static uint64_t env_ticket(void *ctx)
{
    struct place *place = ctx;
    return ++place->sim->node[place->node].tickets;
}

/* Lane addresses: node + 1 above the page; chunk addresses: bit 45. */
#define CHUNK_BIT  (UINT64_C(1) << 45)
#define LANE_SHIFT 28

static int64_t env_home(void *ctx, uint64_t address)
{
    struct place *place = ctx;
    struct sim *sim = place->sim;
    if (address & CHUNK_BIT) {
        uint64_t chunk = ((address & ~CHUNK_BIT) >> 12) / SIM_CHUNK_PAGES;
        if (chunk >= sim->chunks_count)
            return -2;
        uint32_t owner = sim->chunk_owner[chunk];
        uint32_t manager = (uint32_t)chunk % 3 % sim->script->nodes;
        return place->node == manager || place->node == owner ? owner : manager;
    }
    uint64_t lane = address >> LANE_SHIFT;
    if (lane == 0 || lane > sim->script->nodes)
        return -2;
    return (int64_t)lane - 1;
}

static bool env_extent(void *ctx, const struct proto_region *region, uint32_t i,
                       uint64_t *address, uint64_t *pages)
{
    struct place *place = ctx;
    struct oracle *o = oracle_of(place->sim, region);
    if (!o || i >= o->extents_count)
        return false;
    *address = o->extents[i];
    *pages = 1;
    return true;
}

/* The node's lane is used up: the manager gives it more addresses. */
static void chunk_cut(struct sim *sim, uint32_t id)
{
    uint32_t chunk = sim->chunks_count;
    if (chunk == sim->chunks_room) {
        uint32_t room = sim->chunks_room ? sim->chunks_room * 2 : 64;
        sim->chunk_owner =
            realloc(sim->chunk_owner, room * sizeof(*sim->chunk_owner));
        sim->chunks_room = room;
    }
    sim->chunk_owner[sim->chunks_count++] = id;
    for (uint64_t i = 0; i < SIM_CHUNK_PAGES; i++)
        page_free(&sim->node[id],
                  CHUNK_BIT | ((uint64_t)chunk * SIM_CHUNK_PAGES + i) << 12);
}

uint64_t page_cut(struct sim *sim, uint32_t id)
{
    struct sim_node *node = &sim->node[id];
    if (!node->free_count && node->lane_used < sim->script->lane_pages)
        return (uint64_t)(id + 1) << LANE_SHIFT | (uint64_t)(++node->lane_used)
                                                      << 12;
    if (!node->free_count)
        chunk_cut(sim, id);
    return node->free_pages[--node->free_count];
}

bool page_used(struct sim *sim, uint64_t address)
{
    for (struct oracle *o = sim->regions; o; o = o->next)
        for (uint32_t i = 0; o->death == UINT64_MAX && i < o->extents_count;
             i++)
            if (o->extents[i] == address)
                return true;
    return false;
}

void page_free(struct sim_node *node, uint64_t address)
{
    if (node->free_count == node->free_room) {
        node->free_room = node->free_room ? node->free_room * 2 : 16;
        node->free_pages =
            realloc(node->free_pages, node->free_room * sizeof(uint64_t));
    }
    node->free_pages[node->free_count++] = address;
}

static bool page_shared(const struct oracle *a, const struct oracle *b)
{
    for (uint32_t i = 0; i < a->extents_count; i++)
        for (uint32_t j = 0; j < b->extents_count; j++)
            if (a->extents[i] == b->extents[j])
                return true;
    return false;
}

uint64_t page_node(uint32_t id)
{
    return id < 64 ? UINT64_C(1) << id : 0;
}

/* A page of region @o, whose data arrives, is used again only when no node has
 * the region that it was in. */
void page_arrival_check(struct sim *sim, uint32_t id, const struct oracle *o)
{
    for (const struct oracle *old = sim->regions; o && old; old = old->next)
        if (old != o && old->death != UINT64_MAX && old->here & page_node(id) &&
            page_shared(o, old))
            sim_found(
                sim,
                "pages: node %u gets #%llu with a page of #%llu, which it "
                "has not forgotten",
                id, (unsigned long long)o->number,
                (unsigned long long)old->number);
}

void page_back(struct sim *sim, uint32_t id, uint64_t address, uint64_t pages)
{
    struct sim_node *node = &sim->node[id];
    struct place place = {sim, id};
    if (pages != 1 || env_home(&place, address) != id)
        sim_found(sim, "pages: node %u got an extent back that it did not cut",
                  id);
    for (uint32_t i = 0; i < node->free_count; i++)
        if (node->free_pages[i] == address)
            sim_found(sim, "pages: node %u got an extent back twice", id);
    if (page_used(sim, address))
        sim_found(sim, "pages: node %u got an extent of a living region", id);
    page_free(node, address);
}

/* All that was cut is free again or belongs to a living region. */
void page_end_check(struct sim *sim)
{
    uint64_t cut = 0, free_pages = 0, used = 0;
    for (uint32_t i = 0; i < sim->script->nodes; i++) {
        cut += sim->node[i].lane_used;
        free_pages += sim->node[i].free_count;
    }
    cut += (uint64_t)sim->chunks_count * SIM_CHUNK_PAGES;
    for (struct oracle *o = sim->regions; o; o = o->next)
        if (o->death == UINT64_MAX)
            used += o->extents_count;
    if (cut != free_pages + used)
        sim_found(sim, "pages: %llu cut, %llu free, %llu in use: some are lost",
                  (unsigned long long)cut, (unsigned long long)free_pages,
                  (unsigned long long)used);
}

void world_open(struct sim *sim, struct sim_script *script)
{
    memset(sim, 0, sizeof(*sim));
    sim->script = script;
    sim->random = script->seed * 0x9e3779b97f4a7c15u + 12345;
    struct object *head = sim_alloc(sim, sizeof(*head));
    head->next = head->prev = head;
    sim->objects = head;
    sim->table = calloc(TABLE_SLOTS, sizeof(struct entry *));
    sim->node = calloc(script->nodes, sizeof(*sim->node));
    sim->ranks_count = script->nodes * script->ranks_per_node;
    sim->rank = calloc(sim->ranks_count, sizeof(*sim->rank));
    for (uint32_t i = 0; i < script->nodes; i++) {
        struct place *place = sim_alloc(sim, sizeof(*place));
        place->sim = sim;
        place->node = i;
        struct proto_env env = {
            .ctx = place,
            .self = i,
            .nodes = script->nodes,
            .take = env_take,
            .give = env_give,
            .reserve = env_reserve,
            .find = env_find,
            .insert = env_insert,
            .remove = env_remove,
            .stamp = env_stamp,
            .ticket = env_ticket,
            .home = env_home,
            .extent = env_extent,
            .deletes_asked = &sim->node[i].deletes_asked,
        };
        sim->node[i].id = i;
        proto_node_open(&sim->node[i].proto, &env);
        sim->node[i].proto.fault = script->fault;
        if (script->waiters)
            sim->node[i].proto.waiters_max = script->waiters;
        if (script->presence)
            sim->node[i].proto.presence_max = script->presence;
        if (script->fanout)
            sim->node[i].proto.fanout = script->fanout;
        if (script->portion)
            sim->node[i].proto.portion_first = script->portion;
        if (script->answer)
            sim->node[i].proto.answer_items = script->answer;
        sim->node[i].proto.subscribe = script->subscribe;
        if (script->subscriptions)
            sim->node[i].proto.subscriptions_max = script->subscriptions;
        sim->asks_ahead |= script->subscribe > 0;
    }
}

void world_close(struct sim *sim)
{
    struct entry **table = sim->table;
    struct object *head = sim->objects;
    for (int i = 0; i < TABLE_SLOTS; i++) {
        while (table[i]) {
            struct entry *e = table[i];
            table[i] = e->next;
            free(e);
        }
    }
    while (head->next != head) {
        struct object *o = head->next;
        head->next = o->next;
        o->next->prev = head;
        free(o);
    }
    for (uint32_t i = 0; i < sim->script->nodes; i++)
        free(sim->node[i].free_pages);
    for (struct oracle *o = sim->regions; o; o = o->next)
        free(o->tags);
    for (uint32_t i = 0; i < sim->ranks_count; i++) {
        for (uint32_t j = 0; j < sim->rank[i].held_room; j++)
            free(sim->rank[i].held[j].seen);
        free(sim->rank[i].held);
        free(sim->rank[i].known);
        free(sim->rank[i].todo);
    }
    net_close(sim);
    free(sim->chunk_owner);
    free(sim->table);
    free(sim->node);
    free(sim->rank);
    while (sim->arena) {
        struct arena *arena = sim->arena;
        sim->arena = arena->next;
        free(arena);
    }
}
