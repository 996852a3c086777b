/* protocol_local.c - holds, nesting, pins and deletion on one node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/protocol.h"

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);           \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

static struct proto_region *table[64];
static void *taken[1024]; /* some are NULL */
static long objects;
static int fail_takes; /* 1: takes fail */
static uint64_t counter;
static struct proto_node node;
static struct proto_effects out = {.grow = realloc};
static struct proto_grant grant;
static struct proto_op *op;

static void *take(void *ctx, enum proto_type type)
{
    (void)ctx;
    if (fail_takes)
        return NULL;
    objects++;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (!taken[i])
            return taken[i] = malloc(proto_object_size(type));
    return NULL;
}

static void give(void *ctx, enum proto_type type, void *object)
{
    (void)ctx;
    (void)type;
    objects--;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i] == object)
            taken[i] = NULL;
    free(object);
}

/* The node begins anew. */
static void give_all(void)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i])
            give(NULL, PROTO_REGION, taken[i]);
    memset(table, 0, sizeof(table));
}

static int reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    (void)counts;
    return 0;
}

static struct proto_region *find(void *ctx, uint64_t address)
{
    (void)ctx;
    return address < 64 ? table[address] : NULL;
}

static int insert(void *ctx, struct proto_region *r)
{
    (void)ctx;
    table[r->address] = r;
    return 0;
}

static void forget(void *ctx, struct proto_region *r)
{
    (void)ctx;
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
    return address < 64 ? 0 : -2;
}

static bool extent(void *ctx, const struct proto_region *r, uint32_t i,
                   uint64_t *address, uint64_t *pages)
{
    (void)ctx;
    *address = r->address;
    *pages = 1;
    return i == 0;
}

static struct proto_region *root_of(int rank, uint64_t address)
{
    struct proto_region *r;
    proto_effects_clear(&out);
    CHECK(!proto_create_root(&node, rank, address, NULL, NULL, &r, &out));
    return r;
}

static struct proto_region *child_of(int rank, struct proto_region *parent,
                                     uint64_t address)
{
    struct proto_region *r;
    proto_effects_clear(&out);
    CHECK(!proto_create_subregion(&node, rank, parent, address, NULL, NULL, &r,
                                  &out));
    return r;
}

static int acquire(int rank, struct proto_region *r, int mode)
{
    proto_effects_clear(&out);
    return proto_acquire(&node, rank, r, 0, (enum drasync_mode)mode, false, &op,
                         &grant, &op, &out);
}

static int release_for(int rank, struct proto_region *r, int mode)
{
    proto_effects_clear(&out);
    return proto_release(&node, rank, r, (enum drasync_mode)mode, &out);
}

static int release(int rank, struct proto_region *r)
{
    return release_for(rank, r, DRASYNC_WRITE);
}

/* The error of the only end among the effects; 0: granted; 1: none. */
static int result(void)
{
    int found = 1;
    for (size_t i = 0; i < out.count; i++) {
        if (out.effect[i].kind == PROTO_GRANTED)
            found = 0;
        if (out.effect[i].kind == PROTO_FAILED)
            found = out.effect[i].error;
    }
    return found;
}

static int delete (int rank, struct proto_region *r)
{
    proto_effects_clear(&out);
    int err = proto_delete(&node, rank, r, 0, &op, &out);
    return err == PROTO_WAIT ? result() : err;
}

static void test_nesting(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2),
                        *c = child_of(0, a, 3);
    CHECK(proto_held(c, 0) == DRASYNC_WRITE);
    CHECK(proto_held(c, 1) == 0);
    CHECK(acquire(0, c, DRASYNC_WRITE) == 0);
    CHECK(acquire(0, b, DRASYNC_READ) == 0);
    CHECK(acquire(0, a, 7) == DRASYNC_EINVAL);
    CHECK(acquire(1, c, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    /* c stays held, b becomes a pinned READ. */
    CHECK(release(0, a) == 0 && result() == 1);
    CHECK(proto_held(b, 0) == DRASYNC_READ);
    CHECK(proto_held(c, 0) == DRASYNC_WRITE);
    CHECK(acquire(0, b, DRASYNC_WRITE) == DRASYNC_EUPGRADE);
    CHECK(acquire(0, a, DRASYNC_READ) == DRASYNC_EORDER);
    CHECK(release(0, c) == 0 && result() == 0);
    CHECK(proto_held(c, 1) == DRASYNC_WRITE);
    CHECK(release(0, c) == DRASYNC_ENOTHELD);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0 && grant.split);
    CHECK(release(1, b) == 0);
    CHECK(release(0, b) == 0 && release(1, c) == 0);
    CHECK(a->busy == 0 && a->reads == 0 && a->pinned == 0 && a->waiting == 0);
    CHECK(delete (0, a) == 0);
    CHECK(objects == 0 && !table[1] && !table[2] && !table[3]);
}

static void test_pins(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2);
    CHECK(release(0, a) == 0);
    CHECK(acquire(1, a, DRASYNC_READ) == 0 && grant.hold);
    struct proto_hold *hold = grant.hold;
    struct proto_copy *old = proto_newest(b);
    CHECK(acquire(0, b, DRASYNC_WRITE) == 0 && grant.split);
    proto_effects_clear(&out);
    CHECK(proto_split(&node, 0, b, &counter, &out) == 0);
    CHECK(proto_newest(b) != old && proto_newest(b)->frames == &counter);
    CHECK(proto_version(b) > old->version);
    CHECK(acquire(2, a, DRASYNC_READ) == PROTO_WAIT && result() == 1);
    CHECK(release(0, b) == 0 && result() == 0);
    CHECK(acquire(1, b, DRASYNC_READ) == 0);
    CHECK(release(1, a) == 0);
    /* The nested hold took over the old copy's pin. */
    CHECK(grant.hold != hold && !grant.hold->covered);
    CHECK(old->pins == 1);
    CHECK(delete (0, b) == DRASYNC_EBUSY);
    CHECK(release(1, b) == 0);
    CHECK(delete (2, b) == DRASYNC_EUPGRADE);
    CHECK(release(2, a) == 0);
    CHECK(delete (2, b) == 0);
    CHECK(delete (2, a) == 0);
    CHECK(objects == 0);
}

/* READ within WRITE is given back by itself. */
static void test_release_for(void)
{
    struct proto_region *a = root_of(0, 1);
    CHECK(acquire(0, a, DRASYNC_READ) == 0);
    CHECK(release_for(0, a, DRASYNC_READ) == 0);
    CHECK(proto_held(a, 0) == DRASYNC_WRITE);
    CHECK(release(0, a) == 0 && proto_held(a, 0) == 0);
    CHECK(acquire(0, a, DRASYNC_READ) == 0);
    CHECK(acquire(0, a, DRASYNC_READ) == 0);
    CHECK(release_for(0, a, DRASYNC_READ) == 0);
    CHECK(proto_held(a, 0) == DRASYNC_READ);
    CHECK(release_for(0, a, DRASYNC_READ) == 0);
    CHECK(proto_held(a, 0) == 0);
    CHECK(release_for(0, a, DRASYNC_READ) == DRASYNC_ENOTHELD);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(release_for(0, a, DRASYNC_WRITE) == 0);
    CHECK(proto_held(a, 0) == DRASYNC_WRITE);
    /* WRITE before the READ that it covers: that pins what is there then. */
    CHECK(acquire(0, a, DRASYNC_READ) == 0);
    CHECK(release_for(0, a, DRASYNC_WRITE) == 0);
    CHECK(proto_held(a, 0) == DRASYNC_READ);
    /* What there is, if there is none of that mode. */
    CHECK(release_for(0, a, DRASYNC_WRITE) == 0);
    CHECK(proto_held(a, 0) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(release_for(0, a, DRASYNC_READ) == 0);
    CHECK(proto_held(a, 0) == 0);
    CHECK(delete (0, a) == 0);
    CHECK(objects == 0 && !table[1]);
}

static void test_waiting(void)
{
    struct proto_region *a = root_of(0, 1);
    struct proto_op *first;
    CHECK(acquire(1, a, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    first = op;
    CHECK(acquire(2, a, DRASYNC_READ) == PROTO_WAIT && result() == 1);
    proto_effects_clear(&out);
    CHECK(proto_acquire(&node, 3, a, 0, DRASYNC_READ, true, &op, &grant, &op,
                        &out) == PROTO_WAIT);
    CHECK(result() == DRASYNC_EAGAIN);
    proto_effects_clear(&out);
    proto_detach(&node, first, &out);
    CHECK(result() == 1);
    CHECK(release(0, a) == 0 && result() == 0 && proto_held(a, 2));
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(release(2, a) == 0);
    CHECK(acquire(1, a, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    proto_effects_clear(&out);
    CHECK(proto_delete(&node, 0, a, 0, &out, &out) == PROTO_WAIT);
    CHECK(result() == 0 || result() == DRASYNC_EDELETED);
    CHECK(out.count >= 2 && objects == 0);
}

/* The same as acquire(), release() and result() for several requests that wait
 * at once, each with a number. */
static char asker[8];
static struct proto_op *last_asked;

static int ask(int number, int rank, struct proto_region *r, int mode)
{
    proto_effects_clear(&out);
    return proto_acquire(&node, rank, r, 0, (enum drasync_mode)mode, false,
                         &asker[number], &grant, &last_asked, &out);
}

static int result_of(int number)
{
    int found = 1;
    for (size_t i = 0; i < out.count; i++) {
        const struct proto_effect *e = &out.effect[i];
        if (e->kind != PROTO_GRANTED && e->kind != PROTO_FAILED)
            continue;
        if (e->waiter == &asker[number]) {
            CHECK(found == 1);
            found = e->kind == PROTO_FAILED ? e->error : 0;
        }
    }
    return found;
}

/* A hold that another rank has from now on. */
static void test_pass(void)
{
    struct proto_region *a = root_of(1, 1), *b = child_of(1, a, 2);
    uint64_t before;
    CHECK(release(1, a) == 0 && acquire(1, b, DRASYNC_WRITE) == 0);
    before = proto_version(b);
    CHECK(ask(0, 0, a, DRASYNC_READ) == PROTO_WAIT);
    CHECK(ask(2, 2, a, DRASYNC_READ) == PROTO_WAIT);
    proto_effects_clear(&out);
    proto_pass(&node, b, 0, &out);
    CHECK(result_of(0) == DRASYNC_EORDER);
    CHECK(proto_held(b, 0) == DRASYNC_WRITE && proto_held(b, 1) == 0);
    CHECK(proto_version(b) > before);
    CHECK(release(0, b) == 0 && result_of(2) == 0);
    CHECK(release(2, a) == 0 && delete (1, a) == 0 && objects == 0);
}

/* What a rank gets of a region while it waits for what is above. */
static void test_above(void)
{
    struct proto_region *a = root_of(1, 1), *b = child_of(1, a, 2),
                        *c = child_of(1, a, 3);
    CHECK(release(1, a) == 0);
    for (int mode = DRASYNC_READ; mode <= DRASYNC_WRITE; mode++) {
        /* Asked for before it. */
        CHECK(acquire(1, b, DRASYNC_WRITE) == 0);
        CHECK(ask(0, 0, b, DRASYNC_READ) == PROTO_WAIT);
        CHECK(ask(1, 0, a, mode) == PROTO_WAIT);
        CHECK(ask(2, 2, a, mode) == PROTO_WAIT);
        CHECK(release(1, b) == 0);
        CHECK(result_of(0) == 0 && result_of(1) == DRASYNC_EORDER);
        CHECK(result_of(2) == 0 && proto_held(c, 2) == mode);
        CHECK(proto_held(b, 0) == DRASYNC_READ && proto_held(a, 0) == 0);
        CHECK(release(0, b) == 0 && release(2, a) == 0);
        /* Asked for after it, and free. */
        CHECK(acquire(1, b, DRASYNC_WRITE) == 0);
        CHECK(ask(1, 0, a, mode) == PROTO_WAIT && result_of(1) == 1);
        CHECK(ask(0, 0, c, DRASYNC_READ) == PROTO_WAIT && result_of(0) == 1);
        CHECK(ask(3, 2, c, DRASYNC_READ) == 0 && release(2, c) == 0);
        CHECK(proto_acquire(&node, 0, c, 0, DRASYNC_READ, true, &op, &grant,
                            &op, &out) == DRASYNC_EAGAIN);
        CHECK(release(1, b) == 0 && result_of(1) == 0 && result_of(0) == 0);
        CHECK(proto_held(c, 0) == mode);
        CHECK(release(0, a) == 0 && proto_held(c, 0) == DRASYNC_READ);
        CHECK(release(0, c) == 0);
        /* What is above fails, and what is below does not. */
        CHECK(acquire(1, b, DRASYNC_WRITE) == 0);
        CHECK(ask(1, 0, a, mode) == PROTO_WAIT && result_of(1) == 1);
        struct proto_op *waits = last_asked;
        CHECK(ask(0, 0, c, DRASYNC_WRITE) == PROTO_WAIT && result_of(0) == 1);
        proto_effects_clear(&out);
        proto_detach(&node, waits, &out);
        CHECK(result_of(1) == 1 && result_of(0) == 0);
        CHECK(release(1, b) == 0 && release(0, c) == 0);
        /* What is above came first, and covers it. */
        CHECK(acquire(1, a, DRASYNC_WRITE) == 0);
        CHECK(ask(1, 0, a, mode) == PROTO_WAIT);
        CHECK(ask(0, 0, b, DRASYNC_READ) == PROTO_WAIT);
        CHECK(ask(2, 0, b, DRASYNC_WRITE) == PROTO_WAIT);
        CHECK(release(1, a) == 0 && result_of(0) == 0 && result_of(1) == 0);
        CHECK(result_of(2) == (mode == DRASYNC_READ ? DRASYNC_EUPGRADE : 0));
        CHECK(proto_held(b, 0) == mode);
        CHECK(release(0, b) == 0 && release(0, a) == 0);
        if (mode == DRASYNC_WRITE)
            CHECK(release(0, b) == 0);
        CHECK(proto_held(b, 0) == 0);
    }
    /* Of one region. */
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0);
    CHECK(ask(0, 0, a, DRASYNC_READ) == PROTO_WAIT);
    CHECK(ask(1, 0, a, DRASYNC_WRITE) == PROTO_WAIT);
    CHECK(release(1, a) == 0);
    CHECK(result_of(0) == 0 && result_of(1) == DRASYNC_EUPGRADE);
    CHECK(proto_held(a, 0) == DRASYNC_READ && release(0, a) == 0);
    CHECK(a->busy == 0 && a->reads == 0 && a->pinned == 0 && a->waiting == 0);
    CHECK(delete (0, a) == 0 && objects == 0);
}

static bool enough(const struct proto_region *root, uint32_t count,
                   const struct proto_region *const regions[])
{
    struct proto_item items[4] = {{0}};
    struct proto_message m = {.type = PROTO_TRANSFER,
                              .root = 1,
                              .items_count = count,
                              .items = items};
    for (uint32_t i = 0; i < count; i++) {
        items[i].kind = PROTO_ITEM_REGION;
        items[i].address = regions[i]->address;
        items[i].incarnation = regions[i]->incarnation;
    }
    CHECK(proto_message_tree(&m) == 1);
    return proto_message_tree_enough(&m, root, find, NULL);
}

/* A TRANSFER needs its tree alone if all of it is known to be in that. */
static void test_tree_enough(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2),
                        *c = root_of(0, 3);
    const struct proto_region other = {.address = 2,
                                       .incarnation = b->incarnation + 1},
                              unknown = {.address = 4, .incarnation = 1};
    const struct proto_region *all[] = {a, b}, *two[] = {a, c},
                              *newer[] = {a, &other}, *more[] = {a, &unknown};
    CHECK(enough(a, 2, all));
    CHECK(!enough(NULL, 2, all));
    CHECK(!enough(a, 2, two));
    CHECK(!enough(a, 2, newer));
    CHECK(!enough(a, 2, more));
    struct proto_message m = {.type = PROTO_TRANSFER,
                              .root = 1,
                              .items_count = PROTO_ITEMS_KNOWN_MAX + 1};
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
    CHECK(few.failed || (regions == 41 &&
                         messages == (mode == DRASYNC_READ ? 6 : 1)));
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
    struct proto_env env = {.nodes = 1,
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
    test_nesting();
    test_pins();
    test_release_for();
    test_waiting();
    test_pass();
    test_above();
    test_tree_enough();
    test_no_memory();
    test_no_memory_for_effects();
    return 0;
}
