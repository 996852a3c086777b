/* protocol_memory.c - what a step needs of the node: locks of trees, and memory,
 * which there may not be. */
#include "tests/unit/protocol_node.h"

static bool enough(enum proto_message_type type, enum proto_item_kind kind,
                   const struct proto_region *root, uint32_t count,
                   const struct proto_region *const regions[])
{
    struct proto_item items[5] = {{0}};
    struct proto_message m = {
        .type = type, .root = 1, .items_count = count, .items = items};
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = kind;
        items[i].address = regions[i]->address;
        items[i].incarnation = regions[i]->incarnation;
    }
    if (type == PROTO_FREED) {
        items[count].kind = PROTO_ITEM_EXTENT;
        items[count].address = 77; /* no region's */
        m.items_count++;
    }
    CHECK(proto_message_tree(&m) == 1);
    return proto_message_tree_enough(&m, root, find, NULL);
}

/* A TRANSFER needs its tree alone if all of it is known to be in that; and so
 * does what is said of regions that are deleted. */
static void test_tree_enough(enum proto_message_type type,
                             enum proto_item_kind kind)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2),
                        *c = root_of(0, 3);
    const struct proto_region other = {.address = 2,
                                       .incarnation = b->incarnation + 1},
                              unknown = {.address = 4, .incarnation = 1};
    const struct proto_region *all[] = {a, b}, *two[] = {a, c},
                              *newer[] = {a, &other}, *more[] = {a, &unknown};
    CHECK(enough(type, kind, a, 2, all));
    CHECK(!enough(type, kind, NULL, 2, all));
    CHECK(!enough(type, kind, NULL, 1, all));
    CHECK(!enough(type, kind, a, 2, two));
    CHECK(!enough(type, kind, a, 2, newer));
    CHECK(!enough(type, kind, a, 2, more));
    struct proto_message m = {
        .type = type, .root = 1, .items_count = PROTO_ITEMS_KNOWN_MAX + 1};
    CHECK(proto_message_tree(&m) == PROTO_TREE_ALL);
    m.type = PROTO_OWNER;
    m.items_count = 0;
    CHECK(proto_message_tree(&m) == PROTO_TREE_ALL);
    m.type = PROTO_SETTLED;
    CHECK(proto_message_tree(&m) == 1);
    CHECK(proto_message_tree_enough(&m, NULL, find, NULL));
    m.type = PROTO_LOCATE;
    m.region = 2;
    CHECK(proto_message_tree(&m) == 2);
    CHECK(proto_message_tree_enough(&m, b, find, NULL));
    CHECK(!proto_message_tree_enough(&m, NULL, find, NULL));
    CHECK(delete (0, a) == 0 && delete (0, c) == 0 && objects == 0);
}

static void test_no_memory(void)
{
    struct proto_region *a = root_of(0, 1), *b;
    fail_takes = 1;
    CHECK(proto_create_subregion(&node, 0, a, 2, NULL, NULL, &b, &out) ==
          DRASYNC_ENOMEM);
    CHECK(acquire(0, a, DRASYNC_READ) == DRASYNC_ENOMEM);
    CHECK(acquire(1, a, DRASYNC_WRITE) == DRASYNC_ENOMEM);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(release(0, a) == 0 && release(0, a) == 0);
    CHECK(acquire(1, a, DRASYNC_READ) == DRASYNC_ENOMEM);
    CHECK(delete (1, a) == DRASYNC_ENOMEM);
    fail_takes = 0;
    CHECK(delete (1, a) == 0 && objects == 0);
}

static void *take_no_part(void *ctx, enum proto_type type)
{
    return type == PROTO_PART ? NULL : take(ctx, type);
}

static int64_t home_elsewhere(void *ctx, uint64_t address)
{
    (void)ctx;
    (void)address;
    return 1;
}

/* The question where a region is goes out without the acquire that ended, and
 * what answers that finds nobody. */
static void test_no_memory_to_begin(void)
{
    struct proto_env env = node.env;
    env.nodes = 2;
    env.take = take_no_part;
    env.home = home_elsewhere;
    struct proto_node two;
    proto_node_open(&two, &env);
    proto_effects_clear(&out);
    int waiter;
    CHECK(proto_acquire(&two, 0, NULL, 5, DRASYNC_READ, false, &waiter, &grant,
                        &op, &out) == PROTO_WAIT);
    CHECK(!op && !proto_target(op) && result() == DRASYNC_ENOMEM);
    const struct proto_message *asked = NULL;
    for (size_t i = 0; i < out.count; i++)
        if (out.effect[i].kind == PROTO_SEND)
            asked = proto_effect_message(&out, i);
    CHECK(asked && asked->type == PROTO_LOCATE && asked->ticket == 0 &&
          asked->mode == 0);
    give_all();
}

static int grows; /* so many times there is memory */

static void *grow_few(void *old, size_t size_bytes)
{
    return grows-- > 0 ? realloc(old, size_bytes) : NULL;
}

/* Another node asks for 41 regions, in portions of 1, 2, 4 ..., and the effects
 * get no memory somewhere: they say so, whatever was to be said. */
static bool fits(int memory, enum drasync_mode mode)
{
    struct proto_effects few = {.grow = grow_few};
    struct proto_message m = {.type = PROTO_REQUEST,
                              .mode = (uint8_t)mode,
                              .node = 1,
                              .ticket = 7,
                              .root = 1,
                              .region = 1};
    struct proto_region *a = root_of(0, 1);
    uint32_t regions = 0, messages = 0;
    for (uint64_t address = 2; address < 42; address++)
        child_of(0, a, address);
    CHECK(release(0, a) == 0);
    m.incarnation = a->incarnation;
    m.epoch = a->epoch;
    grows = memory;
    proto_message(&node, 1, &m, &few);
    for (size_t i = 0; !few.failed && i < few.count; i++) {
        CHECK(few.kinds & 1u << few.effect[i].kind);
        regions += few.effect[i].kind == PROTO_SHIP;
        messages += few.effect[i].kind == PROTO_SEND;
    }
    CHECK(few.failed ||
          (regions == 41 && messages == (mode == DRASYNC_READ ? 6 : 1)));
    proto_effects_free(&few, free);
    give_all();
    CHECK(objects == 0);
    return !few.failed;
}

static void test_no_memory_for_effects(void)
{
    node.env.nodes = 2;
    node.portion_first = 1;
    for (int i = 0; i < 2; i++) {
        enum drasync_mode mode = i ? DRASYNC_WRITE : DRASYNC_READ;
        int memory = 0;
        while (!fits(memory, mode))
            CHECK(++memory < 20);
        CHECK(memory > 5);
    }
}

int main(void)
{
    node_begin();
    test_tree_enough(PROTO_TRANSFER, PROTO_ITEM_REGION);
    test_tree_enough(PROTO_FREED, PROTO_ITEM_DELETED);
    test_tree_enough(PROTO_BURIED, PROTO_ITEM_DELETED);
    test_no_memory();
    test_no_memory_to_begin();
    test_no_memory_for_effects();
    return 0;
}
