#include "runtime/messages/progress.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/chores.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress_idle.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"

/* A message may be late by so much if threads help all the time. */
#define PROGRESS_LATE_US 1000

/* How often it looks for the end of another thread's turn before it sleeps. */
#define PROGRESS_TRIES_MAX 100

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
static _Atomic bool abandoned; /* no thread helps any more */

/* How a thread helps: for a moment, or for as long as something takes. */
enum { HELPED = 1, HELPED_LONG };

/* Held for a turn, or for as long as a thread helps. */
static pthread_mutex_t turns = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool turning; /* by this thread */
static _Thread_local bool helping; /* this thread, likewise */
static bool muted;                 /* idle_mute(); under `turns` */
static _Atomic uint32_t helped;    /* a thread helps */
static uint64_t late_us;           /* since when messages wait; under `turns` */
/* Does somebody of this node wait for what comes from others? */
static bool waited(void)
{
    return atomic_load(&runtime.shared->outbox.remote_waits) > 0 ||
           atomic_load(&runtime.shared->quiesced) == runtime.shared->locals ||
           !transport_idle(transport);
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
                dispatch_send(transport, i, &message);
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
    steps += chores_advance();
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

/* Keep away for as long as a thread helps. */
static void keep_away(void)
{
    uint32_t how;

    while ((how = atomic_load(&helped))) {
        idle_set(runtime_now_us(), how == HELPED_LONG);
        /* The timer is set for the one who helps now, not for one before. */
        if (atomic_load(&helped) == how)
            idle_away();
    }
}

/*
 * Take the turns, when no other thread helps.  Who has them may be sending what
 * it will then help with, and would have to wake us if we slept on the mutex.
 */
static void take_turns(void)
{
    keep_away();
    for (int i = 0; pthread_mutex_trylock(&turns); i++) {
        if (i == PROGRESS_TRIES_MAX) {
            pthread_mutex_lock(&turns);
            break;
        }
        sched_yield();
        keep_away();
    }
    turning = true;
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
    idle_note(now);
    while (!over) {
        take_turns();
        int moved = turn(true);
        now = runtime_now_us();
        if (moved)
            idle_note(now);
        if (now - looked > PROGRESS_LOOK_US) {
            death_check(now);
            looked = now;
        }
        if (atomic_load_explicit(runtime_poisoned, memory_order_relaxed))
            poisoned(now);
        over = may_end(now, &left);
        uint64_t active = idle_noted();
        bool idle = !moved && !over, by = idle && waited();
        bool moves = idle && !transport_still(transport);
        give_turns();
        if (idle)
            idle_pause(now, active, by, moves);
    }
    dispatch_publish(&transport->counters);
    if (shutdown_over()) {
        atomic_store(&runtime.shared->stopped, 1);
        doorbell_ring(&runtime.shared->stop_doorbell);
    }
    return NULL;
}

/*
 * Take the turns if they are free and there is a transport.  `running` counts
 * only with them: progress_join() clears it, then takes them once, and closes
 * the transport after that.  The look before spares others the mutex.
 */
static bool try_turns(void)
{
    if (!atomic_load(&running) || pthread_mutex_trylock(&turns))
        return false;
    if (!atomic_load(&running)) {
        pthread_mutex_unlock(&turns);
        return false;
    }
    return true;
}

bool progress_send(const struct runtime_message *m, int *err_out)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    bool mine = turning;
    const struct transport_message message = {
        .kind = m->kind,
        .header = m->header,
        .header_bytes = m->header_bytes,
        .pieces = m->pieces,
        .pieces_count = m->pieces_count,
        .context = m->context,
        .late = m->lazy || (m->late && (mine || atomic_load(&box->asleep) !=
                                                    OUTBOX_SLEEPS)),
    };

    if (mine ? !atomic_load(&running) : !try_turns())
        return false;
    /* What is queued goes first. */
    bool can = !atomic_load(&box->head);
    if (can) {
        uint64_t now = runtime_now_us();
        if (!transport->late)
            late_us = now;
        *err_out = dispatch_send(transport, m->node, &message);
        dispatch_publish(&transport->counters);
        idle_note(now);
    }
    /* What the network keeps must be pushed, and an answer may come, unseen.
     * What is late too; but who helps has set the timer. */
    bool wake = can && atomic_load(&box->asleep) == OUTBOX_SLEEPS &&
                (m->lazy || (!mine && (message.late || !progress_on_sockets() ||
                                       !transport_still(transport))));
    if (!mine)
        pthread_mutex_unlock(&turns);
    if (wake)
        outbox_wake();
    return can;
}

int progress_answer(int rank, const struct transport_message *message)
{
    return dispatch_answer(transport, rank, message);
}

/* May a thread help on? */
static bool helpful(void)
{
    return !atomic_load(runtime_poisoned) && !atomic_load(&abandoned);
}

/* Be the one who helps.  False: there is another one, or nothing to help. */
static bool help_begin(void)
{
    uint32_t nobody = 0;

    /* How the other one helps must stay: help_end() goes by it. */
    if (!atomic_load(&running) || turning ||
        !atomic_compare_exchange_strong(&helped, &nobody, HELPED))
        return false;
    pthread_mutex_lock(&turns);
    if (!atomic_load(&running)) {
        atomic_store(&helped, 0);
        pthread_mutex_unlock(&turns);
        return false;
    }
    turning = true;
    helping = true;
    muted = idle_mute();
    limit_reserve_enter();
    return true;
}

/*
 * @own: how many of those that wait for other nodes are this thread.  Who
 * begins to wait, or queues a message, says so first, then looks whether
 * somebody helps; so here it is the other way round, and one of the two sees
 * the other.
 */
static void help_end(uint64_t active, uint32_t own, bool more)
{
    struct runtime_outbox *box = &runtime.shared->outbox;

    limit_reserve_leave();
    idle_note(active);
    if (muted)
        idle_unmute();
    helping = false;
    more |= atomic_exchange(&helped, 0) == HELPED_LONG;
    more |= atomic_load(&box->remote_waits) > own ||
            atomic_load(&box->pending) > 0 || !transport_still(transport);
    if (more)
        idle_end(); /* with the turns, so the timer is there */
    give_turns();
}

void progress_help(const struct waiter *w, uint64_t deadline_us)
{
    uint64_t now = runtime_now_us(), active = now;
    bool wanted = false;

    if (!help_begin())
        return;
    while (!waiter_done(w) && !wanted && now < deadline_us &&
           now - active < IDLE_POLL_WAITED_US && helpful()) {
        idle_push(now, false);
        int moved = turn(transport->late && now - late_us > PROGRESS_LATE_US);
        now = runtime_now_us();
        if (moved)
            active = now;
        else if (!waiter_done(w))
            wanted = idle_yield(now);
    }
    help_end(active, 1, !waiter_done(w));
}

bool progress_help_until(bool (*over)(void *arg), void *arg)
{
    uint64_t now = runtime_now_us(), active = now, looked = now;
    bool done = false;

    if (!help_begin())
        return false;
    while (!(done = over(arg)) && helpful()) {
        idle_push(now, atomic_load(&helped) == HELPED_LONG);
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
        if (now - active > IDLE_POLL_WAITED_US)
            atomic_store(&helped, HELPED_LONG);
        sched_yield();
    }
    help_end(active, 0, !done);
    return done;
}

void progress_glance(void)
{
    if (turning || !try_turns())
        return;
    turning = true;
    if (turn(false))
        idle_note(runtime_now_us());
    give_turns();
}

/* Collective over the leaders. */
static int listen_to_sockets(struct boot *boot)
{
    int err = boot_barrier(boot, BOOT_LEADERS); /* connects each of them */
    int64_t all;

    if (!boot_neighbours(boot))
        idle_listen();
    all = progress_on_sockets();
    if (!err)
        err = boot_min(boot, BOOT_LEADERS, &all);
    atomic_store(&runtime.shared->on_sockets, all == 1);
    return err;
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
                             &dispatch_events, NULL, false, &transport);
    int met = listen_to_sockets(boot);
    if (!err)
        err = met;
    if (!err)
        err = idle_open();
    if (err) {
        transport_close(transport);
        transport = NULL;
        return err;
    }
    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    err = pthread_create(&thread, NULL, progress_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err) {
        idle_close();
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
    /* Who has the turns gives them back, and nobody else takes them. */
    pthread_mutex_lock(&turns);
    pthread_mutex_unlock(&turns);
    pthread_join(thread, NULL);
    transport_close(transport);
    transport = NULL;
    idle_close();
}

void progress_abandon(void)
{
    if (!running)
        return;
    atomic_store(&abandoned, true);
    running = false;
    /* A thread may leave from within a turn: in a handler, or for a signal. */
    if (helping)
        help_end(runtime_now_us(), 0, true);
    else if (turning)
        give_turns();
    outbox_wake();
    pthread_join(thread, NULL);
}

void progress_undo(void)
{
    if (!running)
        return;
    progress_abandon();
    transport_close(transport);
    transport = NULL;
    idle_close();
}
