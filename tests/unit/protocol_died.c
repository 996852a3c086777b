/* protocol_died.c - a rank of the node dies, and the others go on. */
#include "tests/unit/protocol_node.h"

static void died(int rank, struct proto_region *root)
{
    proto_effects_clear(&out);
    proto_rank_died(&node, rank, INT32_MAX, root, &out);
}

/* What it had for WRITE is lost, with what is below, until that is deleted. */
static void test_lost(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2),
                        *c = child_of(0, a, 3), *d = child_of(0, b, 4);
    CHECK(release(0, a) == 0);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0);
    CHECK(acquire(1, d, DRASYNC_WRITE) == 0);
    died(1, a);
    CHECK(b->lost && d->lost && !a->lost && !c->lost && a->losses == 2);
    CHECK(proto_held(b, 1) == 0 && proto_held(d, 1) == 0);
    for (int mode = DRASYNC_READ; mode <= DRASYNC_WRITE; mode++) {
        CHECK(acquire(0, a, mode) == DRASYNC_ELOST);
        CHECK(acquire(0, b, mode) == DRASYNC_ELOST);
        CHECK(acquire(0, d, mode) == DRASYNC_ELOST);
        CHECK(acquire(0, c, mode) == 0 && release(0, c) == 0);
    }
    CHECK(delete (0, d) == 0 && a->losses == 1);
    CHECK(delete (0, b) == 0 && a->losses == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0 && delete (0, a) == 0);
    CHECK(objects == 0);
}

/* Whoever has a version from before goes on with it. */
static void test_readers(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2);
    CHECK(release(0, a) == 0);
    CHECK(acquire(0, a, DRASYNC_READ) == 0);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0 && grant.split);
    struct proto_copy *old = proto_newest(b);
    /* It dies while it copies. */
    proto_copying(b, old);
    died(1, a);
    CHECK(b->lost && old->sends == 0 && proto_held(b, 0) == DRASYNC_READ);
    CHECK(acquire(0, b, DRASYNC_READ) == 0 && release(0, b) == 0);
    CHECK(acquire(2, b, DRASYNC_READ) == DRASYNC_ELOST);
    CHECK(delete (2, b) == DRASYNC_EBUSY);
    CHECK(release(0, a) == 0);
    CHECK(acquire(0, b, DRASYNC_READ) == DRASYNC_ELOST);
    CHECK(delete (2, a) == 0 && objects == 0);
}

/* Its READ holds end, its requests are dropped, and nobody is told of those. */
static void test_dropped(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2),
                        *c = child_of(0, a, 3);
    CHECK(release(0, a) == 0 && acquire(1, c, DRASYNC_READ) == 0);
    CHECK(acquire(0, b, DRASYNC_WRITE) == 0);
    CHECK(acquire(1, b, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    CHECK(acquire(2, b, DRASYNC_READ) == PROTO_WAIT && result() == 1);
    CHECK(delete (0, c) == DRASYNC_EBUSY);
    died(1, a);
    CHECK(result() == 1 && b->waiting == 1 && a->losses == 0);
    CHECK(delete (0, c) == 0);
    CHECK(release(0, b) == 0 && result() == 0);
    CHECK(proto_held(b, 2) == DRASYNC_READ && proto_held(b, 1) == 0);
    CHECK(release(2, b) == 0);
    /* One for what is above had locked that. */
    CHECK(acquire(0, b, DRASYNC_WRITE) == 0);
    CHECK(acquire(1, a, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    died(1, a);
    CHECK(a->waiting == 0 && a->busy == 1 && !a->lock);
    CHECK(acquire(0, b, DRASYNC_WRITE) == 0 && release(0, b) == 0);
    CHECK(release(0, b) == 0 && delete (0, a) == 0 && objects == 0);
}

/* Those who wait for what it wrote are told; a delete is not in its way. */
static void test_awaited(void)
{
    struct proto_region *a = root_of(1, 1), *b = child_of(1, a, 2);
    CHECK(release(1, a) == 0 && acquire(1, b, DRASYNC_WRITE) == 0);
    CHECK(acquire(0, a, DRASYNC_WRITE) == PROTO_WAIT && result() == 1);
    died(1, a);
    CHECK(result() == DRASYNC_ELOST);
    CHECK(a->waiting == 0 && a->busy == 0 && !a->lock);
    CHECK(delete (0, b) == 0);
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0);
    CHECK(acquire(0, a, DRASYNC_READ) == PROTO_WAIT && result() == 1);
    died(1, a);
    CHECK(result() == DRASYNC_ELOST);
    CHECK(delete (0, a) == 0 && objects == 0);
}

static bool list_is_empty(const struct proto_link *list)
{
    return list->next == list;
}

static struct proto_copy *last_copy(const struct proto_region *r)
{
    return (struct proto_copy *)(void *)((char *)r->copies.prev -
                                         offsetof(struct proto_copy, link));
}

/* As runtime/native/split.c does, of one region. */
static void split(int rank, struct proto_region *r)
{
    proto_effects_clear(&out);
    CHECK(proto_split(&node, rank, r, &counter, &out) == 0);
}

/* What recovers is kept at the grant, and is there again afterwards. */
static void test_previous(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2);
    struct proto_copy *old;
    proto_set_recovery(b, true);
    CHECK(!a->recovers && b->recovers && list_is_empty(&b->previous));
    CHECK(release(0, a) == 0);
    for (int died_before_split = 0; died_before_split < 2;
         died_before_split++) {
        old = proto_newest(b);
        CHECK(acquire(1, b, DRASYNC_WRITE) == 0 && grant.split);
        CHECK(old->pins == 1);
        if (!died_before_split)
            split(1, b);
        CHECK(acquire(1, b, DRASYNC_WRITE) == 0 &&
              grant.split == died_before_split);
        CHECK(acquire(2, b, DRASYNC_READ) == PROTO_WAIT && result() == 1);
        died(1, a);
        CHECK(result() == 0 && proto_newest(b) == old && old->pins == 1);
        CHECK(release(2, b) == 0 && old->pins == 0 && b->pinned == 0);
        CHECK(!b->lost && a->losses == 0 && proto_version(b) >= old->version);
    }
    /* An orderly end keeps nothing. */
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0 && grant.split);
    split(1, b);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0 && !grant.split);
    CHECK(release(1, a) == 0 && !list_is_empty(&b->previous));
    CHECK(release(1, b) == 0 && list_is_empty(&b->previous));
    CHECK(proto_newest(b) == last_copy(b));
    /* What does not recover is lost. */
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0 && grant.split);
    split(1, b);
    died(1, a);
    CHECK(a->lost && !b->lost && a->losses == 1);
    CHECK(acquire(0, b, DRASYNC_WRITE) == 0 && grant.split);
    CHECK(delete (0, b) == 0 && delete (0, a) == 0 && objects == 0);
}

/* What is made below, and what is made there while it is held. */
static void test_fresh(void)
{
    struct proto_region *a = root_of(0, 1), *b, *c;
    proto_set_recovery(a, true);
    b = child_of(0, a, 2);
    CHECK(b->recovers && !b->fresh && release(0, a) == 0);
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0 && grant.split);
    split(1, a);
    split(1, b);
    c = child_of(1, b, 3);
    CHECK(c->recovers && c->fresh);
    CHECK(delete (1, c) == 0);
    c = child_of(1, b, 3);
    CHECK(release(1, a) == 0 && !c->fresh && list_is_empty(&a->previous));
    CHECK(acquire(1, c, DRASYNC_WRITE) == 0 && grant.split);
    CHECK(delete (1, c) == 0);
    /* No memory to keep it. */
    fail_takes = 1;
    CHECK(acquire(1, a, DRASYNC_WRITE) == DRASYNC_ENOMEM);
    fail_takes = 0;
    CHECK(a->busy == 0 && a->pinned == 0);
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0 && grant.split);
    CHECK(delete (1, a) == 0 && objects == 0);
}

static int newer(int rank, struct proto_region *r)
{
    const struct proto_asked asked = {.rank = rank,
                                      .mode = DRASYNC_READ,
                                      .waiter = &op,
                                      .newer = proto_version(r)};
    proto_effects_clear(&out);
    return proto_acquire_as(&node, r, 0, &asked, &grant, &op, &out);
}

/* Who waits until somebody writes it, or what is above it, is told. */
static void test_newer(void)
{
    struct proto_region *a = root_of(0, 1), *b = child_of(0, a, 2);
    CHECK(release(0, a) == 0);
    CHECK(newer(2, b) == PROTO_WAIT && b->subscribed == 1);
    CHECK(newer(1, b) == PROTO_WAIT && b->subscribed == 2);
    CHECK(acquire(1, a, DRASYNC_WRITE) == 0);
    died(1, a); /* what it waited for goes with it */
    CHECK(result() == DRASYNC_ELOST && b->subscribed == 0);
    CHECK(delete (0, a) == 0 && objects == 0);

    a = root_of(0, 1), b = child_of(0, a, 2);
    CHECK(release(0, a) == 0 && newer(2, a) == PROTO_WAIT);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0);
    died(1, a);
    CHECK(result() == DRASYNC_ELOST && a->subscribed == 0);
    CHECK(delete (0, a) == 0 && objects == 0);

    /* But not above what is as it was before. */
    a = root_of(0, 1), b = child_of(0, a, 2);
    proto_set_recovery(b, true);
    CHECK(release(0, a) == 0 && newer(2, a) == PROTO_WAIT);
    CHECK(acquire(1, b, DRASYNC_WRITE) == 0 && grant.split);
    proto_effects_clear(&out);
    CHECK(proto_split(&node, 1, b, &counter, &out) == 0);
    died(1, a);
    CHECK(result() == 1 && a->subscribed == 1);
    CHECK(acquire(0, a, DRASYNC_WRITE) == 0);
    CHECK(release(0, a) == 0 && result() == 0);
    CHECK(release(2, a) == 0);
    CHECK(delete (0, a) == 0 && objects == 0);
}

int main(void)
{
    node_begin();
    test_lost();
    test_readers();
    test_dropped();
    test_awaited();
    test_previous();
    test_fresh();
    test_newer();
    return 0;
}
