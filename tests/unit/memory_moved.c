/* Runs at given places, and addresses that change hands. */
#include <unistd.h>

#include "memory_common.h"
#include "memory_look.h"

#include "memory/control.h"
#include "memory/extents.h"
#include "memory/limit.h"
#include "memory/pages.h"

#define NODES 3

static void at_a_place(void)
{
    struct pages_run run = {40, 5}, inside = {44, 1}, odd = {41, 2};
    struct space space;
    uint64_t first, i;

    node_open(&space, 64 * MIB, 0, 1, 0);
    tap_ok(pages_run_here(&space, &run) && !pages_take_at(&space, &run),
           "a run is taken where it is wanted");
    tap_ok(pages_take_at(&space, &run) == DRASYNC_EBUSY &&
               pages_take_at(&space, &inside) == DRASYNC_EBUSY,
           "nothing of it is taken twice");
    tap_ok(pages_take_at(&space, &odd) == DRASYNC_EINVAL &&
               pages_take_at(&space, &(struct pages_run){0, 1}) ==
                   DRASYNC_EINVAL &&
               pages_take_at(&space, &(struct pages_run){space.pages, 1}) ==
                   DRASYNC_EINVAL,
           "no run can begin where no block does");
    for (i = 0; !pages_take(&space, 8, PAGES_ADDRESSES, &first); i++)
        REQUIRE(first != 40);
    tap_ok(i == space.pages / 8 - 2, "all around it is there for others");
    tap_ok(!pages_give(&space, 40, 5, PAGES_ADDRESSES) &&
               !pages_take(&space, 8, PAGES_ADDRESSES, &first) && first == 40,
           "given back it is one block again");
    node_close(&space);
}

static void kept_frames(void)
{
    struct space space;
    uint64_t first;

    node_open(&space, 64 * MIB, 0, 1, 0);
    REQUIRE(!pages_take(&space, 3, PAGES_FRAMES, &first));
    REQUIRE(!pages_give(&space, first, 3, PAGES_FRAMES));
    tap_ok(!pages_take_at(&space, &(struct pages_run){first, 4}),
           "what has kept its frames is free, too");
    node_close(&space);
}

static void nodes_open(struct space space[NODES])
{
    for (int i = 0; i < NODES; i++)
        node_open(&space[i], 64 * MIB, i, NODES, 0);
}

/* All nodes claim @runs for @node; undone if not all of it was claimed. */
static int claim(struct space space[NODES], const struct pages_run *runs,
                 uint64_t count, int node)
{
    uint64_t pages[NODES] = {0}, refused, got = 0, wanted = 0;
    int err = 0, asked = 0;

    for (uint64_t i = 0; i < count; i++)
        wanted += pages_run_whole(&runs[i]);
    for (int i = 0; i < NODES && !err; i++) {
        err = pages_claim(&space[i], runs, count, &pages[i], &refused);
        got += pages[i];
        asked += !err;
    }
    if (!err && got != wanted)
        err = DRASYNC_EAGAIN;
    for (int i = 0; i < asked && err; i++)
        pages_unclaim(&space[i], runs, count, pages[i]);
    for (int i = 0; i < NODES && !err; i++)
        REQUIRE(!pages_move(&space[i], runs, count, node));
    return err;
}

static int home_everywhere(struct space space[NODES], uint64_t page)
{
    int home = page_home(&space[0], page);

    for (int i = 1; i < NODES; i++)
        REQUIRE(page_home(&space[i], page) == home);
    return home;
}

static void moves(void)
{
    struct space space[NODES];
    uint64_t lane, first, i;

    nodes_open(space);
    lane = space[0].pages / 2 / NODES;
    const struct pages_run runs[] = {
        {8, 8}, {(lane / 16 + 1) * 16, 9}, {16, 1}};
    tap_ok(!pages_run_here(&space[2], &runs[0]) &&
               pages_run_here(&space[0], &runs[0]),
           "a node knows what it hands out");
    tap_ok(!claim(space, runs, 3, 2), "a node gets runs of two others");
    tap_ok(home_everywhere(space, 8) == 2 && home_everywhere(space, 15) == 2 &&
               home_everywhere(space, 16) == 2 &&
               home_everywhere(space, 17) == 0 &&
               home_everywhere(space, 7) == 0 &&
               home_everywhere(space, runs[1].first + 15) == 2 &&
               home_everywhere(space, runs[1].first + 16) == 1,
           "all know that it is their home now");
    tap_ok(claim(space, runs, 1, 1) == DRASYNC_EBUSY &&
               home_everywhere(space, 8) == 2,
           "they are taken there");
    tap_ok(!pages_give(&space[2], 8, 8, PAGES_ADDRESSES) &&
               !pages_give(&space[2], runs[1].first, 9, PAGES_ADDRESSES) &&
               pages_give(&space[0], 8, 8, PAGES_ADDRESSES) == DRASYNC_EINVAL,
           "and given back there, and only there");
    for (i = 0; !pages_take(&space[0], 1, PAGES_ADDRESSES, &first); i++)
        REQUIRE(first < 8 || (first > 16 && first < lane));
    tap_ok(i == lane - 10, "their former node has all others still");
    tap_ok(!claim(space, &(struct pages_run){12, 4}, 1, 1) &&
               home_everywhere(space, 11) == 2 &&
               home_everywhere(space, 12) == 1 &&
               home_everywhere(space, 16) == 2,
           "a part of a run can move on");
    tap_ok(!pages_give(&space[1], 12, 4, PAGES_ADDRESSES) &&
               !claim(space, &(struct pages_run){8, 8}, 1, 0) &&
               home_everywhere(space, 8) == 0 &&
               home_everywhere(space, 15) == 0,
           "and what two nodes have, to a third");
    for (i = 0; i < NODES; i++)
        node_close(&space[i]);
}

static void meets_two_lanes(void)
{
    struct space space[NODES];
    struct pages_run run;
    uint64_t lane, used;

    nodes_open(space);
    lane = space[0].pages / 2 / NODES;
    run = (struct pages_run){lane & ~UINT64_C(63), 64};
    REQUIRE(lane % 64);
    tap_ok(!pages_run_here(&space[0], &run) && !pages_run_here(&space[1], &run),
           "a run where two lanes meet is no node's");
    used = limit_used_bytes(&space[0]);
    REQUIRE(!pages_take_at(&space[1], &(struct pages_run){run.first + 63, 1}));
    tap_ok(claim(space, &run, 1, 2) == DRASYNC_EBUSY,
           "it is not to be had while one of them uses some of it");
    REQUIRE(!pages_give(&space[1], run.first + 63, 1, PAGES_ADDRESSES));
    tap_ok(!claim(space, &run, 1, 0) &&
               home_everywhere(space, run.first) == 0 &&
               home_everywhere(space, run.first + 63) == 0,
           "a claim that failed has left nothing behind; then it moves");
    tap_ok(!pages_give(&space[0], run.first, 64, PAGES_ADDRESSES) &&
               !pages_take_at(&space[0], &run),
           "and is one block for its new node");
    tap_ok(limit_used_bytes(&space[0]) < used + MIB, "that costs no memory");
    for (int i = 0; i < NODES; i++)
        node_close(&space[i]);
}

/* The upper half, which the first node grants of. */
static void chunks(void)
{
    struct space space[NODES];
    uint64_t half, first, pages, wanted;
    struct pages_run runs[2];

    nodes_open(space);
    half = space[0].pages / 2;
    wanted = chunks_wanted(&space[1], 0);
    REQUIRE(!chunks_grant(&space[0], chunk_book_of(&space[0]), 1, 1, wanted,
                          &first, &pages));
    REQUIRE(!pages_add_chunk(&space[1], first, pages));
    runs[0] = (struct pages_run){first + 4, 3};
    runs[1] = (struct pages_run){half + half / 2 + 64, 2};
    tap_ok(!claim(space, runs, 2, 2) &&
               home_everywhere(space, runs[0].first) == 2 &&
               home_everywhere(space, runs[1].first) == 2,
           "what was granted moves, and what nobody had");
    tap_ok(page_home(&space[1], first) == 1 &&
               chunks_home(&space[0], chunk_book_of(&space[0]),
                           runs[1].first + 2) == 0,
           "the manager has what lies around it");
    tap_ok(claim(space, &runs[1], 1, 1) == DRASYNC_EBUSY, "it is taken then");
    for (uint64_t got = pages + wanted; got < half / 2; got += pages)
        REQUIRE(!chunks_grant(&space[0], chunk_book_of(&space[0]), 1, 1, wanted,
                              &first, &pages) &&
                !pages_add_chunk(&space[1], first, pages));
    tap_ok(home_everywhere(space, runs[1].first) == 2,
           "and what is granted later is something else");
    for (int i = 0; i < NODES; i++)
        node_close(&space[i]);
}

/* The descriptors of kept extents are of the class whose slab is wanted. */
static void control_memory_beside_kept_frames(void)
{
    struct space space;
    struct extent *extent;
    uint64_t first;
    int owner, err = 0;
    void *p;

    node_open(&space, 64 * MIB, 0, 2, 32 * MIB);
    first = space.pages / 4 + 8; /* of the other node's */
    REQUIRE(!extent_adopt(&space, first, 512, &owner, 1, &extent));
    REQUIRE(!extent_forget(&space, extent));
    REQUIRE(!limit_charge(&space, limit_room_bytes(&space), LIMIT_FOR_DATA));
    alarm(60); /* it waited for itself */
    for (int i = 0; i < 2000 && !err; i++)
        err = control_alloc(&space, 100, &p);
    tap_ok(!err, "frames that are kept make room for control memory");
    tap_ok(!extent_insert(&space, first, 512, &owner, 1, &extent),
           "and their addresses are used again");
    alarm(0);
    node_close(&space);
}

int main(void)
{
    at_a_place();
    kept_frames();
    control_memory_beside_kept_frames();
    moves();
    meets_two_lanes();
    chunks();
    return tap_end();
}
