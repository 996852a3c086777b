/* The calls that run functions where a region is: see run.h. */
#include <sched.h>
#include <string.h>

#include "memory/control.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/waiting.h"
#include "runtime/say.h"

static uint64_t address_of(drasync_region_t region)
{
    return (uint64_t)(uintptr_t)region;
}

/* --- Waiting -------------------------------------------------------------- */

/* Until something of @c has been answered since `answers` was @seen; under the
 * lock, which is given up meanwhile, and is not held after DRASYNC_EPEER. */
static int wait_any(struct run_caller *c, uint32_t seen)
{
    struct native_wait *w;
    int err, result;

    /* Without anything under way, others have all flights. */
    w = atomic_load(&c->flying) ? native_wait_take() : NULL;
    if (!w) {
        run_unlock_send(c);
        runtime_look(runtime_now_us());
        sched_yield();
        err = death_refused(0);
        return err ? err : run_lock(c);
    }
    /* `waits`, then `answers`; caller_goes_on() does it in reverse. */
    atomic_store(&c->waits, &w->waiter);
    run_unlock_send(c);
    if (atomic_load(&c->answers) != seen &&
        atomic_exchange(&c->waits, NULL) == &w->waiter) {
        native_wait_give(w);
        return run_lock(c);
    }
    err = runtime_wait_remote(&w->waiter, WAIT_FOREVER, &result);
    if (err && atomic_exchange(&c->waits, NULL) != &w->waiter)
        return err; /* somebody may still wake it */
    native_wait_give(w);
    return err ? err : run_lock(c);
}

/* Send, and wait until @c has at most @bytes collected and under way, and @s, if
 * not NULL, nothing.  Under the lock; not after DRASYNC_EPEER. */
static int drain(struct run_caller *c, uint64_t bytes,
                 const struct run_stream *s)
{
    int err = 0;

    atomic_fetch_add(&c->urgent, 1);
    while (!err) {
        uint32_t seen = atomic_load(&c->answers);

        run_own_all(c, DRASYNC_FOREVER);
        run_send_all(c, false);
        if (atomic_load(&c->queued) + atomic_load(&c->flying) <= bytes &&
            (!s || (!s->listed && !atomic_load(&s->flying))))
            break;
        err = wait_any(c, seen);
    }
    atomic_fetch_sub(&c->urgent, 1);
    return err;
}

int run_flush(struct run_caller *c)
{
    int err = run_lock(c);

    if (!err)
        err = drain(c, 0, NULL);
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

void run_quiesce(void)
{
    struct run_caller *c;

    for (c = atomic_load(&run_shared->callers); c; c = c->next) {
        int err = c->local == runtime.local ? run_flush(c) : 0;

        if (err && err != DRASYNC_EPEER)
            runtime_say("a function that drasync_run_ff ran returned %d (%s), "
                        "and no drasync_run_flush came to be told",
                        err, drasync_errname(err));
    }
}

/* --- Asking --------------------------------------------------------------- */

static struct run_request *request_new(struct run_caller *c,
                                       size_t answer_bytes)
{
    struct run_request *q;
    void *v;

    if (control_alloc(&runtime.space, sizeof(*q) + answer_bytes, &v))
        return NULL;
    q = v;
    waiter_reset(&q->waiter);
    q->caller = c;
    atomic_store_explicit(&q->ends, 0, memory_order_relaxed);
    q->answer_bytes = (uint32_t)answer_bytes;
    memset(q->answer, 0, answer_bytes);
    return q;
}

/* Who asked does not need it any more. */
static void request_leave(struct run_request *q)
{
    if (atomic_fetch_or(&q->ends, RUN_LEFT) & RUN_DONE)
        control_free(&runtime.space, q);
}

/* @work is behind what this thread has collected for the region; under the
 * lock.  *s_out: its stream. */
static int add(struct run_caller *c, uint64_t address,
               const struct run_work *work, struct run_stream **s_out)
{
    struct run_stream *s = run_stream_of(c, address);
    int err = s ? run_stream_add(c, s, work) : DRASYNC_ENOMEM;

    if (err == DRASYNC_EAGAIN) {
        err = drain(c, UINT64_MAX, s);
        if (err == DRASYNC_EPEER)
            return err;
        err = run_stream_add(c, s, work);
    }
    *s_out = s;
    return err;
}

/* What is before @q, and it, is to go; what is this node's, by this thread, if
 * it can have that within @timeout_us. */
static void send_for(struct run_request *q, uint64_t timeout_us)
{
    struct run_caller *c = q->caller;

    if (run_lock(c))
        return;
    if (c == run_caller_had())
        run_own_all(c, timeout_us);
    run_send_all(c, false);
    run_unlock_send(c);
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
        send_for(p->request, 0);
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

int run_wait(struct run_pending *p, uint64_t timeout_us)
{
    struct run_caller *c = p->request->caller;
    uint64_t deadline_us = wait_deadline_us(timeout_us);
    int err = 0, result;

    if (!waiter_done(&p->request->waiter)) {
        atomic_fetch_add(&c->urgent, 1);
        send_for(p->request, timeout_us);
        err = runtime_wait_remote(&p->request->waiter, deadline_us, &result);
        atomic_fetch_sub(&c->urgent, 1);
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

/* Has this thread runs of the region that are not done? */
static bool has_earlier(struct run_caller *c, uint64_t address)
{
    const struct run_stream *s;
    bool has;

    if (!c ||
        (!atomic_load_explicit(&c->queued, memory_order_relaxed) &&
         !atomic_load_explicit(&c->flying, memory_order_acquire)) ||
        run_lock(c))
        return false;
    s = run_stream_find(c, address);
    has = s &&
          (s->listed || atomic_load_explicit(&s->flying, memory_order_acquire));
    run_unlock(c);
    return has;
}

/* Begin @work, waiting at most @timeout_us for a hold.  0 and *p->request, or,
 * without a request, its result. */
static int begin(uint64_t address, struct run_work *work, void *answer,
                 uint64_t timeout_us, struct run_pending *p)
{
    struct run_caller *c = run_caller_had();
    struct run_stream *s;
    int err;

    if (!has_earlier(c, address) && run_where(address, NULL) == runtime.node) {
        bool done;

        err = run_here(address, work, answer, timeout_us, &done);
        if (done)
            return err;
    }
    c = run_caller_mine();
    p->answer = answer;
    p->request = c ? request_new(c, work->answer_bytes) : NULL;
    if (!p->request)
        return DRASYNC_ENOMEM;
    work->request = p->request;
    err = run_lock(c);
    if (!err) {
        err = add(c, address, work, &s);
        if (!err && !atomic_load(&s->flying) &&
            run_where(address, s) == runtime.node)
            run_own(c, s, timeout_us);
        if (err != DRASYNC_EPEER)
            run_unlock(c);
    }
    if (!err)
        return 0;
    control_free(&runtime.space, p->request);
    p->request = NULL;
    return err;
}

static int wait_here(struct run_pending *pending, drasync_region_t region,
                     enum drasync_mode mode)
{
    struct waiting w = {
        .what = WAITING_RUN,
        .mode = mode,
        .address = (uint64_t)(uintptr_t)region,
    };
    int err;

    waiting_begin(&w);
    err = run_wait(pending, DRASYNC_FOREVER);
    waiting_end(&w);
    return err;
}

int native_run(drasync_region_t region, drasync_function_t function,
               enum drasync_mode mode, const void *arg, size_t arg_bytes,
               void *answer, size_t answer_bytes)
{
    struct run_work work = {.function = function,
                            .mode = mode,
                            .arg = arg,
                            .arg_bytes = arg_bytes,
                            .answer_bytes = answer_bytes};
    struct run_pending pending = {0};
    int result;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    result =
        begin(address_of(region), &work, answer, DRASYNC_FOREVER, &pending);
    return pending.request ? wait_here(&pending, region, mode) : result;
}

int native_irun(drasync_region_t region, drasync_function_t function,
                enum drasync_mode mode, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes,
                drasync_request_t *request_out)
{
    struct run_work work = {.function = function,
                            .mode = mode,
                            .arg = arg,
                            .arg_bytes = arg_bytes,
                            .answer_bytes = answer_bytes};
    struct run_pending pending = {0};
    int result, err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    result = begin(address_of(region), &work, answer, 0, &pending);
    err = native_request_of_run(&pending, result, request_out);
    if (err)
        run_cancel(&pending);
    return err;
}

/* --- Fire and forget ------------------------------------------------------ */

/* Did @now pass a multiple of @step on the last @bytes? */
static inline bool passed(uint64_t now, uint64_t bytes, uint64_t step)
{
    return now / step != (now - bytes) / step;
}

/* @bytes were added to @s; under the lock, not on error. */
static int after(struct run_caller *c, struct run_stream *s, uint64_t bytes)
{
    uint64_t queued = atomic_load_explicit(&c->queued, memory_order_relaxed);

    if (passed(s->used, bytes, RUN_OWN_BYTES) &&
        !atomic_load_explicit(&s->flying, memory_order_acquire) &&
        run_where(s->address, s) == runtime.node) {
        run_own(c, s, 0);
        return 0;
    }
    if (!passed(queued, bytes, RUN_SEND_BYTES))
        return 0;
    if (runtime.nodes > 1)
        run_send_all(c, false);
    if (queued + atomic_load(&c->flying) > RUN_CALLER_BYTES_MAX)
        return drain(c, RUN_CALLER_BYTES_MAX / 2, NULL);
    return 0;
}

/* The usual case of native_run_ff(): one more like the last one, and nothing to
 * be done after it.  Under the lock. */
static inline bool add_soon(struct run_caller *c, uint64_t address,
                            const struct drasync_function *function,
                            enum drasync_mode mode, const void *arg,
                            size_t arg_bytes)
{
    struct run_stream *s = run_stream_find(c, address);
    uint64_t queued = atomic_load_explicit(&c->queued, memory_order_relaxed);
    unsigned char *to;

    if (!s || !s->used || arg_bytes % 8 || arg_bytes > 64 ||
        s->used + arg_bytes > s->room)
        return false;
    if (s->last.function != function->hash || s->last.arg_bytes != arg_bytes ||
        s->last.mode != mode || s->last.answer_bytes || s->last.asks ||
        s->last.count == UINT16_MAX ||
        passed(s->used + arg_bytes, arg_bytes, RUN_OWN_BYTES) ||
        passed(queued + arg_bytes, arg_bytes, RUN_SEND_BYTES))
        return false;
    s->last.count++;
    to = s->bytes + s->used;
    s->used += (uint32_t)arg_bytes;
    for (size_t i = 0; i < arg_bytes; i += 8)
        memcpy(to + i, (const char *)arg + i, 8);
    atomic_store_explicit(&c->queued, queued + arg_bytes, memory_order_relaxed);
    return true;
}

int native_run_ff(drasync_region_t region, drasync_function_t function,
                  enum drasync_mode mode, const void *arg, size_t arg_bytes)
{
    struct run_work work = {
        .function = function, .mode = mode, .arg = arg, .arg_bytes = arg_bytes};
    struct run_caller *c = run_caller_mine();
    struct run_stream *s;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    if (!c)
        return DRASYNC_ENOMEM;
    if (run_try(c)) {
        if (add_soon(c, address_of(region), function, mode, arg, arg_bytes)) {
            run_unlock(c);
            return 0;
        }
        err = 0;
    } else {
        err = run_lock(c);
    }
    if (err)
        return err;
    err = add(c, address_of(region), &work, &s);
    if (err == DRASYNC_EPEER)
        return err;
    if (!err)
        err = after(c, s, RUN_PADDED(arg_bytes) + sizeof(struct run_group));
    if (err != DRASYNC_EPEER)
        run_unlock(c);
    return err;
}
