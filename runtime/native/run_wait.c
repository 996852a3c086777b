/* Waiting for what a thread has run: see run.h. */
#include <sched.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/waiting.h"

/* A thread that waits for a run of another thread looks this often whether that
 * thread has ended. */
#define ENDED_LOOK_US 50000

/* --- Answers -------------------------------------------------------------- */

/* A region with something of @c, under way or collected, for reports: relaxed.
 * Under the lock. */
static uint64_t waits_on(const struct run_caller *c)
{
    for (int i = 0; i < RUN_BUCKETS; i++)
        for (const struct run_stream *s = c->buckets[i]; s; s = s->chain)
            if (atomic_load_explicit(&s->flying, memory_order_relaxed))
                return s->address;
    return c->busy ? c->busy->address : 0;
}

/* Wait for @waiter; others see that this thread waits for a run on @address, for
 * @mode, or 0: for several; and whether it is @timed. */
static int wait_shown(struct waiter *waiter, uint64_t address, uint32_t mode,
                      bool timed, uint64_t deadline_us)
{
    struct waiting w = {
        .what = WAITING_RUN,
        .mode = mode,
        .address = address,
        .timed = timed,
    };
    int err, result;

    waiting_begin(&w);
    err = runtime_wait_remote(waiter, deadline_us, &result);
    waiting_end(&w);
    return err;
}

/* Nothing of @c is under way whose answer would wake it: others have all
 * flights, or the region. */
static int wait_a_moment(struct run_caller *c, uint64_t deadline_us)
{
    int err;

    run_unlock_send(c);
    runtime_look(runtime_now_us());
    sched_yield();
    err = death_refused(0);
    if (!err)
        err = run_lock(c);
    if (err)
        return err;
    return deadline_us != WAIT_FOREVER && runtime_now_us() >= deadline_us
               ? DRASYNC_EAGAIN
               : 0;
}

/*
 * Wait until something of @c has been answered since `answers` was @seen, or is
 * to be run by its thread; under the lock, which is given up meanwhile, and is
 * not held after DRASYNC_EPEER.  @q is the run that is waited for, or NULL:
 * all.  DRASYNC_EAGAIN: @deadline_us came first.
 *
 * Dekker's pair with wake() of run_answer.c, all four sequentially consistent:
 * this thread stores `waits`, then reads `answers`; wake() adds to `answers`,
 * then takes `waits`.  So wake() finds the waiter, or this thread the answer.
 * Whoever takes the waiter out of `waits` decides whether it is woken.
 */
static int wait_any(struct run_caller *c, uint32_t seen,
                    const struct run_request *q, uint64_t deadline_us)
{
    struct native_wait *w;
    uint64_t address;
    int err, locked;

    w = atomic_load(&c->flying) ? native_wait_take() : NULL;
    if (!w)
        return wait_a_moment(c, deadline_us);
    address = q ? q->address : waits_on(c);
    atomic_store(&c->waits, &w->waiter);
    run_unlock_send(c);
    if (atomic_load(&c->answers) != seen &&
        atomic_exchange(&c->waits, NULL) == &w->waiter) {
        native_wait_give(w);
        return run_lock(c);
    }
    err = wait_shown(&w->waiter, address, q ? q->mode : 0,
                     deadline_us != WAIT_FOREVER, deadline_us);
    if (err && atomic_exchange(&c->waits, NULL) != &w->waiter) {
        if (err != DRASYNC_EAGAIN)
            return err; /* wake() has it, and may still write there */
        while (!waiter_done(&w->waiter))
            sched_yield();
    }
    native_wait_give(w);
    if (err && err != DRASYNC_EAGAIN)
        return err;
    locked = run_lock(c);
    return locked ? locked : err;
}

int run_drain(struct run_caller *c, uint64_t bytes, const struct run_stream *s)
{
    int err = 0;

    atomic_fetch_add(&c->urgent, 1);
    while (!err) {
        uint32_t seen = atomic_load(&c->answers);

        /* Other nodes run their units while this thread runs its own; what may
         * go because of their answers goes after that. */
        run_send_all(c, false);
        run_own_all(c, DRASYNC_FOREVER);
        run_send_all(c, false);
        if (atomic_load(&c->queued) + atomic_load(&c->flying) <= bytes &&
            (!s || !s->listed))
            break;
        err = wait_any(c, seen, NULL, WAIT_FOREVER);
    }
    atomic_fetch_sub(&c->urgent, 1);
    return err;
}

int run_flush(struct run_caller *c)
{
    int err = run_lock(c);

    if (!err)
        err = run_drain(c, 0, NULL);
    if (err)
        return err;
    run_unlock(c);
    return atomic_exchange(&c->error, 0);
}

int native_run_flush(void)
{
    struct run_caller *c = run_caller_had();

    return c ? run_flush(c) : 0;
}

static void say_left(int err)
{
    if (err && err != DRASYNC_EPEER)
        runtime_say("a function that drasync_run_ff ran returned %d (%s), "
                    "and no drasync_run_flush came to be told",
                    err, drasync_errname(err));
}

void run_quiesce(void)
{
    struct run_caller *c;

    for (c = atomic_load(&run_shared->callers); c; c = c->next)
        say_left(c->local == runtime.local ? run_flush(c) : 0);
    say_left(run_callers_left());
}

/* --- Before a hold -------------------------------------------------------- */

static bool same_tree(uint64_t a, uint64_t b)
{
    const struct proto_region *x = native_find(a), *y = native_find(b);

    return a == b || (x && y && x->root && x->root == y->root);
}

static bool is_left(const struct run_stream *s)
{
    return s->listed || atomic_load(&s->flying);
}

/* Wait until nothing of @s is left; under the lock, which is not held after an
 * error. */
static int drain_one(struct run_caller *c, struct run_stream *s)
{
    int err = 0;

    while (!err && is_left(s)) {
        uint32_t seen = atomic_load(&c->answers);

        if (!atomic_load(&s->flying) &&
            run_where(s->address, s) == runtime.node)
            run_own(c, s, DRASYNC_FOREVER);
        else
            run_send_all(c, false);
        if (is_left(s))
            err = wait_any(c, seen, NULL, WAIT_FOREVER);
    }
    return err;
}

/* Records are read without a lock: they are kept, and a root does not change. */
__attribute__((no_sanitize("thread"))) static int
drain_tree(struct run_caller *c, uint64_t address)
{
    int err = 0;

    for (int i = 0; i < RUN_BUCKETS && !err; i++)
        for (struct run_stream *s = c->buckets[i]; s && !err; s = s->chain)
            if (is_left(s) && same_tree(s->address, address))
                err = drain_one(c, s);
    return err;
}

int run_before_hold(struct run_caller *c, uint64_t address)
{
    int err = run_lock(c);

    if (!err) {
        atomic_fetch_add(&c->urgent, 1);
        err = drain_tree(c, address);
        atomic_fetch_sub(&c->urgent, 1);
    }
    if (!err)
        run_unlock_send(c);
    return err;
}

/* --- Requests ------------------------------------------------------------- */

/* The thread that asked does not need @q any more. */
static void request_leave(struct run_request *q)
{
    if (atomic_fetch_or(&q->ends, RUN_LEFT) & RUN_DONE)
        control_free(&runtime.space, q);
}

/* Has the thread of @c ended?  Then this one runs what that collected for this
 * node, until give_over(). */
static bool take_over(struct run_caller *c)
{
    uint32_t ended = RUN_ENDED;

    return c->local == runtime.local &&
           atomic_compare_exchange_strong(&c->taken, &ended, RUN_TAKEN);
}

static void give_over(struct run_caller *c)
{
    atomic_store(&c->taken, RUN_ENDED);
}

/* Send what @q's caller has collected up to @q.  @own: this thread runs what is
 * for this node, where the region is free. */
static void send_for(struct run_request *q, bool own)
{
    struct run_caller *c = q->caller;

    if (run_lock(c))
        return;
    if (own)
        run_own_all(c, 0);
    run_send_all(c, false);
    run_unlock_send(c);
}

static void send_for_test(struct run_request *q)
{
    bool ended = take_over(q->caller);

    send_for(q, ended || q->caller == run_caller_had());
    if (ended)
        give_over(q->caller);
}

static int result_of(struct run_pending *p)
{
    struct run_request *q = p->request;
    int result = q->waiter.result;

    if (q->answer_bytes)
        memcpy(p->answer, q->answer, q->answer_bytes);
    request_leave(q);
    p->request = NULL;
    return result;
}

int run_test(struct run_pending *p, int *done_out)
{
    int err = 0;

    if (!waiter_done(&p->request->waiter)) {
        send_for_test(p->request);
        runtime_look(runtime_now_us());
    }
    *done_out = waiter_done(&p->request->waiter);
    if (*done_out)
        return result_of(p);
    err = death_refused(0);
    if (err)
        run_cancel(p);
    *done_out = err != 0;
    return err;
}

static uint64_t left_us(uint64_t deadline_us)
{
    uint64_t now = runtime_now_us();

    return deadline_us == WAIT_FOREVER ? DRASYNC_FOREVER
           : deadline_us > now         ? deadline_us - now
                                       : 0;
}

/* Wait for @q, of this thread, which has to run itself what it collected for
 * this node, and what comes back to it (run_returned()). */
static int wait_own(struct run_request *q, uint64_t deadline_us)
{
    struct run_caller *c = q->caller;
    int err = run_lock(c);

    while (!err && !waiter_done(&q->waiter)) {
        uint32_t seen = atomic_load(&c->answers);

        run_own_all(c, left_us(deadline_us));
        run_send_all(c, false);
        if (!waiter_done(&q->waiter))
            err = wait_any(c, seen, q, deadline_us);
    }
    if (!err || err == DRASYNC_EAGAIN)
        run_unlock_send(c);
    return waiter_done(&q->waiter) ? 0 : err;
}

/* Wait for @q as long as the thread that began it lives, which runs what it
 * collected for this node.  *ended_out: it has ended, and take_over() was
 * true. */
static int wait_while_other_goes_on(struct run_request *q, uint64_t deadline_us,
                                    bool *ended_out)
{
    uint64_t since_us = runtime_now_us(), look_us;
    int err, result;

    while (!(*ended_out = take_over(q->caller))) {
        send_for(q, false);
        look_us = wait_deadline_us(ENDED_LOOK_US);
        err = runtime_wait_remote(
            &q->waiter, look_us < deadline_us ? look_us : deadline_us, &result);
        if (err != DRASYNC_EAGAIN)
            return err;
        err = wait_check(since_us);
        if (err)
            return err;
        if (runtime_now_us() >= deadline_us)
            return DRASYNC_EAGAIN;
    }
    return 0;
}

/* Wait for @q, which another thread began.  Once that has ended, this one runs
 * what it had collected for this node. */
static int wait_for_other(struct run_request *q, uint64_t deadline_us)
{
    struct waiting w = {
        .what = WAITING_RUN,
        .mode = q->mode,
        .address = q->address,
        .timed = deadline_us != WAIT_FOREVER,
    };
    bool ended;
    int err;

    waiting_begin(&w);
    err = wait_while_other_goes_on(q, deadline_us, &ended);
    waiting_end(&w);
    if (ended) {
        err = wait_own(q, deadline_us);
        give_over(q->caller);
    }
    return err;
}

int run_wait(struct run_pending *p, uint64_t timeout_us)
{
    struct run_request *q = p->request;
    struct run_caller *c = q->caller;
    uint64_t deadline_us = wait_deadline_us(timeout_us);
    int err = 0;

    if (!waiter_done(&q->waiter)) {
        const bool own = c == run_caller_had();

        atomic_fetch_add(&c->urgent, own ? 1 : RUN_URGENT_OTHER);
        err = own ? wait_own(q, deadline_us) : wait_for_other(q, deadline_us);
        atomic_fetch_sub(&c->urgent, own ? 1 : RUN_URGENT_OTHER);
    }
    if (!err)
        return result_of(p);
    if (err != DRASYNC_EAGAIN)
        run_cancel(p);
    return err;
}

void run_cancel(struct run_pending *p)
{
    if (p->request)
        request_leave(p->request);
    p->request = NULL;
}
