/* protocol_wide.c - a region with more direct subregions than its token may name:
 * another node may READ it, and is told why it cannot have more. */
#include "tests/unit/protocol_node.h"

#define WIDTH_MAX 3

static uint64_t addresses; /* the last one in use */

static struct proto_region *with_children(struct proto_region *r,
                                          uint32_t count)
{
    while (count-- > 0)
        child_of(0, r, ++addresses);
    return r;
}

/* A root of rank 0's, with so many. */
static struct proto_region *root_with(uint32_t count)
{
    addresses = 1;
    return with_children(root_of(0, 1), count);
}

/* What node 1 is told that asks for @r, and after it for @wanted or nothing. */
static const struct proto_message *asked(const struct proto_region *r,
                                         enum drasync_mode mode,
                                         const struct proto_region *wanted)
{
    const struct proto_message *answer = NULL;
    struct proto_item next = {.kind = PROTO_ITEM_WANTED};
    struct proto_message m = {.type = PROTO_REQUEST,
                              .mode = (uint8_t)mode,
                              .node = 1,
                              .ticket = ++counter,
                              .root = r->root->address,
                              .region = r->address,
                              .incarnation = r->incarnation,
                              .epoch = r->epoch,
                              .items = &next};
    if (wanted) {
        next.address = wanted->address;
        next.incarnation = wanted->incarnation;
        m.items_count = 1;
    }
    proto_effects_clear(&out);
    proto_message(&node, 1, &m, &out);
    for (size_t i = 0; i < out.count; i++) {
        if (out.effect[i].kind != PROTO_SEND)
            continue;
        CHECK(!answer && out.effect[i].node == 1);
        answer = proto_effect_message(&out, i);
    }
    CHECK(answer);
    return answer;
}

static bool refused(const struct proto_message *m)
{
    return m->type == PROTO_REFUSED && m->error == DRASYNC_ELIMIT;
}

/* How many items of @kind @m, a TRANSFER, has. */
static uint32_t items(const struct proto_message *m, enum proto_item_kind kind)
{
    uint32_t count = 0;
    CHECK(m->type == PROTO_TRANSFER);
    for (uint32_t i = 0; i < m->items_count; i++)
        count += m->items[i].kind == kind;
    return count;
}

static void test_top(void)
{
    struct proto_region *a = root_with(WIDTH_MAX + 1);
    CHECK(release(0, a) == 0);
    CHECK(refused(asked(a, DRASYNC_WRITE, NULL)) && a->owned);
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0 && release(1, a) == 0);
    CHECK(items(asked(a, DRASYNC_READ, NULL), PROTO_ITEM_REGION) ==
          WIDTH_MAX + 2);
    give_all();
}

static void test_enough(void)
{
    struct proto_region *a = root_with(WIDTH_MAX + 1);
    CHECK(delete (0, table[addresses]) == 0);
    CHECK(release(0, a) == 0);
    const struct proto_message *m = asked(a, DRASYNC_WRITE, NULL);
    CHECK(items(m, PROTO_ITEM_REGION) == WIDTH_MAX + 1 && !a->owned);
    give_all();
}

/* What is above the wide one goes, and that is left to be asked for. */
static void test_below(void)
{
    struct proto_region *a = root_with(2), *wide = table[2];
    with_children(wide, WIDTH_MAX + 1);
    CHECK(release(0, a) == 0);
    const struct proto_message *m = asked(a, DRASYNC_WRITE, NULL);
    CHECK(items(m, PROTO_ITEM_REGION) == 1 && items(m, PROTO_ITEM_UNSENT) == 2);
    CHECK(!a->owned && wide->owned && table[3]->owned);
    CHECK(refused(asked(wide, DRASYNC_WRITE, NULL)) && wide->owned);
    give_all();
}

static void test_wanted(void)
{
    struct proto_region *a = root_with(3), *wide = table[3];
    with_children(wide, WIDTH_MAX + 1);
    CHECK(release(0, a) == 0);
    const struct proto_message *m = asked(table[2], DRASYNC_WRITE, wide);
    CHECK(items(m, PROTO_ITEM_REGION) == 1 && !table[2]->owned && wide->owned);
    m = asked(table[4], DRASYNC_READ, wide);
    CHECK(items(m, PROTO_ITEM_REGION) == WIDTH_MAX + 3);
    give_all();
}

static void test_gift(void)
{
    struct proto_gift gift = {.node = 1, .rank = 0};
    struct proto_region *a = root_with(WIDTH_MAX + 1);
    proto_effects_clear(&out);
    CHECK(proto_give(&node, 0, a, &gift, &out) == DRASYNC_ELIMIT);
    CHECK(out.count == 0 && proto_held(a, 0) == DRASYNC_WRITE);
    CHECK(delete (0, table[addresses]) == 0);
    proto_effects_clear(&out);
    CHECK(proto_give(&node, 0, a, &gift, &out) == 0 && !a->owned);
    give_all();
}

/* A gift of which the taker could not get a part is none. */
static void test_gift_below(void)
{
    struct proto_gift gift = {.node = 1, .rank = 0};
    struct proto_region *a = root_with(2), *wide = table[3];
    with_children(wide, WIDTH_MAX + 1);
    proto_effects_clear(&out);
    CHECK(proto_give(&node, 0, a, &gift, &out) == DRASYNC_ELIMIT);
    CHECK(out.count == 0 && proto_held(a, 0) == DRASYNC_WRITE && wide->owned);
    CHECK(delete (0, table[addresses]) == 0);
    proto_effects_clear(&out);
    CHECK(proto_give(&node, 0, a, &gift, &out) == 0 && !wide->owned);
    give_all();
}

int main(void)
{
    node_begin();
    CHECK(node.children_max == PROTO_CHILDREN_MAX);
    node.env.nodes = 2;
    node.children_max = WIDTH_MAX;
    test_top();
    test_enough();
    test_below();
    test_wanted();
    test_gift();
    test_gift_below();
    return 0;
}
