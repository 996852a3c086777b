/*
 * step.c - messages of the protocol that decode, but need not make sense where
 * they come, and calls of this node's ranks between them.  A message either is
 * taken, or is ignored, or ends the job (POISONED); nothing breaks.
 *
 * An input is a list of commands of a byte: a message from a node, a call, or the
 * end of a transfer of data that is under way.
 */
#include "protocol/protocol.h"
#include "tests/fuzz/fuzz.h"

enum { NODES = 4, SELF = 1, RANKS = 2, ADDRESSES = 64 };
enum { UNDER_WAY = 64, ITEMS_MAX = 8 };

static struct proto_region *table[ADDRESSES];
static struct proto_node node;
static struct proto_effects out = {.grow = realloc};
static uint64_t counter;
static bool over;
static uint32_t failing; /* takes from the last on, as bits */

/* Every object, to give back at the end. */
struct object {
    struct object *next, **link;
    max_align_t data[];
};
static struct object *objects;

/* Data that comes or goes. */
static struct {
    bool in;
    uint32_t node;
    uint64_t root, ticket;
} way[UNDER_WAY];
static size_t ways;

static void *take(void *ctx, enum proto_type type)
{
    struct object *o = malloc(sizeof(*o) + proto_object_size(type));

    (void)ctx;
    FUZZ_HOLDS(o);
    o->next = objects;
    o->link = &objects;
    if (objects)
        objects->link = &o->next;
    objects = o;
    memset(o->data, 0x5a, proto_object_size(type));
    return o->data;
}

static void give(void *ctx, enum proto_type type, void *object)
{
    struct object *o =
        (struct object *)((char *)object - offsetof(struct object, data));

    (void)ctx;
    (void)type;
    *o->link = o->next;
    if (o->next)
        o->next->link = o->link;
    free(o);
}

static int reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    (void)counts;
    failing >>= 1;
    return failing & 1 ? DRASYNC_ENOMEM : 0;
}

static struct proto_region *find(void *ctx, uint64_t address)
{
    (void)ctx;
    return address < ADDRESSES ? table[address] : NULL;
}

static int insert(void *ctx, struct proto_region *r)
{
    (void)ctx;
    FUZZ_HOLDS(r->address < ADDRESSES && !table[r->address]);
    table[r->address] = r;
    return 0;
}

static void forget(void *ctx, struct proto_region *r)
{
    (void)ctx;
    if (table[r->address] == r)
        table[r->address] = NULL;
}

static uint64_t stamp(void *ctx)
{
    (void)ctx;
    return ++counter;
}

static int64_t home(void *ctx, uint64_t address)
{
    (void)ctx;
    return address < ADDRESSES ? (int64_t)(address % NODES) : -2;
}

static bool extent(void *ctx, const struct proto_region *r, uint32_t i,
                   uint64_t *address, uint64_t *pages)
{
    (void)ctx;
    *address = r->address;
    *pages = 1;
    return i == 0;
}

/* --- What a step asks for -------------------------------------------------- */

static void note_way(bool in, uint32_t other, uint64_t root, uint64_t ticket)
{
    if (ways == UNDER_WAY) {
        over = true;
        return;
    }
    way[ways].in = in;
    way[ways].node = other;
    way[ways].root = root;
    way[ways++].ticket = ticket;
}

/* Of what is sent @size bytes are room enough, and it is what a node takes. */
static void sends(size_t at, size_t count)
{
    const struct proto_message *m = proto_effect_message(&out, at);

    FUZZ_HOLDS(out.effect[at].node < NODES);
    if (at + 1 < count && out.effect[at + 1].kind == PROTO_SHIP)
        note_way(false, out.effect[at].node, m->root, m->ticket);
}

static void act(void)
{
    static char frames;

    FUZZ_HOLDS(!out.failed);
    for (size_t i = 0; i < out.count && !over; i++) {
        const struct proto_effect *e = &out.effect[i];

        if (e->kind == PROTO_SEND)
            sends(i, out.count);
        else if (e->kind == PROTO_ARRIVING && e->data)
            e->copy->frames = &frames;
        else if (e->kind == PROTO_EXPECT)
            note_way(true, e->node, e->region->root->address, e->ticket);
        else if (e->kind == PROTO_POISONED)
            over = true;
    }
    proto_effects_clear(&out);
}

/* --- Commands -------------------------------------------------------------- */

/* Small numbers, so that messages meet each other's regions and requests. */
static void read_item(struct fuzz_input *in, struct proto_item *item)
{
    memset(item, 0, sizeof(*item));
    item->kind = (uint8_t)(fuzz_number(in, 1) % PROTO_ITEM_KINDS);
    item->mode = (uint8_t)(fuzz_number(in, 1) % 3);
    item->flags = (uint16_t)fuzz_number(in, 2);
    item->node = (uint32_t)fuzz_number(in, 1) % NODES;
    item->address = fuzz_number(in, 1) % ADDRESSES;
    item->incarnation = fuzz_number(in, 1);
    item->parent = fuzz_number(in, 1) % ADDRESSES;
    item->version = fuzz_number(in, 1);
    item->epoch = fuzz_number(in, 1);
}

static void read_message(struct fuzz_input *in, struct proto_message *m)
{
    memset(m, 0, sizeof(*m));
    m->type = (uint8_t)(1 + fuzz_number(in, 1) % (PROTO_MESSAGE_TYPES - 1));
    m->mode = (uint8_t)(fuzz_number(in, 1) % 3);
    m->flags = (uint16_t)fuzz_number(in, 2);
    m->hops = (uint16_t)fuzz_number(in, 1);
    m->error = (int16_t) - (int16_t)(fuzz_number(in, 1) % 32);
    m->node = (uint32_t)fuzz_number(in, 1) % NODES;
    m->via = (uint32_t)fuzz_number(in, 1) % NODES;
    m->ticket = fuzz_number(in, 1);
    m->root = fuzz_number(in, 1) % ADDRESSES;
    m->region = fuzz_number(in, 1) % ADDRESSES;
    m->incarnation = fuzz_number(in, 1);
    m->version = fuzz_number(in, 1);
    m->epoch = fuzz_number(in, 1);
    m->after = fuzz_number(in, 1);
    m->items_count = (uint32_t)fuzz_number(in, 1) % ITEMS_MAX;
}

/* Only what proto_decode() takes is handed on. */
static void message(struct fuzz_input *in, uint32_t from)
{
    struct proto_item items[ITEMS_MAX], decoded[ITEMS_MAX];
    struct proto_message m, got;
    const char *why;

    read_message(in, &m);
    for (uint32_t i = 0; i < m.items_count; i++)
        read_item(in, &items[i]);
    m.items = items;
    size_t bytes = proto_encoded_size(&m);
    char *packet = malloc(bytes);
    FUZZ_HOLDS(packet);
    proto_encode(&m, packet);
    if (!proto_decode(&node.env, packet, bytes, decoded, &got, &why))
        proto_message(&node, from, &got, &out);
    act();
    free(packet);
}

static void data_over(struct fuzz_input *in)
{
    uint64_t what = fuzz_number(in, 1);
    size_t i = ways ? what / 2 % ways : 0;

    if (!ways)
        return;
    struct proto_region *r = find(NULL, way[i].root);
    uint64_t ticket = way[i].ticket;
    uint32_t other = way[i].node;
    bool arrived = way[i].in;

    way[i] = way[--ways];
    if (!r)
        return;
    if (arrived)
        proto_arrived(&node, r->root, other, ticket,
                      what & 1 ? DRASYNC_ENOMEM : 0, &out);
    else
        proto_sent(&node, r->root, other, ticket, &out);
    act();
}

static void call(struct fuzz_input *in)
{
    static char waiter;
    uint64_t what = fuzz_number(in, 1), address = fuzz_number(in, 1);
    int32_t rank = (int32_t)(what >> 4) % RANKS;
    enum drasync_mode mode = what & 8 ? DRASYNC_WRITE : DRASYNC_READ;
    struct proto_region *r = find(NULL, address), *made;
    struct proto_grant grant;
    struct proto_op *op;

    switch (what & 7) {
    case 0:
        if (!r && address < ADDRESSES && address % NODES == SELF)
            proto_create_root(&node, rank, address, NULL, NULL, &made, &out);
        break;
    case 1:
        address = address % (ADDRESSES / NODES) * NODES + SELF;
        if (r && !find(NULL, address))
            proto_create_subregion(&node, rank, r, address, NULL, NULL, &made,
                                   &out);
        break;
    case 2:
        if (r && r->incarnation && !r->locating)
            proto_release(&node, rank, r, mode, &out);
        break;
    case 3:
        if (address < ADDRESSES)
            proto_delete(&node, rank, r, address, &waiter, &out);
        break;
    case 4:
        if (r)
            proto_drop_copies(&node, r->root, &out);
        break;
    default:
        if (address < ADDRESSES)
            proto_acquire_as(
                &node, r, address,
                &(struct proto_asked){.rank = rank,
                                      .mode = mode,
                                      .nowait = what & 1,
                                      .waiter = &waiter,
                                      .newer = (what & 7) == 6 ? what : 0},
                &grant, &op, &out);
    }
    act();
}

static void begin(void)
{
    static const struct proto_env env = {.self = SELF,
                                         .nodes = NODES,
                                         .take = take,
                                         .give = give,
                                         .reserve = reserve,
                                         .find = find,
                                         .insert = insert,
                                         .remove = forget,
                                         .stamp = stamp,
                                         .ticket = stamp,
                                         .home = home,
                                         .extent = extent};

    proto_node_open(&node, &env);
    counter = ways = 0;
    over = false;
}

static void end(void)
{
    while (objects)
        give(NULL, PROTO_REGION, objects->data);
    memset(table, 0, sizeof(table));
    proto_effects_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_input in = {data, bytes};

    begin();
    failing = (uint32_t)fuzz_number(&in, 1) << 1;
    for (int i = 0; i < 64 && in.left && !over; i++) {
        uint64_t what = fuzz_number(&in, 1);

        if (what % 4 == 0)
            call(&in);
        else if (what % 4 == 1)
            data_over(&in);
        else
            message(&in,
                    (SELF + 1 + (uint32_t)(what >> 2) % (NODES - 1)) % NODES);
    }
    end();
    return 0;
}
