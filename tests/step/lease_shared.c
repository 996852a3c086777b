/*
 * lease_shared.c - READ by several threads of a rank (runtime/native/lease.h,
 * "Shared leases") step by step, while a rank that writes ends the lease.
 *
 * What a thread reads without a hold that counts, the writer writes meanwhile: a
 * race.  And at the end nobody has a hold, whatever was counted of the threads.
 */
#include "native_world.h"

#include <stdatomic.h>

#include "runtime/native/lease_inline.h"
#include "runtime/native/state.h"
#include "runtime/native/taken.h"

static int known, ready;
static _Atomic int handed;

static bool is_so(void *flag)
{
    return *(const int *)flag;
}

/* Orders nothing. */
__attribute__((no_sanitize("thread"))) static void now_so(int *flag)
{
    *flag = 1;
}

static bool is_handed(void *unused)
{
    (void)unused;
    return handed;
}

static bool three_know(void *unused)
{
    (void)unused;
    return known == 2;
}

__attribute__((no_sanitize("thread"))) static void one_knows(void)
{
    known++;
}

static void begin(void)
{
    known = ready = 0;
    atomic_store(&handed, 0);
    world_begin();
}

/* Thread 0 makes the lease, shared from the start; thread 1 is of the same rank,
 * thread 2 of another. */
static void start(void)
{
    world_thread();
    native_taken_by_several();
    if (step_self()) {
        one_knows();
        step_wait(is_so, &ready, STEP_FOREVER, "waits for the lease");
        return;
    }
    step_wait(three_know, NULL, STEP_FOREVER, "waits for the others");
    for (int i = 0; i < 2; i++)
        STEP_CHECK(!world_acquire(DRASYNC_READ, DRASYNC_FOREVER));
    for (int i = 0; i < 2; i++)
        STEP_CHECK(!world_release());
    now_so(&ready);
}

static int look(void)
{
    return *(volatile int *)world_data();
}

static void take(void)
{
    STEP_CHECK(!world_acquire(DRASYNC_READ, DRASYNC_FOREVER));
}

static void give(void)
{
    STEP_CHECK(!world_release());
}

/* --- Threads read, one of them within itself ------------------------------ */

static void reads(void)
{
    int first;

    start();
    take();
    first = look();
    if (step_self()) {
        take();
        STEP_CHECK(look() == first);
        give();
    }
    STEP_CHECK(look() == first);
    give();
    world_leave(3);
}

static void writes(void)
{
    start();
    STEP_CHECK(!world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER));
    (*world_data())++;
    give();
    world_leave(3);
}

/* --- A hold that another thread gives back -------------------------------- */

static void takes_for_another(void)
{
    start();
    take();
    atomic_store(&handed, 1);
    world_leave(3);
}

static void gives_anothers(void)
{
    start();
    step_wait(is_handed, NULL, STEP_FOREVER, "waits for the hold");
    STEP_CHECK(atomic_load(&handed)); /* what came before it is seen */
    look();
    give();
    world_leave(3);
}

/* --- A thread that ends with one ------------------------------------------ */

static void ends(void)
{
    start();
    take();
    native_lease_leave();
    native_lease_forget();
    atomic_store(&handed, 1);
    world_leave(3);
}

/* --- The rank itself writes ----------------------------------------------- */

static void writes_too(void)
{
    int err;

    start();
    err = world_acquire(DRASYNC_WRITE, DRASYNC_FOREVER);
    STEP_CHECK(!err || err == DRASYNC_EUPGRADE);
    if (!err) {
        (*world_data())++;
        give();
    }
    world_leave(2);
}

static void reads_beside(void)
{
    start();
    take();
    give();
    take();
    give();
    world_leave(2);
}

static void nothing(void)
{
    start();
}

/* --- The test ------------------------------------------------------------- */

enum { READERS, HANDED, ENDS, OWN, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [READERS] = {.title = "two threads of a rank read, each for itself, while "
                          "another rank writes",
                 .begin = begin,
                 .enter = world_enter,
                 .thread = {reads, reads, writes},
                 .process = {0, 0, 1},
                 .deviations = 2,
                 .seeds = 10000},
    [HANDED] = {.title = "a thread gives back what another one took",
                .begin = begin,
                .enter = world_enter,
                .thread = {gives_anothers, takes_for_another, writes},
                .process = {0, 0, 1},
                .deviations = 2,
                .seeds = 4000},
    [ENDS] = {.title = "a thread ends, and its hold goes on",
              .begin = begin,
              .enter = world_enter,
              .thread = {gives_anothers, ends, writes},
              .process = {0, 0, 1},
              .deviations = 2,
              .seeds = 4000},
    [OWN] = {.title = "the rank that reads writes, or is told that it reads",
             .begin = begin,
             .enter = world_enter,
             .thread = {reads_beside, writes_too, nothing},
             .process = {0, 0, 1},
             .deviations = 2,
             .seeds = 4000},
};

/* Who ends the lease, in READERS. */
static bool by_writer(int thread, uint64_t value)
{
    (void)value;
    return thread == 2;
}

static bool by_reader(int thread, uint64_t value)
{
    (void)value;
    return thread < 2;
}

static const struct step_fault faults[] = {
    {.name = "no-membarrier",
     .title = "a lease is ended without membarrier()",
     .kind = STEP_MEMBARRIER,
     .effect = STEP_SKIP},
    {.name = "no-look",
     .title = "a thread does not look at the lease after it noted its use",
     .kind = STEP_LOAD,
     .at = "lease",
     .effect = STEP_REUSE,
     .applies = by_reader},
    {.name = "leave-relaxed",
     .title = "a use ends without release",
     .kind = STEP_STORE,
     .at = "use",
     .effect = STEP_RELAX},
    {.name = "count-relaxed",
     .title = "uses are counted without acquire",
     .kind = STEP_LOAD,
     .at = "use",
     .effect = STEP_RELAX,
     .applies = by_writer},
    {.name = "no-use",
     .title = "a thread does not note its use",
     .kind = STEP_STORE,
     .at = "use",
     .effect = STEP_SKIP},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("lease_shared");

    world_private();
    return step_main(&test, argc, argv);
}
