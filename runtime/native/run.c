/* The calls that run functions where a region is: see run.h. */
#include <string.h>

#include "memory/control.h"
#include "runtime/native/run.h"
#include "runtime/native/running.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

static uint64_t address_of(drasync_region_t region)
{
    return (uint64_t)(uintptr_t)region;
}

/* --- Asking --------------------------------------------------------------- */

static struct run_request *request_new(struct run_caller *c, uint64_t address,
                                       const struct run_work *work)
{
    const size_t answer_bytes = work->answer_bytes;
    struct run_request *q;
    void *v;

    if (control_alloc(&runtime.space, sizeof(*q) + answer_bytes, &v))
        return NULL;
    q = v;
    waiter_reset(&q->waiter);
    q->caller = c;
    q->address = address;
    q->mode = (uint32_t)work->mode;
    atomic_store_explicit(&q->ends, 0, memory_order_relaxed);
    q->answer_bytes = (uint32_t)answer_bytes;
    memset(q->answer, 0, answer_bytes);
    return q;
}

/* @work is behind what this thread has collected for the region; under the
 * lock.  *s_out: its stream. */
static int add(struct run_caller *c, uint64_t address,
               const struct run_work *work, struct run_stream **s_out)
{
    struct run_stream *s = run_stream_of(c, address);
    int err = s ? run_stream_add(c, s, work) : DRASYNC_ENOMEM;

    if (err == DRASYNC_EAGAIN) {
        err = run_drain(c, UINT64_MAX, s);
        if (err == DRASYNC_EPEER)
            return err;
        err = run_stream_add(c, s, work);
    }
    if (err == DRASYNC_ENOMEM) {
        run_caller_trim(c);
        s = run_stream_of(c, address);
        err = s ? run_stream_add(c, s, work) : DRASYNC_ENOMEM;
    }
    *s_out = s;
    return err;
}

/* Has this thread runs of the region that are not done? */
static bool has_earlier(struct run_caller *c, uint64_t address)
{
    const struct run_stream *s;
    bool has;

    if (!c || run_is_done(c) || run_lock(c))
        return false;
    s = run_stream_find(c, address);
    has = s &&
          (s->listed || atomic_load_explicit(&s->flying, memory_order_acquire));
    run_unlock(c);
    return has;
}

/* Has this rank a part of the region or, with @tree_too, anything of its tree? */
static bool holds_of(uint64_t address, bool tree_too)
{
    const struct proto_region *r;
    struct native_tree tree;
    bool has;

    if (native_lock_for(NATIVE_FOR_DATA, address, &tree))
        return false;
    r = tree.region && tree_too ? tree.region->root : tree.region;
    has = r && ((tree_too && proto_held(r, native.rank)) ||
                proto_held_below(r, native.rank));
    native_unlock(&tree);
    return has;
}

/* Has this rank a part of the region, which is another node's?  A run would wait
 * for that.  The record is read without a lock, as a hint. */
__attribute__((no_sanitize("thread"))) static bool holds_part(uint64_t address)
{
    const struct proto_region *r = native_find(address);

    return r && r->children.next != &r->children && holds_of(address, false);
}

int native_run_before_hold(drasync_region_t region)
{
    struct run_caller *c = run_caller_had();

    if (runtime.nodes == 1 || !c || run_is_done(c) ||
        !native_address_valid(region) || holds_of(address_of(region), true))
        return 0;
    return run_before_hold(c, address_of(region));
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
    } else if (holds_part(address)) {
        return DRASYNC_EORDER;
    }
    c = run_caller_mine();
    p->answer = answer;
    p->request = c ? request_new(c, address, work) : NULL;
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
    return pending.request ? run_wait(&pending, DRASYNC_FOREVER) : result;
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
    struct native_request *request;
    int result, err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_request_take(&request);
    if (err)
        return err;
    result = begin(address_of(region), &work, answer, 0, &pending);
    *request_out = native_request_of_run(request, &pending, result);
    return 0;
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
        return run_drain(c, RUN_CALLER_BYTES_MAX / 2, NULL);
    return 0;
}

/* One more like the last one of its region, if nothing is to be done after it.
 * By the thread of @c, inside. */
static inline bool add_soon(struct run_caller *c, uint64_t address,
                            const struct drasync_function *function,
                            enum drasync_mode mode, const void *arg,
                            size_t arg_bytes)
{
    struct run_stream *s = run_stream_find(c, address);
    uint64_t queued = atomic_load_explicit(&c->queued, memory_order_relaxed);
    unsigned char *to;

    if (!s || s->soon != function || s->last.mode != mode ||
        s->last.arg_bytes != arg_bytes || s->used + arg_bytes > s->soon_used ||
        passed(queued + arg_bytes, arg_bytes, RUN_SEND_BYTES))
        return false;
    s->last.count++;
    to = s->bytes + s->used;
    s->used += (uint32_t)arg_bytes;
    /* A thread adds to many streams alternately: the next line is not in the cache
     * else, and the next lock waits for the store to it. */
    __builtin_prefetch(to + 64, 1);
    for (size_t i = 0; i < arg_bytes; i += 8)
        memcpy(to + i, (const char *)arg + i, 8);
    atomic_store_explicit(&c->queued, queued + arg_bytes, memory_order_relaxed);
    return true;
}

bool native_run_soon(drasync_region_t region, drasync_function_t function,
                     enum drasync_mode mode, const void *arg, size_t arg_bytes)
{
    struct run_caller *c = run_callers_mine;
    bool done;

    if (!c || !function || (arg_bytes && !arg) || native_running.function ||
        !run_enter(c))
        return false;
    done = add_soon(c, address_of(region), function, mode, arg, arg_bytes);
    run_leave(c);
    return done;
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
    err = run_lock(c);
    if (err)
        return err;
    err = add(c, address_of(region), &work, &s);
    if (err == DRASYNC_EPEER)
        return err;
    if (!err)
        err = after(c, s, RUN_PADDED(arg_bytes) + sizeof(struct run_group));
    if (err == DRASYNC_EPEER)
        return err;
    if (atomic_load_explicit(&c->again, memory_order_relaxed)) {
        run_unlock_send(c);
        return err;
    }
    run_bias(c);
    run_unlock(c);
    return err;
}
