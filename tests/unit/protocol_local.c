/* protocol_local.c - holds, nesting, pins and deletion on one node. */
#include "tests/unit/protocol_node.h"

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

/* One thread of rank 0 copies without the lock; the reader ends; another thread
 * is granted WRITE. */
static void test_copying(void)
{
    struct proto_region *a = root_of(0, 1);
    CHECK(release(0, a) == 0);
    CHECK(acquire(1, a, DRASYNC_READ) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0 && grant.split);
    struct proto_copy *old = proto_newest(a);
    proto_copying(a, old);
    CHECK(release(1, a) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0 && grant.split);
    proto_effects_clear(&out);
    CHECK(proto_split(&node, 0, a, &counter, &out) == 0);
    CHECK(proto_newest(a) != old && a->pinned == 0);
    proto_effects_clear(&out);
    proto_copied(&node, a, old, &out);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0 && !grant.split);
    for (int holds = 3; holds > 0; holds--)
        CHECK(release(0, a) == 0);
    CHECK(delete (0, a) == 0 && objects == 0);
}

/* Pages that go back where they were cut, among the effects. */
static int freed(void)
{
    int found = 0;
    for (size_t i = 0; i < out.count; i++)
        found += out.effect[i].kind == PROTO_EXTENT;
    return found;
}

/* Another thread deletes the region meanwhile: its pages are used again when the
 * copy is complete, and that is given up. */
static void test_copying_deleted(void)
{
    struct proto_region *a = root_of(0, 1);
    CHECK(release(0, a) == 0);
    CHECK(acquire(1, a, DRASYNC_READ) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0 && grant.split);
    struct proto_copy *old = proto_newest(a);
    proto_copying(a, old);
    CHECK(release(1, a) == 0);
    CHECK(delete (0, a) == 0);
    CHECK(freed() == 0);
    proto_effects_clear(&out);
    CHECK(proto_split(&node, 0, a, &counter, &out) == DRASYNC_ENOTHELD);
    proto_effects_clear(&out);
    proto_copied(&node, a, old, &out);
    CHECK(freed() == 1 && objects == 0);
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

int main(void)
{
    node_begin();
    test_nesting();
    test_pins();
    test_copying();
    test_copying_deleted();
    test_release_for();
    test_waiting();
    test_pass();
    test_above();
    return 0;
}
