/*
 * Messages about replicated regions in orders that three nodes can make: between
 * two nodes order is kept, among three it is not.
 */
#include "replica_node.h"

static const struct replica_place here = {"here.c", 1};

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

/* --- Pages that are used again --- */

static bool recv(int worker, uint32_t rid)
{
    uint32_t got;
    uint64_t bytes;
    int err = replica_recv(rid, worker, &got, &bytes);

    if (err)
        printf("# received: %s\n", drasync_strerror(err));
    return !err && got == rid;
}

static void old_attached(void)
{
    REQUIRE(was_sent(HOME, REPLICA_MSG_ATTACH, page, 1));
    directory(HOME, REPLICA_MSG_ATTACHED, page, 1);
}

static uint64_t new_page;

static void new_attached(void)
{
    REQUIRE(was_sent(OTHER, REPLICA_MSG_ATTACH, new_page, 7));
    directory(OTHER, REPLICA_MSG_ATTACHED, new_page, 7);
}

/* What another node cut for a region that is gone here may be in a new region
 * before this node is told that all have dropped the old one. */
static bool pages_of_dropped_region(void)
{
    uint64_t first = page_of(OTHER);
    bool good;

    page = page_of(HOME);
    new_page = page_of(OTHER);
    version(OTHER, page, 1, first, 4, 9000, 1);
    play(old_attached, NULL);
    good = recv(OTHER, rid_at(page)) && shows(first, 9000, 1);
    directory(HOME, REPLICA_MSG_DROP, page, 1);
    good = good && was_sent(HOME, REPLICA_MSG_DROPPED, page, 1);

    version(OTHER, new_page, 7, first, 2, 5000, 2);
    version(OTHER, new_page, 7, first + 2, 2, 6000, 3);
    play(new_attached, NULL);
    good = good && recv(OTHER, rid_at(new_page)) && shows(first, 5000, 2);
    good = good && recv(OTHER, rid_at(new_page)) && shows(first + 2, 6000, 3);
    directory(HOME, REPLICA_MSG_RECYCLE, page, 1);
    return good && shows(first, 5000, 2) && shows(first + 2, 6000, 3) &&
           quiet();
}

/* --- Versions of a region that is gone, and of the next at its address --- */

static void old_unknown(void)
{
    REQUIRE(was_sent(HOME, REPLICA_MSG_ATTACH, page, 1));
    directory(HOME, REPLICA_MSG_UNKNOWN, page, 0);
}

static void reused_attached(void)
{
    REQUIRE(was_sent(HOME, REPLICA_MSG_ATTACH, page, 2));
    directory(HOME, REPLICA_MSG_ATTACHED, page, 2);
}

static bool question_about_old_region(void)
{
    uint64_t first = page_of(HOME);

    page = page_of(HOME);
    version(OTHER, page, 1, page_of(OTHER), 1, 1000, 1);
    version(HOME, page, 2, first, 1, 1000, 2);
    play(old_unknown, reused_attached);
    return recv(HOME, rid_at(page)) && shows(first, 1000, 2) &&
           recv(OTHER, rid_at(page)) && quiet();
}

/* --- Objects that this node does not know --- */

static bool resize_unknown(void)
{
    const unsigned char *object = memory_at(page_of(OTHER)) + BEGIN_BYTES;
    void *moved = NULL;
    bool good;

    calls = 0;
    call_result = 0;
    call_reply[0] = 100;
    good = !replica_realloc((void *)(uintptr_t)object, 200, 0, &here, &moved);
    for (int i = 0; good && i < 200; i++)
        good = !((const unsigned char *)moved)[i];
    return good && calls == 2 && call_request[1] == 1;
}

static bool resize_unallocated(void)
{
    unsigned char *object = memory_at(page_of(OTHER));
    void *moved = NULL;

    call_result = DRASYNC_EFREED;
    return replica_realloc(object, 200, 0, &here, &moved) == DRASYNC_EFREED &&
           !moved && replica_free_object(object, &here) == DRASYNC_EFREED;
}

/* Pages of a region that is not replicated: it has an owner of another kind. */
static bool others_pages(void)
{
    static uint64_t owner[512];
    struct extent *extent;
    void *moved = NULL;
    unsigned char *object;
    uint64_t at;

    REQUIRE(!extent_new(&runtime.space, 1, owner, 0, &extent));
    at = atomic_load(&extent->first_page);
    object = memory_at(at) + BEGIN_BYTES;
    freed_by(OTHER, object, 0, 0);
    version(OTHER, 0, 0, at, 1, 1000, 1);
    return quiet() && replica_free_object(object, &here) == DRASYNC_ENOOBJECT &&
           replica_realloc(object, 200, 0, &here, &moved) ==
               DRASYNC_ENOOBJECT &&
           asked(object, 0) == DRASYNC_ENOOBJECT &&
           asked(object, 1) == DRASYNC_ENOOBJECT && !recv(OTHER, 0);
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
    tap_ok(pages_of_dropped_region(),
           "pages of a dropped region may come in another region at once");
    tap_ok(question_about_old_region(),
           "an answer about an old region is not taken for the new one's");
    tap_ok(resize_unknown(),
           "an object that this node does not know is resized with zeros");
    tap_ok(resize_unallocated(),
           "an object that is not allocated is refused, known or not");
    tap_ok(others_pages(), "pages of other regions have no objects here");
    node_close(&runtime.space);
    return tap_end();
}
