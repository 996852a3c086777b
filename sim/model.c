/* model.c - what a simulated node has: objects, records by address, pages; and
 * the run as a whole. */
#include "sim/model.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory/control.h"
#include "memory/pages.h"

/* From here on a region grows by quarters, before it doubles: as heap_grow().
 */
#define DOUBLING_PAGES_MAX 1024

#define TABLE_SLOTS_MIN ((uint64_t)1 << 16)

const struct model_cost model_cost_default = {
    .latency_ns = 8000,
    .overhead_ns = 1000,
    .bandwidth_mb_s = 1700,
    .local_ns = 1000,
    .step_ns = 75,
    .copy_mb_s = 5000,
    .quantum_ns = 3000000,
};

/* What is at an address: for nodes, their records; for NOBODY, the regions as
 * they really are. */
#define NOBODY UINT32_MAX

struct model_entry {
    struct model_entry *next;
    void *what;
    uint64_t address;
    uint32_t node;
};

/* The environment's ctx: which node of which model. */
struct model_place {
    struct model *model;
    uint32_t node;
};

void model_fail(struct model *model, const char *format, ...)
{
    va_list arguments;

    if (model->error[0])
        return;
    va_start(arguments, format);
    vsnprintf(model->error, sizeof(model->error), format, arguments);
    va_end(arguments);
}

/* --- Records by address --------------------------------------------------- */

static struct model_entry **bucket(struct model *model, uint32_t node,
                                   uint64_t address)
{
    uint64_t hash = (address >> PAGE_SHIFT) * 0x9e3779b97f4a7c15u ^
                    node * UINT64_C(0xc2b2ae3d27d4eb4f);

    return &model->table[(hash ^ hash >> 29) & (model->table_slots - 1)];
}

static void *table_find(struct model *model, uint32_t node, uint64_t address)
{
    struct model_entry *e = *bucket(model, node, address);

    while (e && (e->address != address || e->node != node))
        e = e->next;
    return e ? e->what : NULL;
}

struct proto_region *model_find(struct model *model, uint32_t node,
                                uint64_t address)
{
    return table_find(model, node, address);
}

struct model_region *model_region_at(struct model *model, uint64_t address)
{
    return table_find(model, NOBODY, address);
}

static void table_grow(struct model *model)
{
    struct model_entry **old = model->table;
    uint64_t slots = model->table_slots;

    model->table_slots = slots ? slots * 4 : TABLE_SLOTS_MIN;
    model->table = calloc(model->table_slots, sizeof(struct model_entry *));
    if (!model->table)
        abort();
    for (uint64_t i = 0; i < slots; i++) {
        while (old[i]) {
            struct model_entry *e = old[i];
            struct model_entry **slot = bucket(model, e->node, e->address);

            old[i] = e->next;
            e->next = *slot;
            *slot = e;
        }
    }
    free(old);
}

static void table_free(struct model *model)
{
    for (uint64_t i = 0; i < model->table_slots; i++) {
        while (model->table[i]) {
            struct model_entry *e = model->table[i];

            model->table[i] = e->next;
            free(e);
        }
    }
    free(model->table);
}

static void table_insert(struct model *model, uint32_t node, uint64_t address,
                         void *what)
{
    struct model_entry *e = malloc(sizeof(*e)), **slot;

    if (!e)
        abort();
    if (++model->table_count > model->table_slots)
        table_grow(model);
    slot = bucket(model, node, address);
    e->node = node;
    e->address = address;
    e->what = what;
    e->next = *slot;
    *slot = e;
}

static struct proto_region *env_find(void *ctx, uint64_t address)
{
    struct model_place *place = ctx;

    return model_find(place->model, place->node, address);
}

static int env_insert(void *ctx, struct proto_region *region)
{
    struct model_place *place = ctx;

    table_insert(place->model, place->node, region->address, region);
    return 0;
}

static void env_remove(void *ctx, struct proto_region *region)
{
    struct model_place *place = ctx;
    struct model_entry **slot =
        bucket(place->model, place->node, region->address);

    for (; *slot; slot = &(*slot)->next) {
        struct model_entry *e = *slot;

        if (e->what != region)
            continue;
        *slot = e->next;
        free(e);
        place->model->table_count--;
        return;
    }
}

/* --- The rest of the environment ------------------------------------------ */

/* Before each object of the protocol: what a run ends with is freed too. */
struct model_object {
    struct model_object *next, **link;
};

static void *env_take(void *ctx, enum proto_type type)
{
    struct model *model = ((struct model_place *)ctx)->model;
    struct model_object *o = malloc(sizeof(*o) + proto_object_size(type));

    if (!o)
        return NULL;
    o->next = model->objects;
    o->link = &model->objects;
    if (o->next)
        o->next->link = &o->next;
    model->objects = o;
    return o + 1;
}

static void object_free(struct model_object *o)
{
    *o->link = o->next;
    if (o->next)
        o->next->link = o->link;
    free(o);
}

static void env_give(void *ctx, enum proto_type type, void *object)
{
    (void)ctx;
    (void)type;
    object_free((struct model_object *)object - 1);
}

static int env_reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    (void)counts;
    return 0;
}

static uint64_t env_stamp(void *ctx)
{
    struct model_place *place = ctx;

    return ++place->model->stamp;
}

static uint64_t env_ticket(void *ctx)
{
    struct model_place *place = ctx;

    return ++place->model->node[place->node].tickets;
}

/* As runtime/native/pool.c has it. */
static int64_t env_home(void *ctx, uint64_t address)
{
    struct model_place *place = ctx;
    const struct space *space = &place->model->space;
    uint64_t offset = address - (uint64_t)(uintptr_t)space->base;
    uint64_t page = offset >> PAGE_SHIFT;
    int64_t home;
    int manager;

    if (offset >= space->layout.data_bytes || page == 0)
        return -2;
    home = page_home(space, page);
    if (home >= 0)
        return home;
    /* Other nodes than its manager know their own chunks only. */
    manager = chunks_manager(space, page);
    if (manager < 0)
        return -2;
    home = chunks_home(space, place->model->node[manager].book, page);
    if (place->node == (uint32_t)manager)
        return home >= 0 ? home : -2;
    return home == place->node ? home : manager;
}

static bool env_extent(void *ctx, const struct proto_region *region, uint32_t i,
                       uint64_t *address, uint64_t *pages)
{
    struct model_place *place = ctx;
    const struct model_region *r = region->memory;

    if (!r || i >= r->extents_count)
        return false;
    *address = (uint64_t)(uintptr_t)space_address(&place->model->space,
                                                  r->extents[i].page);
    *pages = r->extents[i].pages;
    return true;
}

void model_env(struct model *model, uint32_t node, struct proto_env *env)
{
    struct model_place *place = malloc(sizeof(*place));

    if (!place)
        abort();
    place->model = model;
    place->node = node;
    *env = (struct proto_env){
        .ctx = place,
        .self = node,
        .nodes = model->nodes,
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
    };
}

/* --- Pages ---------------------------------------------------------------- */

static void add_extent(struct model_region *r, uint64_t page, uint64_t pages)
{
    if (r->extents_count == r->extents_room) {
        r->extents_room = r->extents_room ? r->extents_room * 2 : 4;
        r->extents = realloc(r->extents, r->extents_room * sizeof(*r->extents));
        if (!r->extents)
            abort();
    }
    r->extents[r->extents_count].page = page;
    r->extents[r->extents_count++].pages = pages;
    r->pages += pages;
}

bool model_pages(struct model *model, uint32_t id, struct model_region *r,
                 uint64_t pages)
{
    struct model_node *node = &model->node[id];
    uint64_t wanted = r->pages < DOUBLING_PAGES_MAX ? r->pages : r->pages / 4;

    if (wanted < pages)
        wanted = pages;
    /* Like the heap: what it needs, if there is no run for more. */
    if (node->lane_next + wanted > node->lane_end)
        wanted = pages;
    if (node->lane_next + wanted > node->lane_end)
        return false;
    if (!r->pages) {
        r->address =
            (uint64_t)(uintptr_t)space_address(&model->space, node->lane_next);
        table_insert(model, NOBODY, r->address, r);
    }
    add_extent(r, node->lane_next, wanted);
    node->lane_next += wanted;
    return true;
}

/* The manager's memory, as the product sets it up, and every node's lane. */
static int open_space(struct model *model)
{
    struct space_layout layout;
    int data_fd, control_fd, candidate = 0, count;
    uintptr_t candidates[SPACE_CANDIDATES_MAX];
    char line[256];
    uint64_t lane;

    if (space_layout_for(0, &layout) ||
        space_files_new(&layout, &data_fd, &control_fd))
        return -1;
    count = space_candidates(&layout, candidates);
    while (candidate < count &&
           space_map(&model->space, &layout, candidate, data_fd, control_fd,
                     line, sizeof(line)))
        candidate++;
    if (candidate == count)
        return -1;
    if (control_create(&model->space, 0, (int)model->nodes, (uint64_t)1 << 33))
        return -1;
    if (model->nodes == 1)
        lane = model->space.pages;
    else
        lane = model->space.pages / 2 / model->nodes;
    for (uint32_t i = 0; i < model->nodes; i++) {
        struct model_node *node = &model->node[i];
        uint64_t pages = model->lane_pages && model->lane_pages < lane
                             ? model->lane_pages
                             : lane;

        /* Page 0 is nobody's. */
        node->lane_next = i * lane + (i == 0);
        node->lane_end = i * lane + pages;
        if (chunks_manager_of(&model->space, (int)i) == (int)i) {
            node->book = calloc(1, chunk_book_bytes());
            if (!node->book ||
                chunk_book_open(&model->space, node->book, (int)i))
                return -1;
        }
        if (page_home(&model->space, node->lane_next) != (int)i ||
            page_home(&model->space, i * lane + lane - 1) != (int)i)
            return -1;
    }
    return 0;
}

/* --- The run -------------------------------------------------------------- */

int model_open(struct model *model)
{
    model->node = calloc(model->nodes, sizeof(*model->node));
    model->ranks = model->nodes * model->per_node;
    model->rank = calloc(model->ranks, sizeof(*model->rank));
    model->region = calloc(model->regions + 1, sizeof(*model->region));
    model->server = calloc(model->servers + 1, sizeof(*model->server));
    model->flag = calloc(model->flags + 1, sizeof(*model->flag));
    model->queue = calloc(model->ranks + 1, sizeof(struct model_rank *));
    model->spare = calloc(1, sizeof(*model->spare));
    if (!model->node || !model->rank || !model->region || !model->server ||
        !model->flag || !model->queue || !model->spare) {
        model_fail(model, "no memory for %u nodes", model->nodes);
        return -1;
    }
    table_grow(model);
    if (open_space(model)) {
        model_fail(model, "%u nodes do not fit into the address space",
                   model->nodes);
        return -1;
    }
    for (uint32_t i = 0; i < model->nodes; i++) {
        struct proto_env env;

        model_env(model, i, &env);
        proto_node_open(&model->node[i].proto, &env);
        model->node[i].proto.subscribe = model->subscribe;
        if (model->fanout)
            model->node[i].proto.fanout = model->fanout;
    }
    for (uint32_t i = 0; i < model->ranks; i++) {
        model->rank[i].id = i;
        model->rank[i].node = i / model->per_node;
        model_event(model, 0, MODEL_EVENT_RANK, i, NULL);
    }
    return 0;
}

void model_close(struct model *model)
{
    for (uint32_t i = 0; i < model->regions; i++)
        free(model->region[i].extents);
    for (uint32_t i = 0; i < model->ranks; i++)
        free(model->rank[i].mail);
    if (model->space.base) {
        close(model->space.data_fd);
        close(model->space.control_fd);
        space_unmap(&model->space);
    }
    for (uint32_t i = 0; model->node && i < model->nodes; i++) {
        free(model->node[i].book);
        free(model->node[i].proto.env.ctx);
    }
    free(model->node);
    free(model->rank);
    free(model->region);
    free(model->server);
    free(model->flag);
    free(model->queue);
    free(model->heap);
    if (model->spare)
        proto_effects_free(model->spare, free);
    free(model->spare);
    table_free(model);
    while (model->objects)
        object_free(model->objects);
}

int model_run(struct model *model)
{
    struct model_event event;

    while (!model->error[0] && model_pop(model, &event)) {
        model->now = event.time;
        model->events++;
        if (event.kind == MODEL_EVENT_RANK || event.kind == MODEL_EVENT_CORE ||
            event.kind == MODEL_EVENT_ANSWER)
            model_rank_event(model, &event);
        else
            model_net_event(model, &event);
    }
    if (!model->error[0] && model->ended != model->ranks)
        model_fail(model, "%u of %u ranks wait for ever",
                   model->ranks - model->ended, model->ranks);
    return model->error[0] ? -1 : 0;
}
