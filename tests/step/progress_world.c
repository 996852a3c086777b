/* progress_world.c - see progress_world.h. */
#include "progress_world.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "runtime/messages/dispatch.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress.h"
#include "runtime/messages/progress_state.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "tests/step/calls.h"
#include "transport/transport.h"

/* The progress thread may sleep so long (PROGRESS_SLEEP_US_MAX); but where an
 * answer is waited for and nobody polls, not even PROGRESS_AWAY_NEAR_US. */
#define SLEEP_US  10000
#define WAITED_US 150

struct runtime runtime;
struct boot *runtime_boot;
static _Atomic uint32_t poison;
_Atomic uint32_t *runtime_poisoned = &poison;
static struct runtime_shared shared;

struct waiter world_waiters[WORLD_WAITERS];
static _Atomic bool answered[WORLD_WAITERS], waits[WORLD_WAITERS];
int world_sent;
static int polls;         /* by whoever uses the transport */
static _Atomic int ended; /* threads of the program */
static int threads;       /* how many there are */

/* --- The transport -------------------------------------------------------- */

static int transport_fake_poll(struct transport *t)
{
    int moved = 0;

    t->counters.messages_received++;
    polls++;
    for (int i = 0; i < WORLD_WAITERS; i++)
        if (atomic_load_explicit(&waits[i], memory_order_acquire) &&
            !atomic_load_explicit(&answered[i], memory_order_relaxed)) {
            atomic_store_explicit(&answered[i], true, memory_order_relaxed);
            waiter_wake(&world_waiters[i], 0);
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
    world_sent++;
    return 0;
}

static bool transport_fake_still(const struct transport *t)
{
    return t->counters.messages_sent < UINT64_MAX;
}

static int transport_fake_flush(struct transport *t, bool all)
{
    (void)t;
    (void)all;
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
    *out = step_alloc(sizeof(**out));
    (*out)->ops = &operations;
    return 0;
}

/* --- The end -------------------------------------------------------------- */

bool shutdown_over(void)
{
    return atomic_load(&ended) == threads;
}

void runtime_die(const char *format, ...)
{
    step_fail("the job dies: %s", format);
    abort();
}

void world_thread_ends(void)
{
    atomic_fetch_add(&ended, 1);
    outbox_wake();
}

/* --- The node ------------------------------------------------------------- */

void world_begin(int count)
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
    for (int i = 0; i < WORLD_WAITERS; i++)
        step_name(&world_waiters[i].word, "waiter");
    step_quiet(answered, sizeof(answered));
    step_quiet(waits, sizeof(waits));
    step_name(&progress.bell.rings, "bell");
    STEP_CHECK(!progress_start(NULL));
}

uint64_t world_idle_us(void)
{
    for (int i = 0; i < WORLD_WAITERS; i++)
        if (waits[i] && !answered[i])
            return WAITED_US;
    return SLEEP_US;
}

void world_ask(int i)
{
    waiter_reset(&world_waiters[i]);
    atomic_store_explicit(&waits[i], true, memory_order_release);
}

void world_answered(int i)
{
    STEP_CHECK(atomic_load_explicit(&answered[i], memory_order_relaxed));
    atomic_store_explicit(&waits[i], false, memory_order_release);
}
