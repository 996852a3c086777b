/*
 * outbox.c - runtime/messages/outbox.c and chores.c step by step, with the sleep
 * of progress_idle.c: ranks queue messages and begin chores while the progress
 * thread drains them and goes to sleep.  Each message is given to the transport
 * once, in its sender's order, and none waits until a timer ends.
 */
#include "step.h"

#include <stdatomic.h>

#include "runtime/messages/chores.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/messages/progress_idle.h"
#include "runtime/process.h"
#include "runtime/shared.h"
#include "tests/step/calls.h"

#define SENDERS_MAX 2
#define EACH        2

struct runtime runtime;
static struct runtime_shared shared;
static struct transport *const transport = (struct transport *)&shared;
static int senders, sent[SENDERS_MAX];
static struct runtime_chore *chore;
static int pieces; /* of it, done */

/* --- What the code needs -------------------------------------------------- */

/* As it is on all ranks but the leader. */
bool progress_send(const struct runtime_message *message, int *err_out)
{
    (void)message;
    (void)err_out;
    return false;
}

void progress_help(struct waiter *const *waiters, int count,
                   uint64_t deadline_us)
{
    (void)waiters;
    (void)count;
    (void)deadline_us;
}

int progress_own_beside(struct waiter *const *waiters, int count,
                        uint64_t deadline_us)
{
    (void)waiters;
    (void)count;
    (void)deadline_us;
    return 0;
}

int waiter_wait_any(struct waiter *const *waiters, int count,
                    uint64_t deadline_us)
{
    (void)waiters;
    (void)count;
    (void)deadline_us;
    return 0;
}

int waiter_wait(struct waiter *w, uint64_t deadline_us, int *result_out)
{
    (void)w;
    (void)deadline_us;
    (void)result_out;
    return 0;
}

uint64_t runtime_now_us(void)
{
    return step_now_us();
}

int dispatch_send(struct transport *to, int node,
                  const struct transport_message *message)
{
    int number = *(const int *)message->header;

    STEP_CHECK(to == transport && node == 1);
    STEP_CHECK(number == sent[message->kind]);
    sent[message->kind]++;
    return 0;
}

/* --- Ranks ---------------------------------------------------------------- */

static void begin(void)
{
    int ends[2];

    runtime.nodes = 2;
    runtime.shared = &shared;
    step_pipe2(ends, 0);
    runtime.wake_fd = ends[0];
    STEP_CHECK(!idle_open());
    step_name(&shared.outbox.head, "head");
    step_name(&shared.outbox.asleep, "asleep");
    step_name(&shared.outbox.pending, "pending");
    step_name(&shared.outbox.chores, "chores");
    step_quiet(&shared.outbox.pending, sizeof(shared.outbox.pending));
}

static void begin_two(void)
{
    begin();
    senders = 2;
}

static void begin_one(void)
{
    begin();
    senders = 1;
}

static void rank_sends(void)
{
    for (int i = 0; i < EACH; i++) {
        struct runtime_message message = {.node = 1,
                                          .kind = (uint32_t)step_self() - 1,
                                          .header = &i,
                                          .header_bytes = sizeof(i)};

        STEP_CHECK(!runtime_send(&message));
    }
}

/* A chore of two pieces. */
static bool piece(struct runtime_chore *c)
{
    STEP_CHECK(c == chore && c->kind == CHORE_NATIVE_NOTE);
    if (++pieces < 2)
        return false;
    step_free(c, sizeof(*c));
    return true;
}

static void begin_chore(void)
{
    begin();
    senders = 1;
    chore = step_alloc(sizeof(*chore));
    chore_handle(CHORE_NATIVE_NOTE, piece);
}

static void rank_begins_chore(void)
{
    chore_begin(chore, CHORE_NATIVE_NOTE);
}

static bool all_sent(void)
{
    if (chore && pieces < 2)
        return false;
    for (int i = 0; i < senders; i++)
        if (sent[i] < EACH)
            return false;
    return true;
}

static void thread_drains(void)
{
    while (!all_sent()) {
        /* So long ago that it sleeps. */
        uint64_t active = idle_noted(), now = runtime_now_us();
        int moved = outbox_drain(transport);

        STEP_CHECK(moved >= 0);
        moved += chores_advance();
        if (!moved)
            idle_pause(now, active, active, false, false, UINT64_MAX);
    }
}

static void end(void)
{
    STEP_CHECK(outbox_empty());
    STEP_CHECK(!shared.outbox.head);
}

/* --- The test ------------------------------------------------------------- */

enum { ONE, TWO, CHORE, SCENARIOS };

static const struct step_scenario scenarios[SCENARIOS] = {
    [ONE] = {.title = "what one rank queues is sent in order, and wakes the "
                      "progress thread",
             .begin = begin_one,
             .thread = {thread_drains, rank_sends},
             .end = end,
             .deviations = 4,
             .seeds = 3000},
    [TWO] = {.title = "so is what two ranks queue",
             .begin = begin_two,
             .thread = {thread_drains, rank_sends, rank_sends},
             .end = end,
             .deviations = 2,
             .seeds = 5000},
    [CHORE] = {.title = "a chore that a rank begins is done, beside messages",
               .begin = begin_chore,
               .thread = {thread_drains, rank_sends, rank_begins_chore},
               .end = end,
               .deviations = 2,
               .seeds = 3000},
};

static const struct step_fault faults[] = {
    {.name = "queue-relaxed",
     .title = "runtime_send() does not release the message",
     .kind = STEP_CAS,
     .at = "head",
     .effect = STEP_RELAX},
    {.name = "queue-exchange",
     .title = "runtime_send() queues over what another rank has queued",
     .kind = STEP_CAS,
     .at = "head",
     .effect = STEP_AS_EXCHANGE,
     .scenarios = 1 << TWO},
    {.name = "take-relaxed",
     .title = "outbox_drain() does not acquire the messages",
     .kind = STEP_EXCHANGE,
     .at = "head",
     .effect = STEP_RELAX},
    {.name = "take-split",
     .title = "outbox_drain() looks before it takes",
     .kind = STEP_EXCHANGE,
     .at = "head",
     .effect = STEP_SPLIT},
    {.name = "asleep-relaxed",
     .title = "the progress thread sleeps before its sign is seen",
     .kind = STEP_STORE,
     .at = "asleep",
     .effect = STEP_RELAX},
    {.name = "asleep-skipped",
     .title = "the progress thread does not say that it sleeps",
     .kind = STEP_STORE,
     .at = "asleep",
     .effect = STEP_SKIP},
    {.name = "head-relaxed",
     .title = "the progress thread looks for messages before its sign is seen",
     .kind = STEP_LOAD,
     .at = "head",
     .effect = STEP_RELAX},
    {.name = "chore-relaxed",
     .title = "chore_begin() does not release the chore",
     .kind = STEP_CAS,
     .at = "chores",
     .effect = STEP_RELAX,
     .scenarios = 1 << CHORE},
    {.name = "chore-taken-relaxed",
     .title = "the progress thread does not acquire a chore",
     .kind = STEP_EXCHANGE,
     .at = "chores",
     .effect = STEP_RELAX,
     .scenarios = 1 << CHORE},
    {.name = "chore-unseen",
     .title = "the progress thread looks for chores before its sign is seen",
     .kind = STEP_LOAD,
     .at = "chores",
     .effect = STEP_RELAX,
     .scenarios = 1 << CHORE},
    {.name = "no-ring",
     .title = "the pipe is not written to",
     .kind = STEP_CALL,
     .effect = STEP_SKIP},
};

int main(int argc, char **argv)
{
    static const struct step_test test = STEP_TEST("outbox");

    return step_main(&test, argc, argv);
}
