/*
 * wait.c - runtime/wait.c step by step: a waiter, a doorbell and a word of its
 * user's lose no wake-up, and hand over what was written before.
 *
 * Every sleep has a timer of 0.2 s, which would hide a lost wake-up; here a run
 * in which all sleep until a timer fails.
 */
#include "step.h"

#include <stdatomic.h>

#include "runtime/process.h"
#include "runtime/shared.h"
#include "runtime/wait.h"

struct runtime runtime;

/* With few looks before sleeping. */
static void crowded(void)
{
    runtime.crowded = true;
}

/* --- Waiter --------------------------------------------------------------- */

static struct waiter *waiter;
static int handed_over;

static void waiter_begin(void)
{
    crowded();
    waiter = step_alloc(sizeof(*waiter));
    waiter_reset(waiter);
    step_name(&waiter->word, "waiter");
    handed_over = 0;
}

static void waiter_waits(void)
{
    int result = 0;

    STEP_CHECK(waiter_wait(waiter, WAIT_FOREVER, &result) == 0);
    STEP_CHECK(result == 7);
    STEP_CHECK(handed_over == 1);
    step_free(waiter, sizeof(*waiter));
}

static void waiter_wakes(void)
{
    handed_over = 1;
    waiter_wake(waiter, 7);
}

#define WAITER_DEADLINE_US 5000

static void waiter_waits_for_a_while(void)
{
    uint64_t deadline = wait_deadline_us(WAITER_DEADLINE_US);
    int result = 0, err = waiter_wait(waiter, deadline, &result);

    if (err == DRASYNC_EAGAIN) {
        STEP_CHECK(step_now_us() >= deadline);
        /* A later wake still comes. */
        STEP_CHECK(waiter_wait(waiter, WAIT_FOREVER, &result) == 0);
    }
    STEP_CHECK(result == 7);
    step_free(waiter, sizeof(*waiter));
}

/* --- One of several waiters ----------------------------------------------- */

#define ANY 2

#define ANY_DEADLINE_US 5000

static _Alignas(
    64) char page[sizeof(struct runtime_shared) + sizeof(struct runtime_rank)];
static struct waiter *any[ANY];

static void any_begin(void)
{
    crowded();
    runtime.shared = (void *)page;
    for (int i = 0; i < ANY; i++) {
        any[i] = step_alloc(sizeof(*any[i]));
        waiter_reset(any[i]);
    }
    step_name(&any[0]->word, "waiter");
    step_name(&any[1]->word, "second");
    step_name(&runtime.shared->ranks[0].doorbell.rings, "rings");
    step_name(&runtime.shared->ranks[0].doorbell.sleepers, "sleepers");
}

/* Takes both as they come, the last one by itself. */
static void any_waits(void)
{
    struct waiter *left[ANY] = {any[0], any[1]};
    int result = 0;

    STEP_CHECK(waiter_wait_any(left, ANY, WAIT_FOREVER) == 0);
    int here = waiter_done(left[0]) ? 0 : 1;
    STEP_CHECK(waiter_wait(left[here], WAIT_FOREVER, &result) == 0);
    STEP_CHECK(result == here + 1);
    STEP_CHECK(waiter_wait(left[1 - here], WAIT_FOREVER, &result) == 0);
    STEP_CHECK(result == 2 - here);
    for (int i = 0; i < ANY; i++)
        step_free(any[i], sizeof(*any[i]));
}

/* For the first alone, after it has waited for that by itself, for a while. */
static void any_waits_after_one(void)
{
    int result = 0;

    if (waiter_wait(any[0], wait_deadline_us(ANY_DEADLINE_US), &result)) {
        STEP_CHECK(waiter_wait_any(any, 1, WAIT_FOREVER) == 0);
        STEP_CHECK(waiter_wait(any[0], WAIT_FOREVER, &result) == 0);
    }
    STEP_CHECK(result == 1);
    STEP_CHECK(waiter_wait(any[1], WAIT_FOREVER, &result) == 0);
    STEP_CHECK(result == 2);
    for (int i = 0; i < ANY; i++)
        step_free(any[i], sizeof(*any[i]));
}

static void any_wakes_first(void)
{
    waiter_wake(any[0], 1);
}

static void any_wakes_second(void)
{
    waiter_wake(any[1], 2);
}

/* --- Doorbell ------------------------------------------------------------- */

static struct doorbell bell;
static _Atomic uint32_t stage;

static void doorbell_begin(void)
{
    crowded();
    step_name(&bell.rings, "rings");
    step_name(&bell.sleepers, "sleepers");
    step_name(&stage, "stage");
}

static void doorbell_waits(void)
{
    for (uint32_t wanted = 1; wanted <= 2; wanted++)
        for (;;) {
            uint32_t seen = doorbell_read(&bell);

            if (atomic_load_explicit(&stage, memory_order_relaxed) >= wanted)
                break;
            STEP_CHECK(doorbell_wait(&bell, seen, WAIT_FOREVER) == 0);
        }
}

static void doorbell_rings(void)
{
    for (uint32_t reached = 1; reached <= 2; reached++) {
        atomic_store_explicit(&stage, reached, memory_order_relaxed);
        doorbell_ring(&bell);
    }
}

static void doorbell_end(void)
{
    STEP_CHECK(!bell.sleepers);
}

/* --- A word of its user's ------------------------------------------------- */

#define WORD_ASLEEP 1
#define WORD_THERE  2

static _Atomic uint64_t word;

static void word_begin(void)
{
    crowded();
    step_name(&word, "word");
}

static void word_waits(void)
{
    STEP_CHECK(wait_word(&word, 0, WORD_ASLEEP, WAIT_FOREVER) == 0);
    STEP_CHECK(atomic_load(&word) & WORD_THERE);
    STEP_CHECK(handed_over == 1);
}

static void word_changes(void)
{
    handed_over = 1;
    if (atomic_exchange(&word, WORD_THERE) & WORD_ASLEEP)
        wait_word_wake(&word);
}

/* --- The test ------------------------------------------------------------- */

enum {
    WAITER,
    WAITER_DEADLINE,
    WAITERS,
    WAITERS_AFTER_ONE,
    DOORBELL,
    WORD,
    SCENARIOS
};

static const struct step_scenario scenarios[SCENARIOS] = {
    [WAITER] = {.title = "a waiter gets its event and what came before it, and "
                         "may be freed at once",
                .begin = waiter_begin,
                .thread = {waiter_waits, waiter_wakes},
                .deviations = 5,
                .seeds = 2000},
    [WAITER_DEADLINE] = {.title = "a waiter whose time has passed gets the "
                                  "event later",
                         .begin = waiter_begin,
                         .thread = {waiter_waits_for_a_while, waiter_wakes},
                         .deviations = 4,
                         .seeds = 2000,
                         .timers = true,
                         .tick_us = 1,
                         .idle_us_max = WAITER_DEADLINE_US},
    [WAITERS] = {.title =
                     "who waits for one of two events gets it, and then the "
                     "other",
                 .begin = any_begin,
                 .thread = {any_waits, any_wakes_first, any_wakes_second},
                 .deviations = 3,
                 .seeds = 5000},
    [WAITERS_AFTER_ONE] = {.title =
                               "so does who has waited for one of them, whose "
                               "time has passed",
                           .begin = any_begin,
                           .thread = {any_waits_after_one, any_wakes_first,
                                      any_wakes_second},
                           .deviations = 3,
                           .seeds = 3000,
                           .timers = true,
                           .tick_us = 1,
                           .idle_us_max = ANY_DEADLINE_US},
    [DOORBELL] = {.title = "two threads that wait for a doorbell see all that "
                           "it rings for",
                  .begin = doorbell_begin,
                  .thread = {doorbell_waits, doorbell_rings, doorbell_waits},
                  .end = doorbell_end,
                  .deviations = 3,
                  .seeds = 5000},
    [WORD] = {.title = "who waits for a word to change sees it change",
              .begin = word_begin,
              .thread = {word_waits, word_changes},
              .deviations = 5,
              .seeds = 2000},
};

static bool by_thread_0(int thread, uint64_t value)
{
    (void)value;
    return thread == 0;
}

static const struct step_fault faults[] = {
    {.name = "wake-relaxed",
     .title = "waiter_wake() does not release the result",
     .kind = STEP_EXCHANGE,
     .at = "waiter",
     .effect = STEP_RELAX,
     .scenarios = 1 << WAITER},
    {.name = "wake-split",
     .title = "waiter_wake() looks for a sleeper before it stores",
     .kind = STEP_EXCHANGE,
     .at = "waiter",
     .effect = STEP_SPLIT,
     .scenarios = 1 << WAITER},
    {.name = "done-relaxed",
     .title = "waiter_done() does not acquire the result",
     .kind = STEP_LOAD,
     .at = "waiter",
     .effect = STEP_RELAX,
     .scenarios = 1 << WAITER},
    {.name = "waiter-no-wake",
     .title = "a waiter that sleeps is not woken",
     .kind = STEP_FUTEX_WAKE,
     .at = "waiter",
     .effect = STEP_SKIP,
     .scenarios = 1 << WAITER},
    {.name = "any-says-nothing",
     .title = "waiter_wait_any() does not say in a word where to ring",
     .kind = STEP_CAS,
     .at = "second",
     .effect = STEP_SKIP,
     .applies = by_thread_0,
     .scenarios = 1 << WAITERS},
    {.name = "any-no-ring",
     .title = "waiter_wake() does not ring for who waits for several",
     .kind = STEP_RMW,
     .at = "rings",
     .effect = STEP_SKIP,
     .scenarios = 1 << WAITERS},
    {.name = "sleepers-relaxed",
     .title = "doorbell_ring() looks for sleepers before its ring is seen",
     .kind = STEP_LOAD,
     .at = "sleepers",
     .effect = STEP_RELAX,
     .scenarios = 1 << DOORBELL},
    {.name = "ring-skipped",
     .title = "doorbell_ring() does not count",
     .kind = STEP_RMW,
     .at = "rings",
     .effect = STEP_SKIP,
     .scenarios = 1 << DOORBELL},
    {.name = "word-asleep-skipped",
     .title = "wait_word() sleeps without saying so",
     .kind = STEP_CAS,
     .at = "word",
     .effect = STEP_SKIP,
     .applies = by_thread_0,
     .scenarios = 1 << WORD},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("wait");

    return step_main(&test, argc, argv);
}
