/* The engine that sends and polls for this process: see progress.h. */
#include "runtime/messages/progress.h"

#include <assert.h>
#include <sched.h>

#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/chores.h"
#include "runtime/messages/dispatch.h"
#include "runtime/messages/messages.h"
#include "runtime/messages/outbox.h"
#include "runtime/messages/progress_idle.h"
#include "runtime/messages/progress_state.h"
#include "runtime/messages/progress_turns.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/shared.h"
#include "transport/boot.h"

/* A message may be late by so much if threads help all the time. */
#define PROGRESS_LATE_US 1000

/* So many messages with data that have left may wait for the next poll. */
#define SENT_MAX 8

/* runtime_look(): a poll costs about a tenth of this. */
#define LOOK_AGAIN_US 10

/* How long a thread sleeps between two looks at its rank's own engine. */
#define OWN_SLICE_US 1000

struct progress progress;
static bool (*each_turn)(void);

/* The node's, which has a thread. */
static bool is_nodes(void)
{
    return turns_opened() && progress.thread;
}

int progress_transport(struct boot *boot, bool few)
{
    return boot_transport(boot,
                          runtime.options.wire == RUNTIME_WIRE_PAGED
                              ? TRANSPORT_PAGED
                              : TRANSPORT_BULK,
                          &dispatch_events, NULL, few, &progress.transport);
}

uint64_t progress_late_us(void)
{
    return progress.transport->late ? progress.late_us + PROGRESS_LATE_US
                                    : UINT64_MAX;
}

/* Relaxed: hints that the job ends, looked at again in the next turn. */
bool progress_late_due(uint64_t now)
{
    return progress.transport->late &&
           (now - progress.late_us >= PROGRESS_LATE_US ||
            atomic_load_explicit(&runtime.shared->quiesced,
                                 memory_order_relaxed) ||
            atomic_load_explicit(runtime_poisoned, memory_order_relaxed) ||
            atomic_load_explicit(&progress.abandoned, memory_order_relaxed));
}

/* Does a thread of this node wait for another node?  Relaxed: a hint.  A thread
 * that begins to wait counts itself first, and then takes turns or wakes the
 * progress thread: help() of outbox.c. */
static bool awaited(void)
{
    return progress.transport->soon &&
           atomic_load_explicit(&runtime.shared->outbox.remote_waits,
                                memory_order_relaxed) > 0;
}

int progress_turn(bool flush)
{
    struct transport *transport = progress.transport;
    int queued = progress.thread ? outbox_drain(transport) : 0, steps = 0;
    int moved = queued < 0 ? queued : transport_poll(transport);

    if (moved >= 0 && (flush || awaited())) {
        int late = flush ? transport_flush(transport)
                         : transport_flush_soon(transport);
        moved = late < 0 ? late : moved + late;
    }
    if (moved < 0)
        steps = moved;
    else if (progress.thread)
        steps = shutdown_advance(transport);
    if (steps < 0 && !atomic_load(runtime_poisoned))
        runtime_poison("the network between nodes failed: %s",
                       boot_failure() ? boot_failure()
                                      : drasync_strerror(steps));
    steps = steps < 0 ? 0 : queued + moved + steps;
    if (progress.thread)
        steps += chores_advance();
    if (progress.thread && each_turn)
        progress.again = each_turn();
    if (steps && progress.thread)
        dispatch_publish();
    else if (steps)
        doorbell_ring(&progress.bell);
    return steps;
}

void progress_glance(void)
{
    if (turns_mine() || !turns_try())
        return;
    if (progress_turn(progress_late_due(runtime_now_us())) && progress.thread)
        idle_note(runtime_now_us());
    /* The thread, which may sleep for long, sends what a handler left to wait. */
    if (progress.thread && progress.transport->soon)
        idle_soon(runtime_now_us());
    turns_give();
}

void runtime_glance(void)
{
    if (is_nodes())
        progress_glance();
}

void runtime_look(uint64_t now)
{
    /* Thread-local storage is scarce, and a look too few in an hour no harm. */
    static _Thread_local uint32_t looked_us;

    if (!is_nodes() || (uint32_t)now - looked_us < LOOK_AGAIN_US)
        return;
    looked_us = (uint32_t)now;
    progress_glance();
}

void runtime_each_turn(bool (*fn)(void))
{
    assert(!each_turn || each_turn == fn);
    each_turn = fn;
}

void progress_inside(bool inside)
{
    if (is_nodes())
        idle_inside(inside);
}

/* --- Sending -------------------------------------------------------------- */

/* With the turns. */
static int send_now(const struct runtime_message *m, bool late, uint64_t now)
{
    const struct transport_message message = {
        .kind = m->kind,
        .header = m->header,
        .header_bytes = m->header_bytes,
        .pieces = m->pieces,
        .pieces_count = m->pieces_count,
        .context = m->context,
        .late = late,
        .soon = m->soon,
    };

    if (!progress.transport->late)
        progress.late_us = now;
    return dispatch_send(progress.transport, m->node, &message);
}

/* With the turns: can the messages that were sent do without a poll for a
 * while?  Their buffers are kept until the next poll, so there may not be
 * many. */
static bool pushed(void)
{
    return progress.transport->sent <= SENT_MAX &&
           transport_pushed(progress.transport);
}

/*
 * Dekker's pair with sleep_for() of progress_idle.c, all four sequentially
 * consistent: this thread stores `active_us` (idle_note()), then reads
 * `asleep`; the progress thread stores `asleep`, then reads `active_us`.  So
 * this one wakes it, or it does not sleep.  The first look at `asleep` is a
 * guess; if it proves wrong the second one wakes the thread for what is late.
 *
 * `head` needs no order: it is emptied with the turns (outbox_drain()), which
 * this thread has when it reads it.
 */
bool progress_send(const struct runtime_message *m, int *err_out)
{
    struct runtime_outbox *box = &runtime.shared->outbox;
    bool mine = turns_mine();
    bool late =
        m->lazy ||
        (m->late && (mine || atomic_load(&box->asleep) != OUTBOX_SLEEPS));

    if (!is_nodes() || (!mine && !turns_try()))
        return false;
    /* What is queued goes first. */
    bool can = !atomic_load(&box->head);
    if (can) {
        uint64_t now = runtime_now_us();

        *err_out = send_now(m, late, now);
        dispatch_publish();
        idle_note(now);
    }
    /* While the thread sleeps nobody pushes what the network keeps, sends what
     * is late, or sees an answer.  (A helper has set the timer.) */
    bool wake = can && atomic_load(&box->asleep) == OUTBOX_SLEEPS && !m->lazy &&
                !mine && (late || !progress_on_sockets() || !pushed());
    bool more = can && !wake && !mine &&
                (progress.transport->sent || progress.transport->soon);
    if (!mine)
        turns_give();
    if (wake)
        outbox_wake();
    else if (more)
        idle_soon(runtime_now_us());
    return can;
}

int progress_answer(int rank, const struct transport_message *message)
{
    return dispatch_answer(progress.transport, rank, message);
}

/* --- Helping -------------------------------------------------------------- */

/* May a thread help on?  Hints, read again each turn: relaxed would do.  Once all
 * messages are over, the progress thread is to say so, for which it needs the
 * turns; who waits for a message of the program's may wait for ever. */
static bool helpful(void)
{
    return !atomic_load(runtime_poisoned) &&
           !atomic_load(&progress.abandoned) &&
           !(progress.thread && shutdown_over());
}

static bool help_begin(void)
{
    if (!turns_help())
        return false;
    limit_reserve_enter();
    return true;
}

/* Something last moved at @active; see turns_help_end(). */
static void help_end(uint64_t active, uint32_t own, bool more)
{
    limit_reserve_leave();
    if (progress.thread)
        idle_note(active);
    turns_help_end(own, more || !pushed());
}

void progress_leave(void)
{
    turns_refuse();
    if (turns_helping())
        help_end(runtime_now_us(), 0, true);
    else if (turns_mine())
        turns_give();
}

/*
 * The helper, from @now on: poll until the event of one of the waiters is here,
 * @deadline_us has come, nothing has moved for a while (but once), or others want
 * the core or the turns.  What time it is then; *active, when something last moved,
 * goes along.
 */
static uint64_t poll_for(struct waiter *const *waiters, int count,
                         uint64_t deadline_us, uint64_t now, uint64_t *active)
{
    bool wanted = false;

    while (!waiter_done_any(waiters, count) && !wanted && now < deadline_us &&
           helpful()) {
        if (progress.thread)
            idle_push(now, false);
        int moved = progress_turn(progress_late_due(now));
        now = runtime_now_us();
        if (moved)
            *active = now;
        else if (now - *active >= IDLE_POLL_WAITED_US)
            break;
        else if (!waiter_done_any(waiters, count))
            wanted = idle_yield(now) || turns_wanted();
    }
    return now;
}

void progress_help(struct waiter *const *waiters, int count,
                   uint64_t deadline_us)
{
    uint64_t now = runtime_now_us(), active = now;

    if (!is_nodes() || !help_begin())
        return;
    poll_for(waiters, count, deadline_us, now, &active);
    help_end(active, 1, !waiter_done_any(waiters, count));
}

bool progress_help_until(bool (*over)(void *arg), void *arg)
{
    uint64_t now = runtime_now_us(), active = now, looked = now;
    bool done = false;

    if (!is_nodes() || !help_begin())
        return false;
    /* What this thread waits for inside MPI may come only after other nodes have
     * got the messages that still wait here. */
    if (progress.transport->soon)
        progress_turn(true);
    while (!(done = over(arg)) && helpful()) {
        idle_push(now, turns_helps_long());
        int moved = progress_turn(progress_late_due(now));
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
            turns_help_long();
        sched_yield();
    }
    help_end(active, 0, !done);
    return done;
}

/* --- A rank's own engine -------------------------------------------------- */

int progress_own_open(void)
{
    int err;

    if (runtime.leader || turns_opened())
        return 0;
    err = progress_transport(runtime_boot, true);
    if (!err)
        turns_open();
    return err;
}

bool progress_own_push(void)
{
    if (runtime.leader || !turns_opened())
        return false;
    progress_glance();
    return true;
}

void progress_own_go_on(void)
{
    if (runtime.leader || turns_mine() || !turns_try())
        return;
    if (!transport_still(progress.transport))
        progress_turn(progress_late_due(runtime_now_us()));
    turns_give();
}

/* The event may come from this node, so a thread that has nothing to move sleeps
 * on the waiters, for a slice. */
int progress_own_beside(struct waiter *const *waiters, int count,
                        uint64_t deadline_us)
{
    uint64_t now, begun, active;
    int err = 0;

    if (runtime.leader || !turns_opened())
        return 0;
    now = begun = active = runtime_now_us();
    while (!err && !waiter_done_any(waiters, count) && !progress_own_still()) {
        uint64_t slice = OWN_SLICE_US;

        if (help_begin()) {
            now = poll_for(waiters, count, deadline_us, now, &active);
            help_end(active, 0, false);
            if (now - active < IDLE_POLL_WAITED_US)
                slice = 0;
        }
        if (now >= deadline_us)
            slice = 0;
        else if (slice > deadline_us - now)
            slice = deadline_us - now;
        err = waiter_wait_any(waiters, count, now + slice);
        now = runtime_now_us();
        if (err == DRASYNC_EAGAIN && now < deadline_us)
            err = wait_check(begun);
    }
    return waiter_done_any(waiters, count) ? 0 : err;
}

bool progress_own_still(void)
{
    bool still;

    if (!turns_take())
        return true;
    still = transport_still(progress.transport);
    turns_give();
    return still;
}

int progress_own_send(const struct runtime_message *m)
{
    uint64_t now;
    int err;

    if (runtime.leader)
        return runtime_send(m);
    if (!turns_take())
        return DRASYNC_ENOTREADY;
    now = runtime_now_us();
    err = send_now(m, m->lazy, now);
    /* What the network keeps must be pushed. */
    if (!err && !transport_still(progress.transport))
        progress_turn(progress_late_due(now));
    turns_give();
    return err;
}

/* There is no progress thread, so threads that wait poll, one at a time.  The
 * others sleep on the doorbell, which they read before they look whether one
 * helps: progress_turns.h, 6. */
static int wait_own(struct waiter *w)
{
    uint64_t now = runtime_now_us(), begun = now, active = now, looked = now;
    int err = 0;

    while (!waiter_done(w) && !err) {
        uint32_t seen = doorbell_read(&progress.bell);

        if (waiter_done(w))
            break;
        if (!help_begin()) {
            err = turns_opened()
                      ? doorbell_wait(&progress.bell, seen, WAIT_FOREVER)
                      : DRASYNC_ENOTREADY;
            now = runtime_now_us();
            continue;
        }
        now = poll_for(&w, 1, looked + PROGRESS_LOOK_US, now, &active);
        bool nap = now - active >= IDLE_POLL_WAITED_US;
        /* MPI opens its sockets with the first messages, or never.
         * `on_sockets` does not change after the start. */
        if (nap && atomic_load(&runtime.shared->on_sockets))
            idle_listen();
        help_end(active, 0, false);
        if (waiter_done(w))
            break;
        if (now - looked >= PROGRESS_LOOK_US || !helpful()) {
            err = death_check(begun);
            looked = now;
        } else if (nap) {
            idle_nap();
        }
        now = runtime_now_us();
    }
    return waiter_done(w) ? 0 : err;
}

int progress_own_wait(struct waiter *w)
{
    int result;

    return runtime.leader ? runtime_wait_remote(w, WAIT_FOREVER, &result)
                          : wait_own(w);
}
