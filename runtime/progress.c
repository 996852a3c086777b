#include "runtime/progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/dispatch.h"
#include "runtime/outbox.h"
#include "runtime/runtime.h"
#include "runtime/shared.h"

/* After traffic the thread polls for this long, longer while somebody here
 * waits for another node; then it sleeps, from the shorter to the longer time.
 */
#define PROGRESS_POLL_US        100
#define PROGRESS_POLL_WAITED_US 2000
#define PROGRESS_SLEEP_US_MIN   50
#define PROGRESS_SLEEP_US_MAX   1000
#define PROGRESS_SLEEP_GROWS_US 5000

/* How often it looks whether ranks of this host live. */
#define PROGRESS_LOOK_US 500000

/* How long a poisoned job may take to end by itself. */
#define PROGRESS_POISONED_US 5000000

/* How long a process that exits without MPI_Finalize serves on. */
#define PROGRESS_ABANDON_US 1000000

static struct transport *transport;
static uint64_t poison_told_us; /* 0: the other nodes do not know */
static pthread_t thread;
static bool running;
static _Atomic bool abandoned;
static _Thread_local bool here;

bool progress_here(void)
{
    return here;
}

static void sleep_us(uint64_t us)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    atomic_store(&box->asleep, 1);
    if (!atomic_load(&box->head))
        wait_futex(&box->asleep, 1, runtime_now_us() + us);
    atomic_store(&box->asleep, 0);
}

/* Nothing moved, for @idle_us by now. */
static void relax(uint64_t idle_us)
{
    bool waited = atomic_load(&runtime.shared->outbox.remote_waits) > 0;
    uint64_t poll_us = waited ? PROGRESS_POLL_WAITED_US : PROGRESS_POLL_US;

    if (runtime.options.progress == RUNTIME_PROGRESS_SPIN ||
        idle_us < poll_us) {
        sched_yield();
    } else if (waited || idle_us < PROGRESS_SLEEP_GROWS_US) {
        sleep_us(PROGRESS_SLEEP_US_MIN);
    } else {
        uint64_t us =
            PROGRESS_SLEEP_US_MIN * (idle_us / PROGRESS_SLEEP_GROWS_US);
        sleep_us(us < PROGRESS_SLEEP_US_MAX ? us : PROGRESS_SLEEP_US_MAX);
    }
}

static void publish_counters(void)
{
    struct runtime_shared *shared = runtime.shared;
    const struct transport_counters *c = &transport->counters;

    atomic_store_explicit(&shared->messages_sent, c->messages_sent,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->messages_received, c->messages_received,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->bytes_sent, c->bytes_sent,
                          memory_order_relaxed);
    atomic_store_explicit(&shared->bytes_received, c->bytes_received,
                          memory_order_relaxed);
}

/* Tell the other nodes, once; end the job if it does not end by itself.  This
 * also ends ranks that wait inside MPI for the one that died. */
static void poisoned(uint64_t now)
{
    if (atomic_load(&runtime.shared->poison_state) == 1)
        return;
    if (!poison_told_us) {
        const char *text = runtime_poison_text();
        struct transport_message message = {.kind = RUNTIME_KIND_POISON,
                                            .header = text,
                                            .header_bytes = strlen(text)};
        poison_told_us = now;
        for (int i = 0; i < runtime.nodes; i++) {
            if (i != runtime.node)
                transport_send(transport, i, &message);
        }
    } else if (now - poison_told_us > PROGRESS_POISONED_US) {
        runtime_die("the job does not end by itself after: %s",
                    runtime_poison_text());
    }
}

/* One turn; how many things moved. */
static int turn(void)
{
    int queued = outbox_drain(transport);
    int moved = queued < 0 ? queued : transport_poll(transport);
    int steps = moved < 0 ? moved : shutdown_advance(transport);

    if (steps < 0 && !atomic_load(runtime_poisoned))
        runtime_poison("the network between nodes failed: %s",
                       drasync_strerror(steps));
    return steps < 0 ? 0 : queued + moved + steps;
}

static bool may_end(uint64_t now, uint64_t *abandoned_us)
{
    if (shutdown_over() && outbox_empty() && transport_idle(transport))
        return true;
    if (!atomic_load(&abandoned) ||
        (atomic_load(runtime_poisoned) && !poison_told_us))
        return false;
    if (!*abandoned_us)
        *abandoned_us = now;
    return (outbox_empty() && transport_idle(transport)) ||
           now - *abandoned_us > PROGRESS_ABANDON_US;
}

static void *progress_main(void *unused)
{
    uint64_t now = runtime_now_us(), active = now, looked = now, left = 0;

    (void)unused;
    here = true;
    limit_reserve_enter();
    prctl(PR_SET_NAME, "drasync");
    prctl(PR_SET_TIMERSLACK, 1000UL);
    while (!may_end(now, &left)) {
        int moved = turn();
        now = runtime_now_us();
        if (moved) {
            active = now;
            publish_counters();
        }
        if (now - looked > PROGRESS_LOOK_US) {
            death_check(now);
            looked = now;
        }
        if (atomic_load_explicit(runtime_poisoned, memory_order_relaxed))
            poisoned(now);
        if (!moved)
            relax(now - active);
    }
    publish_counters();
    if (shutdown_over()) {
        atomic_store(&runtime.shared->stopped, 1);
        doorbell_ring(&runtime.shared->stop_doorbell);
    }
    return NULL;
}

int progress_start(struct boot *boot)
{
    sigset_t all, before;

    if (runtime.nodes == 1 || !runtime.leader)
        return 0;
    int err = boot_transport(boot,
                             runtime.options.wire == RUNTIME_WIRE_PAGED
                                 ? TRANSPORT_PAGED
                                 : TRANSPORT_BULK,
                             &dispatch_events, NULL, &transport);
    if (err)
        return err;
    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    err = pthread_create(&thread, NULL, progress_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err) {
        transport_close(transport);
        transport = NULL;
        runtime_say("cannot start: no progress thread: %s", strerror(err));
        return DRASYNC_ENOMEM;
    }
    running = true;
    return 0;
}

void progress_join(void)
{
    if (!running)
        return;
    if (atomic_load(runtime_poisoned))
        atomic_store(&abandoned, true);
    pthread_join(thread, NULL);
    running = false;
    transport_close(transport);
    transport = NULL;
}

void progress_abandon(void)
{
    if (!running)
        return;
    atomic_store(&abandoned, true);
    outbox_wake();
    pthread_join(thread, NULL);
    running = false;
}
