/*
 * lease.c - the lease word (runtime/native/lease*.c) step by step, with the
 * steps of step.c and hold.c and the real protocol: ranks take, give back and hand
 * over one region, while others' steps settle its leases.
 *
 * Mutual exclusion and the order of holds are checked by plain writes: two of
 * them that nothing orders are a race.
 */
#include "native_world.h"

#include <stdatomic.h>

#include "runtime/native/native.h"
#include "runtime/native/state.h"

#define ROUNDS 2

static int data, writes;

static void write_once(void)
{
    int before = data;

    data = before + 1;
    writes++;
}

static void begin_two(void)
{
    world_begin();
}

static void rank_writes(void)
{
    world_thread();
    for (int i = 0; i < ROUNDS; i++) {
        STEP_CHECK(!world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER));
        write_once();
        STEP_CHECK(!world_release());
    }
    world_leave(2);
}

static void two_wrote(void)
{
    STEP_CHECK(data == 2 * ROUNDS);
}

/* --- Three ranks: a step of the third ends what the other two have -------- */

static void rank_writes_among_three(void)
{
    world_thread();
    for (int i = 0; i < (step_self() == 2 ? 1 : ROUNDS); i++) {
        STEP_CHECK(!world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER));
        write_once();
        STEP_CHECK(!world_release());
    }
    world_leave(3);
}

static void three_wrote(void)
{
    STEP_CHECK(data == 2 * ROUNDS + 1);
}

/* --- A rank that waits for so long only ----------------------------------- */

#define TIMEOUT_US 1000

static void rank_tries(void)
{
    world_thread();
    for (int i = 0; i < ROUNDS; i++) {
        int err = world_acquire(DRASYNC_WRITE, TIMEOUT_US);

        if (err) {
            STEP_CHECK(err == DRASYNC_EAGAIN);
            continue;
        }
        write_once();
        STEP_CHECK(!world_release());
    }
    world_leave(2);
}

static void all_counted(void)
{
    STEP_CHECK(data == writes);
}

/* --- Calls on data within a hold ------------------------------------------ */

static void rank_uses(void)
{
    struct native_tree tree;

    world_thread();
    for (int i = 0; i < ROUNDS; i++) {
        STEP_CHECK(!world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER));
        STEP_CHECK(!native_lock_for(
            NATIVE_FOR_DATA, (uint64_t)(uintptr_t)world_handle(0), &tree));
        STEP_CHECK(tree.region->write_rank == step_self());
        native_unlock(&tree);
        write_once();
        STEP_CHECK(!world_release());
    }
    world_leave(2);
}

/* --- Readers and a writer ------------------------------------------------- */

static void rank_reads(void)
{
    world_thread();
    for (int i = 0; i < ROUNDS; i++) {
        STEP_CHECK(!world_acquire(DRASYNC_READ, DRASYNC_FOREVER));
        STEP_CHECK(!world_release());
    }
    world_leave(2);
}

/* --- Other nodes want the region: keep.c says so in the word -------------- */

static void sets_looks(void)
{
    world_thread();
    for (int i = 0; i < 2; i++)
        world_wanted();
    world_leave(3);
}

static void rank_writes_beside_looks(void)
{
    world_thread();
    for (int i = 0; i < ROUNDS; i++) {
        STEP_CHECK(!world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER));
        write_once();
        STEP_CHECK(!world_release());
    }
    world_leave(3);
}

/* --- The test ------------------------------------------------------------- */

enum { TWO, THREE, TIMEOUT, DATA, READERS, LOOKS, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [TWO] = {.title = "two ranks that write alternately exclude each other",
             .begin = begin_two,
             .enter = world_enter,
             .thread = {rank_writes, rank_writes},
             .process = {0, 1},
             .end = two_wrote,
             .deviations = 3,
             .seeds = 4000},
    [THREE] = {.title = "so do three, whose steps settle the others' leases",
               .begin = begin_two,
               .enter = world_enter,
               .thread = {rank_writes_among_three, rank_writes_among_three,
                          rank_writes_among_three},
               .process = {0, 1, 2},
               .end = three_wrote,
               .deviations = 3,
               .seeds = 8000},
    [TIMEOUT] = {.title = "a rank whose time passes in the word leaves it, or "
                          "has the hold",
                 .begin = begin_two,
                 .enter = world_enter,
                 .thread = {rank_tries, rank_tries},
                 .process = {0, 1},
                 .end = all_counted,
                 .deviations = 2,
                 .seeds = 4000,
                 .timers = true,
                 .tick_us = 1,
                 .idle_us_max = TIMEOUT_US},
    [DATA] = {.title = "a call on data sees its rank's hold in the protocol",
              .begin = begin_two,
              .enter = world_enter,
              .thread = {rank_uses, rank_uses},
              .process = {0, 1},
              .end = two_wrote,
              .deviations = 2,
              .seeds = 2000},
    [READERS] = {.title = "a reader and a writer both go on",
                 .begin = begin_two,
                 .enter = world_enter,
                 .thread = {rank_reads, rank_writes},
                 .process = {0, 1},
                 .deviations = 2,
                 .seeds = 4000},
    [LOOKS] = {.title = "a rank that waits sees that it has the hold, though "
                        "others ask for it meanwhile",
               .begin = begin_two,
               .enter = world_enter,
               .thread = {rank_writes_beside_looks, rank_writes_beside_looks,
                          sets_looks},
               .process = {0, 1, 2},
               .end = two_wrote,
               .deviations = 3,
               .seeds = 8000},
};

static bool by_another(int thread, uint64_t value)
{
    (void)value;
    return thread != 0;
}

static const struct step_fault faults[] = {
    {.name = "pass-relaxed",
     .title = "a lease passes without release and acquire",
     .kind = STEP_CAS,
     .at = "lease",
     .effect = STEP_RELAX},
    {.name = "pass-exchange",
     .title = "a rank takes a lease whatever its word says",
     .kind = STEP_CAS,
     .at = "lease",
     .effect = STEP_AS_EXCHANGE},
    {.name = "empty-split",
     .title = "a lease is read, then emptied",
     .kind = STEP_EXCHANGE,
     .at = "lease",
     .effect = STEP_SPLIT},
    {.name = "empty-relaxed",
     .title = "a lease is emptied without acquire",
     .kind = STEP_EXCHANGE,
     .at = "lease",
     .effect = STEP_RELAX},
    {.name = "no-wake",
     .title = "a rank that sleeps in the word is not woken",
     .kind = STEP_FUTEX_WAKE,
     .at = "lease",
     .effect = STEP_SKIP},
    {.name = "wait-not-ended",
     .title = "a rank that waited in an emptied lease is not told",
     .kind = STEP_CAS,
     .at = "wait 0",
     .effect = STEP_SKIP,
     .applies = by_another,
     .scenarios = 1 << THREE},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("lease");

    world_private();
    return step_main(&test, argc, argv);
}
