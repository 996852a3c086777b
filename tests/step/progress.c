/*
 * progress.c - runtime/messages/progress*.c step by step, with the outbox and
 * wait.c: a node's progress thread, and threads of its leader that help, send,
 * wait for another node, and end.
 */
#include "progress_world.h"

#include "runtime/messages/messages.h"
#include "runtime/messages/progress.h"
#include "tests/step/calls.h"

static void begin_one(void)
{
    world_begin(1);
}

static void begin_two(void)
{
    world_begin(2);
}

/* --- Waiting for another node --------------------------------------------- */

static void thread_waits(void)
{
    int i = step_self() - 1, result = 1;

    world_ask(i);
    STEP_CHECK(!runtime_wait_remote(&world_waiters[i], WAIT_FOREVER, &result));
    STEP_CHECK(!result);
    world_answered(i);
    world_thread_ends();
}

/* On a rank that has its own transport, and no progress thread. */
static void begin_own(void)
{
    world_begin(0);
    STEP_CHECK(!progress_own_open());
}

static void thread_waits_on_its_own(void)
{
    int i = step_self();

    world_ask(i);
    STEP_CHECK(!progress_own_wait(&world_waiters[i]));
    world_answered(i);
}

/* --- Helping for as long as something takes ------------------------------- */

/* More turns than HELPED for a moment has. */
#define LOOKS 5

static bool is_over(void *looks)
{
    return ++*(int *)looks > LOOKS;
}

static void thread_helps(void)
{
    int looks = 0;

    progress_help_until(is_over, &looks);
    world_thread_ends();
}

/* --- Sending -------------------------------------------------------------- */

static void send_one(void)
{
    const struct runtime_message message = {.node = 1, .kind = 1};

    STEP_CHECK(!runtime_send(&message));
}

static void thread_sends(void)
{
    send_one();
    world_thread_ends();
}

static void one_sent(void)
{
    STEP_CHECK(world_sent == 1);
}

/* --- The end -------------------------------------------------------------- */

static void thread_joins(void)
{
    world_thread_ends();
    progress_join();
}

static void thread_glances(void)
{
    progress_glance();
}

static void thread_sends_at_the_end(void)
{
    send_one();
}

static void thread_helps_at_the_end(void)
{
    int looks = LOOKS - 1;

    progress_help_until(is_over, &looks);
}

/* --- The test ------------------------------------------------------------- */

enum {
    WAIT,
    LONG,
    LONG_WAIT,
    SEND,
    JOIN_GLANCE,
    JOIN_SEND,
    JOIN_HELP,
    OWN,
    SCENARIOS,
};

#define PROGRESS(what) \
    .begin = (what), .idle_us = world_idle_us, .tick_us = 1, .yield_us = 500

static const struct step_scenario scenarios[SCENARIOS] = {
    [WAIT] = {.title = "of two threads that wait for another node each has its "
                       "answer as soon as it is there",
              PROGRESS(begin_two),
              .thread = {step_thread_body, thread_waits, thread_waits},
              .deviations = 1,
              .seeds = 3000},
    [LONG] = {.title = "two threads that help for long leave nobody deaf",
              PROGRESS(begin_two),
              .thread = {step_thread_body, thread_helps, thread_helps},
              .deviations = 2,
              .seeds = 6000},
    [LONG_WAIT] = {.title = "who waits while another thread ends its long help "
                            "has its answer at once",
                   PROGRESS(begin_two),
                   .thread = {step_thread_body, thread_helps, thread_waits},
                   .deviations = 1,
                   .seeds = 3000},
    [SEND] = {.title = "what is queued while a thread helps is sent",
              PROGRESS(begin_two),
              .thread = {step_thread_body, thread_helps, thread_sends},
              .end = one_sent,
              .deviations = 1,
              .seeds = 3000},
    [JOIN_GLANCE] = {.title = "a thread that polls once while the transport is "
                              "closed does not use it",
                     PROGRESS(begin_one),
                     .thread = {step_thread_body, thread_joins, thread_glances},
                     .deviations = 2,
                     .seeds = 2000},
    [JOIN_SEND] = {.title = "nor does one that sends",
                   PROGRESS(begin_one),
                   .thread = {step_thread_body, thread_joins,
                              thread_sends_at_the_end},
                   .deviations = 2,
                   .seeds = 2000},
    [JOIN_HELP] = {.title = "nor does one that helps",
                   PROGRESS(begin_one),
                   .thread = {step_thread_body, thread_joins,
                              thread_helps_at_the_end},
                   .deviations = 2,
                   .seeds = 2000},
    [OWN] = {.title = "where there is no progress thread, two that wait both "
                      "have their answers",
             PROGRESS(begin_own),
             .thread = {thread_waits_on_its_own, thread_waits_on_its_own},
             .deviations = 2,
             .seeds = 3000},
};

static const struct step_fault faults[] = {
    {.name = "help-exchange",
     .title =
         "a thread that is refused to help changes how the other one helps "
         "(defect 5 of issue 17)",
     .kind = STEP_CAS,
     .at = "helped",
     .effect = STEP_AS_EXCHANGE},
    {.name = "open-once",
     .title = "who takes the turns does not look again whether the transport "
              "is open (defect 6)",
     .kind = STEP_LOAD,
     .at = "open",
     .effect = STEP_REUSE},
    {.name = "help-end-relaxed",
     .title = "a helper looks for others that wait before its end is seen",
     .kind = STEP_EXCHANGE,
     .at = "helped",
     .effect = STEP_RELAX},
    {.name = "waits-relaxed",
     .title = "a helper does not see who began to wait",
     .kind = STEP_LOAD,
     .at = "remote_waits",
     .effect = STEP_RELAX},
    {.name = "waits-skipped",
     .title = "who waits does not say so",
     .kind = STEP_RMW,
     .at = "remote_waits",
     .effect = STEP_SKIP},
    {.name = "no-bell",
     .title = "a helper that ends does not ring for the next",
     .kind = STEP_RMW,
     .at = "bell",
     .effect = STEP_SKIP,
     .scenarios = 1 << OWN},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("progress");

    return step_main(&test, argc, argv);
}
