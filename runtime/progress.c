#include "runtime/progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/dispatch.h"
#include "runtime/outbox.h"
#include "runtime/runtime.h"
#include "runtime/shared.h"
#include "transport/sockets.h"

/* After traffic the thread polls for this long, longer while somebody here
 * waits for another node, or data is on its way; then it sleeps, for a part of
 * the time since. */
#define PROGRESS_POLL_US         500
#define PROGRESS_POLL_WAITED_US  2000
#define PROGRESS_SLEEP_PART      16
#define PROGRESS_SLEEP_US_MIN    50
#define PROGRESS_SLEEP_US_WAITED 1000
#define PROGRESS_SLEEP_US_MAX    10000

/* After progress_serve() it sleeps for no longer than this where sockets do not
 * wake it, and this long is what they bring taken for one-sided operations: so
 * long after the last of them, and after the last such call. */
#define PROGRESS_SERVE_SLEEP_US 50
#define PROGRESS_SERVE_US       10000
#define PROGRESS_SERVE_US_MAX   1000000

/* A yield that takes this long means that the core is wanted by others.  That
 * is believed for a while, and longer each time it proves true again: a thread
 * that computes is asked seldom, one that spun at a barrier is soon forgotten.
 */
#define PROGRESS_YIELD_US_MAX  300
#define PROGRESS_WANTED_US_MIN 1000
#define PROGRESS_WANTED_US_MAX 100000

/* While another thread helps: it looks whether that has ended.  Each time may
 * cost the helper, on the same core, some 10 us, in a virtual machine 40. */
#define PROGRESS_AWAY_US      500
#define PROGRESS_AWAY_LONG_US 100000 /* that one says when it ends */

/* A message may be late by so much if threads help all the time. */
#define PROGRESS_LATE_US 1000

/* How often it looks whether ranks of this host live. */
#define PROGRESS_LOOK_US 500000

/* How long a poisoned job may take to end by itself. */
#define PROGRESS_POISONED_US 5000000

/* How long a process that exits without MPI_Finalize serves on. */
#define PROGRESS_ABANDON_US 1000000

static struct transport *transport;
static uint64_t poison_told_us; /* 0: the other nodes do not know */
static pthread_t thread;
static _Atomic bool running;
static _Atomic bool abandoned;

/* How a thread helps: for a moment, or for as long as something takes. */
enum { HELPED = 1, HELPED_LONG };

/* Held for a turn, or for as long as a thread helps. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool turning; /* by this thread */
static _Atomic uint32_t helped;    /* futex: a thread helps */
static _Atomic uint64_t active_us; /* when something last moved */
static _Atomic uint64_t told_us;   /* progress_serve() was called, or 0; */
static _Atomic uint64_t serve_us;  /* and until then it matters */
static uint64_t late_us;           /* since when messages wait; under `turns` */
static int watch[OUTBOX_WATCH_MAX], watches; /* readable: something may come */

static void note_active(uint64_t now)
{
    atomic_store(&active_us, now);
}

/*
 * For @us, unless something happens that the caller of @since_us does not know,
 * or comes from another node.  Much that comes is the program's own: where it
 * wakes us in vain, we do not listen for a while, and longer each time.
 */
static void sleep_us(uint64_t us, uint64_t since_us)
{
    static uint64_t vain_since_us, deaf_us;
    static bool vain;
    struct runtime_outbox *box = &runtime.shared->outbox;
    uint32_t how = us > PROGRESS_SLEEP_US_MIN ? OUTBOX_SLEEPS : OUTBOX_NAPS;
    int listen = watches;

    if (vain_since_us != since_us)
        deaf_us = 0;
    else if (vain) {
        deaf_us = deaf_us ? 2 * deaf_us : PROGRESS_SLEEP_US_MIN;
        if (deaf_us > us)
            deaf_us = us;
        us = deaf_us;
        listen = 0;
    }
    vain = false;
    atomic_store(&box->asleep, how);
    if (!atomic_load(&box->head) && atomic_load(&active_us) == since_us)
        vain = outbox_sleep(us, watch, listen);
    else
        atomic_store(&box->asleep, OUTBOX_AWAKE);
    vain_since_us = since_us;
}

void progress_serve(void)
{
    uint64_t now = runtime_now_us();

    atomic_store(&told_us, now);
    atomic_store(&serve_us, now + PROGRESS_SERVE_US);
}

/*
 * The same while MPI has one-sided operations to do, which nobody tells us of:
 * we only see that something woke us, and that is never in vain.
 */
static void sleep_serving(uint64_t since_us)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    uint64_t us = watches ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SERVE_SLEEP_US;
    uint64_t now;

    atomic_store(&box->asleep, watches ? OUTBOX_SLEEPS : OUTBOX_NAPS);
    if (atomic_load(&box->head) || atomic_load(&active_us) != since_us) {
        atomic_store(&box->asleep, OUTBOX_AWAKE);
    } else if (outbox_sleep(us, watch, watches)) {
        now = runtime_now_us();
        note_active(now);
        if (now - atomic_load(&told_us) < PROGRESS_SERVE_US_MAX)
            atomic_store(&serve_us, now + PROGRESS_SERVE_US);
    }
}

/* Let others have the core.  Did they want it? */
static bool yield(uint64_t now)
{
    sched_yield();
    return runtime_now_us() - now > PROGRESS_YIELD_US_MAX;
}

/* Does somebody of this node wait for what comes from others? */
static bool waited(void)
{
    return atomic_load(&runtime.shared->outbox.remote_waits) > 0 ||
           atomic_load(&runtime.shared->quiesced) == runtime.shared->locals ||
           !transport_idle(transport);
}

/* Nothing moved since @active, and now it is @now; @by: somebody waits. */
static void relax(uint64_t now, uint64_t active, bool by)
{
    static uint64_t wanted_us = PROGRESS_WANTED_US_MIN, wanted_until_us;
    uint64_t idle_us = now - active, us = idle_us / PROGRESS_SLEEP_PART;

    if (runtime.options.progress == RUNTIME_PROGRESS_SPIN) {
        sched_yield();
        return;
    }
    if (idle_us < (by ? PROGRESS_POLL_WAITED_US : PROGRESS_POLL_US) &&
        now >= wanted_until_us) {
        if (!yield(now)) {
            wanted_us = PROGRESS_WANTED_US_MIN;
            return;
        }
        wanted_until_us = runtime_now_us() + wanted_us;
        if (wanted_us < PROGRESS_WANTED_US_MAX)
            wanted_us *= 2;
        return;
    }
    if (now < atomic_load(&serve_us)) {
        sleep_serving(active);
        return;
    }
    if (us < PROGRESS_SLEEP_US_MIN)
        us = PROGRESS_SLEEP_US_MIN;
    else if (us > (by ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SLEEP_US_MAX))
        us = by ? PROGRESS_SLEEP_US_WAITED : PROGRESS_SLEEP_US_MAX;
    sleep_us(us, active);
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

/* One turn; how many things moved.  @flush: what is late goes too. */
static int turn(bool flush)
{
    int queued = outbox_drain(transport);
    int moved = queued < 0 ? queued : transport_poll(transport);
    if (flush && moved >= 0) {
        int late = transport_flush(transport);
        moved = late < 0 ? late : moved + late;
    }
    int steps = moved < 0 ? moved : shutdown_advance(transport);

    if (steps < 0 && !atomic_load(runtime_poisoned))
        runtime_poison("the network between nodes failed: %s",
                       drasync_strerror(steps));
    steps = steps < 0 ? 0 : queued + moved + steps;
    if (steps)
        dispatch_publish(&transport->counters);
    return steps;
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

/* Take the turns, or nap while another thread helps, and not take them. */
static bool take_turns(void)
{
    uint32_t how = atomic_load(&helped);

    if (!how) {
        pthread_mutex_lock(&turns);
        turning = true;
        return true;
    }
    wait_futex(&helped, how,
               runtime_now_us() + (how == HELPED_LONG ? PROGRESS_AWAY_LONG_US
                                                      : PROGRESS_AWAY_US));
    return false;
}

static void give_turns(void)
{
    turning = false;
    pthread_mutex_unlock(&turns);
}

static void *progress_main(void *unused)
{
    uint64_t now = runtime_now_us(), looked = now, left = 0;
    bool over = false;

    (void)unused;
    limit_reserve_enter();
    prctl(PR_SET_NAME, "drasync");
    prctl(PR_SET_TIMERSLACK, 1000UL);
    progress_short_slice();
    note_active(now);
    while (!over) {
        if (!take_turns())
            continue;
        int moved = turn(true);
        now = runtime_now_us();
        if (moved)
            note_active(now);
        if (now - looked > PROGRESS_LOOK_US) {
            death_check(now);
            looked = now;
        }
        if (atomic_load_explicit(runtime_poisoned, memory_order_relaxed))
            poisoned(now);
        over = may_end(now, &left);
        uint64_t active = atomic_load(&active_us);
        bool idle = !moved && !over, by = idle && waited();
        give_turns();
        if (idle)
            relax(now, active, by);
    }
    dispatch_publish(&transport->counters);
    if (shutdown_over()) {
        atomic_store(&runtime.shared->stopped, 1);
        doorbell_ring(&runtime.shared->stop_doorbell);
    }
    return NULL;
}

bool progress_send(const struct runtime_message *m, int *err_out)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    const struct transport_message message = {
        .kind = m->kind,
        .header = m->header,
        .header_bytes = m->header_bytes,
        .pieces = m->pieces,
        .pieces_count = m->pieces_count,
        .context = m->context,
        .late =
            m->lazy || (m->late && atomic_load(&box->asleep) != OUTBOX_SLEEPS),
    };
    bool mine = turning;

    if (!atomic_load(&running) || (!mine && pthread_mutex_trylock(&turns)))
        return false;
    /* What is queued goes first. */
    bool can = !atomic_load(&box->head);
    if (can) {
        uint64_t now = runtime_now_us();
        if (!transport->late)
            late_us = now;
        *err_out = transport_send(transport, m->node, &message);
        if (!*err_out)
            dispatch_count_sent(m->kind);
        dispatch_publish(&transport->counters);
        note_active(now);
    }
    /* What is late, or the network keeps, must be pushed; and an answer may
     * come, unseen. */
    bool wake =
        can && atomic_load(&box->asleep) == OUTBOX_SLEEPS &&
        (message.late || (!mine && (!watches || !transport_still(transport))));
    if (!mine)
        pthread_mutex_unlock(&turns);
    if (wake)
        outbox_wake();
    return can;
}

/* Be the one who helps.  False: there is another one, or nothing to help. */
static bool help_begin(void)
{
    if (!atomic_load(&running) || turning || atomic_exchange(&helped, HELPED))
        return false;
    pthread_mutex_lock(&turns);
    turning = true;
    limit_reserve_enter();
    return true;
}

static void help_end(uint64_t active, bool more)
{
    limit_reserve_leave();
    note_active(active);
    more |= !transport_still(transport) ||
            atomic_load(&runtime.shared->outbox.pending) > 0;
    more |= atomic_exchange(&helped, 0) == HELPED_LONG;
    give_turns();
    if (more)
        wait_futex_wake(&helped, 1);
}

void progress_help(const struct waiter *w, uint64_t deadline_us)
{
    uint64_t now = runtime_now_us(), active = now;
    bool wanted = false;

    if (!help_begin())
        return;
    while (!waiter_done(w) && !wanted && now < deadline_us &&
           now - active < PROGRESS_POLL_WAITED_US &&
           !atomic_load(runtime_poisoned)) {
        int moved = turn(transport->late && now - late_us > PROGRESS_LATE_US);
        now = runtime_now_us();
        if (moved)
            active = now;
        else if (!waiter_done(w))
            wanted = yield(now);
    }
    help_end(active, !waiter_done(w) ||
                         atomic_load(&runtime.shared->outbox.remote_waits) > 1);
}

bool progress_help_until(bool (*over)(void *arg), void *arg)
{
    uint64_t now = runtime_now_us(), active = now, looked = now;
    bool done = false;

    if (!help_begin())
        return false;
    while (!(done = over(arg)) && !atomic_load(runtime_poisoned)) {
        int moved = turn(transport->late && now - late_us > PROGRESS_LATE_US);
        now = runtime_now_us();
        if (now - looked > PROGRESS_LOOK_US) {
            death_check(now);
            looked = now;
        }
        if (moved) {
            active = now;
            continue;
        }
        if (now - active > PROGRESS_POLL_WAITED_US)
            atomic_store(&helped, HELPED_LONG);
        sched_yield();
    }
    help_end(active, !done);
    return done;
}

void progress_glance(void)
{
    if (!atomic_load(&running) || turning || pthread_mutex_trylock(&turns))
        return;
    turning = true;
    if (turn(false))
        note_active(runtime_now_us());
    give_turns();
}

bool progress_on_sockets(void)
{
    return watches > 0;
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
    if (!boot_neighbours(boot))
        watches = sockets_find_sets(watch, OUTBOX_WATCH_MAX);
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
    running = false;
    /* Who sends has sent. */
    pthread_mutex_lock(&turns);
    pthread_mutex_unlock(&turns);
    pthread_join(thread, NULL);
    transport_close(transport);
    transport = NULL;
    watches = 0;
}

void progress_abandon(void)
{
    if (!running)
        return;
    atomic_store(&abandoned, true);
    running = false;
    if (turning)
        give_turns();
    outbox_wake();
    pthread_join(thread, NULL);
}
