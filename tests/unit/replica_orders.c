/*
 * Messages about replicated regions in orders that three nodes can make: between
 * two nodes order is kept, among three it is not.
 */
#include "replica_node.h"

/* The region that a test is about, of node HOME or OTHER. */
static uint64_t page;
static int home;

static void attached(void)
{
    REQUIRE(was_sent(home, REPLICA_MSG_ATTACH, page, 0));
    directory(home, REPLICA_MSG_ATTACHED, page, 1);
}

/* A region of node @node, known here, and an object of this worker in it. */
static void *object_in_region_of(int node)
{
    void *object;

    home = node;
    page = page_of(node);
    play(attached, NULL);
    REQUIRE(!replica_alloc(rid_at(page), 100, &object));
    return object;
}

/* --- Frees that come late --- */

static bool free_twice_ends_the_job(void)
{
    void *object = object_in_region_of(HOME);
    bool good;

    freed_by(OTHER, object, page, 1);
    good = quiet();
    freed_by(OTHER, object, page, 1);
    good = good && died == 1;
    quiet();
    return good;
}

static bool free_after_drop(void)
{
    void *object = object_in_region_of(HOME);

    directory(HOME, REPLICA_MSG_DROP, page, 1);
    freed_by(OTHER, object, page, 1);
    directory(HOME, REPLICA_MSG_RECYCLE, page, 1);
    freed_by(OTHER, object, page, 1);
    return quiet();
}

static void (*before_dropped)(void);
static void *late;

static void others_drop(void)
{
    if (before_dropped)
        before_dropped();
    directory(HOME, REPLICA_MSG_DROPPED, page, sent[0].m.incarnation);
    directory(OTHER, REPLICA_MSG_DROPPED, page, sent[0].m.incarnation);
}

static void late_free(void)
{
    freed_by(OTHER, late, page, sent[0].m.incarnation);
}

/* The same at the region's home, which frees it itself. */
static bool free_while_dying(void)
{
    uint32_t rid;

    REQUIRE(!replica_region_new(0, &rid));
    REQUIRE(!replica_alloc(rid, 100, &late));
    page = rid - 1;
    directory(HOME, REPLICA_MSG_ATTACH, page, 0);
    directory(OTHER, REPLICA_MSG_ATTACH, page, 0);
    sent_count = 0;
    before_dropped = late_free;
    play(others_drop, NULL);
    return !replica_region_free(rid) && quiet();
}

int main(void)
{
    node_start();
    tap_ok(free_twice_ends_the_job(),
           "an object that another node frees twice ends the job");
    tap_ok(free_after_drop(),
           "a free that comes when its region was dropped is done");
    tap_ok(free_while_dying(),
           "a free that comes while its region is being freed is done");
    node_close(&runtime.space);
    return tap_end();
}
