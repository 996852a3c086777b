/*
 * Pointers between managed regions, with and without links: what checked mode
 * says of those without is compared with golden text.
 *
 *   check_links WHAT     see tests/bats/check_links.bats
 *
 * Rank 1 makes the region that is pointed to, and gives rank 0 a reference; rank 0
 * makes the one that points.  The ranks may be nodes, or on two hosts.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drasync.h"

#define NOINLINE __attribute__((noinline))

/* The last call of a function leaves its frame. */
#define KEEP __asm__ volatile("")

#define MANY 1100 /* regions: more than one release looks at */

struct item {
    uint64_t number;
    struct item *next;
    drasync_region_t region;
    drasync_weak_t weak;
};

static const char *what;
static int rank;

static int is(const char *name)
{
    return !strcmp(what, name);
}

static void check(int err, const char *call)
{
    if (err) {
        printf("%s: %s\n", call, drasync_strerror(err));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define CHECK(call) check(call, #call)

NOINLINE static struct item *new_item(drasync_region_t r)
{
    void *made;

    CHECK(drasync_alloc(r, sizeof(struct item), &made));
    memset(made, 0, sizeof(struct item));
    KEEP;
    return made;
}

NOINLINE static drasync_region_t new_part(void)
{
    drasync_region_t r;

    CHECK(drasync_new_region(&r));
    CHECK(drasync_manage(r));
    KEEP;
    return r;
}

NOINLINE static void take(drasync_region_t r)
{
    CHECK(drasync_acquire(r, DRASYNC_WRITE));
    KEEP;
}

NOINLINE static void let_go(drasync_region_t r)
{
    if (is("give"))
        CHECK(drasync_give(r, 1, 0));
    else
        CHECK(drasync_release(r));
    KEEP;
}

/* What rank 0 is told of the region of rank 1. */
struct other {
    drasync_region_t region;
    struct item *item;
};

static struct other make_other(void)
{
    struct other other = {0};
    drasync_region_t named;

    if (rank == 1) {
        other.region = is("plain_to") ? new_region() : new_part();
        /* Beyond the first page, of which a handle would tell. */
        for (int i = 0; i < 1000; i++)
            other.item = new_item(other.region);
        CHECK(drasync_publish("the other part", other.region));
        CHECK(drasync_release(other.region));
        if (is("there"))
            CHECK(drasync_ref(other.region));
        if (!is("plain_to"))
            CHECK(drasync_ref_give(other.region, 0));
    }
    MPI_Bcast(&other, sizeof(other), MPI_BYTE, 1, MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(drasync_lookup("the other part", DRASYNC_FOREVER, &named));
    return other;
}

/* A pointer, in @item. */
static void point(struct item *item, const struct other *other)
{
    item->number = 7;
    if (is("handle"))
        item->region = other->region;
    else if (is("weak"))
        CHECK(drasync_weak(other->region, &item->weak));
    else
        item->next = other->item;
}

/* Links that rank 0 makes, as it should. */
static int links_itself(void)
{
    return is("right") || is("weak") || is("unlinked") || is("cleared");
}

static void point_from(drasync_region_t mine, struct item *item,
                       const struct other *other)
{
    take(mine);
    point(item, other);
    if (links_itself())
        CHECK(drasync_link(mine, other->region));
    let_go(mine);
    if (is("unlinked") || is("cleared")) {
        take(mine);
        if (is("cleared"))
            item->next = NULL;
        CHECK(drasync_unlink(mine, other->region));
        let_go(mine);
    }
    /* Again: the same link is not told of twice. */
    if (is("again")) {
        take(mine);
        new_item(mine)->next = other->item;
        let_go(mine);
    }
}

/* Rank 1 makes the link, before rank 0 has the pointer. */
static void link_there(drasync_region_t mine, const struct other *other)
{
    MPI_Bcast(&mine, sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        CHECK(drasync_acquire(mine, DRASYNC_READ));
        CHECK(drasync_link(mine, other->region));
        CHECK(drasync_release(mine));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 1 takes what rank 0 gives it. */
static void pass_on(drasync_region_t mine)
{
    struct drasync_gift gift;

    if (rank == 1) {
        CHECK(drasync_take(0, 0, DRASYNC_FOREVER, &mine, &gift));
        CHECK(drasync_release(mine));
    }
}

static void one_pointer(void)
{
    struct other other = make_other();
    drasync_region_t mine = NULL, below = NULL;
    struct item *item = NULL;

    if (rank == 0) {
        mine = is("plain_from") ? new_region() : new_part();
        if (is("below"))
            CHECK(drasync_new_subregion(mine, &below));
        item = new_item(below ? below : mine);
        CHECK(drasync_publish("my part", mine));
        CHECK(drasync_release(mine));
    }
    if (is("there"))
        link_there(mine, &other);
    if (rank == 0)
        point_from(below ? below : mine, item, &other);
    if (is("give"))
        pass_on(mine);
}

/* WRITE ends with the last of its holds, whatever READs end before. */
static void nested(void)
{
    struct other other = make_other();
    drasync_region_t mine, below;
    struct item *item;

    if (rank)
        return;
    mine = new_part();
    CHECK(drasync_new_subregion(mine, &below));
    item = new_item(below);
    item->next = other.item;
    CHECK(drasync_acquire(below, DRASYNC_WRITE));
    CHECK(drasync_release(below));
    CHECK(drasync_acquire(mine, DRASYNC_READ));
    CHECK(drasync_release(mine));
    CHECK(drasync_acquire(mine, DRASYNC_WRITE));
    CHECK(drasync_release(mine));
    CHECK(drasync_link(mine, other.region));
    CHECK(drasync_release(mine));
}

/* A region with pointers to many, each linked, but for the last. */
static void many(void)
{
    drasync_region_t mine, other;
    int linked = is("many_right") ? MANY : 300;

    if (rank)
        return;
    mine = new_part();
    for (int i = 0; i < (is("many_right") ? MANY : 301); i++) {
        other = new_part();
        new_item(mine)->region = other;
        CHECK(drasync_release(other));
        if (i < linked)
            CHECK(drasync_link(mine, other));
    }
    let_go(mine);
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "right";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is("many_right") || is("many"))
        many();
    else if (is("nested"))
        nested();
    else
        one_pointer();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        puts("over");
    MPI_Finalize();
    return 0;
}
