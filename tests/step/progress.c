/*
 * progress.c - runtime/messages/progress*.c step by step, with the outbox and
 * wait.c: a node's progress thread, and threads of its leader that help, send,
 * wait for another node, and end.
 *
 * The other node is a transport that has an answer for whoever waits, once
 * somebody polls.  Who uses the transport writes to it, so that two at once are a
 * race; when it is closed its memory is given back.
 */
#include "step.h"

#include <stdatomic.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/chores.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/messages/progress_state.h"
#include "runtime/process.h"
#include "runtime/refused.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "runtime/wait.h"
#include "tests/step/calls.h"
#include "transport/sockets.h"

#define WAITERS 2

/* The progress thread may sleep so long (PROGRESS_SLEEP_US_MAX); but where an
 * answer is waited for and nobody polls, not even PROGRESS_AWAY_NEAR_US. */
#define SLEEP_US  10000
#define WAITED_US 150

struct runtime runtime;
struct boot *runtime_boot;
static _Atomic uint32_t poison;
_Atomic uint32_t *runtime_poisoned = &poison;
static struct runtime_shared shared;

static struct transport *transport;
static int polls, sent; /* by whoever uses it */

static struct waiter waiters[WAITERS];
static _Atomic bool answered[WAITERS], waits[WAITERS];
static _Atomic int ended; /* threads of the program */
static int threads;       /* how many there are */

/* --- The transport -------------------------------------------------------- */

static int transport_fake_poll(struct transport *t)
{
    int moved = 0;

    t->counters.messages_received++;
    polls++;
    for (int i = 0; i < WAITERS; i++)
        if (atomic_load_explicit(&waits[i], memory_order_acquire) &&
            !atomic_load_explicit(&answered[i], memory_order_relaxed)) {
            atomic_store_explicit(&answered[i], true, memory_order_relaxed);
            waiter_wake(&waiters[i], 0);
            moved++;
        }
    return moved;
}

static int transport_fake_send(struct transport *t, int to,
                               const struct transport_message *message)
{
    (void)to;
    (void)message;
    t->counters.messages_sent++;
    sent++;
    return 0;
}

static bool transport_fake_still(const struct transport *t)
{
    return t->counters.messages_sent < UINT64_MAX;
}

static int transport_fake_flush(struct transport *t)
{
    (void)t;
    return 0;
}

static void transport_fake_close(struct transport *t)
{
    step_free(t, sizeof(*t));
}

static const struct transport_ops operations = {.send = transport_fake_send,
                                                .poll = transport_fake_poll,
                                                .flush = transport_fake_flush,
                                                .still = transport_fake_still,
                                                .close = transport_fake_close};

int boot_transport(struct boot *boot, enum transport_data data,
                   const struct transport_events *events, void *user, bool few,
                   struct transport **out)
{
    (void)boot;
    (void)data;
    (void)events;
    (void)user;
    (void)few;
    transport = step_alloc(sizeof(*transport));
    transport->ops = &operations;
    *out = transport;
    return 0;
}

/* --- What the code needs -------------------------------------------------- */

const struct transport_events dispatch_events;

int dispatch_send(struct transport *t, int node,
                  const struct transport_message *message)
{
    return transport_send(t, node, message);
}

int dispatch_answer(struct transport *t, int rank,
                    const struct transport_message *message)
{
    return transport_send(t, rank, message);
}

void dispatch_publish(const struct transport_counters *counters)
{
    (void)counters;
}

bool shutdown_over(void)
{
    return atomic_load(&ended) == threads;
}

int shutdown_advance(struct transport *t)
{
    (void)t;
    return 0;
}

int chores_advance(void)
{
    return 0;
}

int boot_barrier(struct boot *boot, enum boot_scope scope)
{
    (void)boot;
    (void)scope;
    return 0;
}

int boot_min(struct boot *boot, enum boot_scope scope, int64_t *value)
{
    (void)boot;
    (void)scope;
    *value = 0;
    return 0;
}

bool boot_neighbours(const struct boot *boot)
{
    (void)boot;
    return true;
}

const char *boot_failure(void)
{
    return "";
}

int sockets_find_sets(int *sets_out, int sets_max)
{
    (void)sets_out;
    (void)sets_max;
    return 0;
}

int control_alloc(const struct space *space, size_t bytes, void **out)
{
    (void)space;
    *out = step_alloc(bytes);
    return 0;
}

void control_free(const struct space *space, void *ptr)
{
    (void)space;
    step_free(ptr, sizeof(uint64_t));
}

int death_check(uint64_t since_us)
{
    (void)since_us;
    return 0;
}

int death_refused(int err)
{
    return err;
}

void limit_reserve_enter(void)
{
}

void limit_reserve_leave(void)
{
}

const char *drasync_strerror(int err)
{
    (void)err;
    return "";
}

const char *runtime_poison_text(void)
{
    return "";
}

void runtime_poison(const char *format, ...)
{
    step_fail("the job is poisoned: %s", format);
}

int refused_by_system(const char *what, int error)
{
    step_fail("%s (error %d)", what, error);
    return DRASYNC_ELIMIT;
}

void runtime_say(const char *format, ...)
{
    step_fail("the runtime says: %s", format);
}

void runtime_die(const char *format, ...)
{
    step_fail("the job dies: %s", format);
    abort();
}

/* --- The node ------------------------------------------------------------- */

static void begin(int count)
{
    int ends[2];

    runtime.nodes = 2;
    runtime.leader = count > 0;
    runtime.crowded = true;
    runtime.shared = &shared;
    shared.locals = 1;
    threads = count;
    step_pipe2(ends, 0);
    runtime.wake_fd = ends[0];
    step_name(&shared.outbox.remote_waits, "remote_waits");
    step_name(&shared.outbox.pending, "pending");
    step_name(&shared.outbox.asleep, "asleep");
    step_name(&shared.outbox.head, "head");
    for (int i = 0; i < WAITERS; i++)
        step_name(&waiters[i].word, "waiter");
    step_quiet(answered, sizeof(answered));
    step_quiet(waits, sizeof(waits));
    step_name(&progress.bell.rings, "bell");
    STEP_CHECK(!progress_start(NULL));
}

static void begin_one(void)
{
    begin(1);
}

static void begin_two(void)
{
    begin(2);
}

/* One thread less: the last one ends the progress thread. */
static void end_thread(void)
{
    atomic_fetch_add(&ended, 1);
    outbox_wake();
}

/* How long all may sleep: see above. */
static uint64_t idle_us(void)
{
    for (int i = 0; i < WAITERS; i++)
        if (waits[i] && !answered[i])
            return WAITED_US;
    return SLEEP_US;
}

/* --- Waiting for another node --------------------------------------------- */

static void ask(int i)
{
    waiter_reset(&waiters[i]);
    atomic_store_explicit(&waits[i], true, memory_order_release);
}

static void answer(int i)
{
    STEP_CHECK(atomic_load_explicit(&answered[i], memory_order_relaxed));
    atomic_store_explicit(&waits[i], false, memory_order_release);
}

static void thread_waits(void)
{
    int i = step_self() - 1, result = 1;

    ask(i);
    STEP_CHECK(!runtime_wait_remote(&waiters[i], WAIT_FOREVER, &result));
    STEP_CHECK(!result);
    answer(i);
    end_thread();
}

/* On a rank that has its own transport, and no progress thread. */
static void begin_own(void)
{
    begin(0);
    STEP_CHECK(!progress_own_open());
}

static void thread_waits_on_its_own(void)
{
    int i = step_self();

    ask(i);
    STEP_CHECK(!progress_own_wait(&waiters[i]));
    answer(i);
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
    end_thread();
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
    end_thread();
}

static void one_sent(void)
{
    STEP_CHECK(sent == 1);
}

/* --- The end -------------------------------------------------------------- */

static void thread_joins(void)
{
    end_thread();
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
    .begin = (what), .idle_us = idle_us, .tick_us = 1, .yield_us = 500

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
              .seeds = 3000},
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
