/* The calls on requests, and the pools that these come from: see request.h. */
#include "runtime/native/request.h"

#include <stdlib.h>

#include "memory/frames.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/frames.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/thread.h"

_Thread_local struct native_requests *native_requests_mine
    __attribute__((tls_model("initial-exec")));

_Atomic(struct native_request_block *)
    native_request_blocks[REQUEST_BLOCKS_MAX];

static _Atomic uint32_t blocks; /* numbers given */
static _Atomic(struct native_requests *) all;

/* --- Pools ---------------------------------------------------------------- */

/* That of a thread that has ended, or a new one; NULL: no memory. */
static struct native_requests *pool_new(void)
{
    struct native_requests *p;

    for (p = atomic_load(&all); p; p = p->next) {
        uint32_t unused = 0;

        if (atomic_compare_exchange_strong(&p->taken, &unused, 1))
            return p;
    }
    p = aligned_alloc(_Alignof(struct native_requests), sizeof(*p));
    if (!p)
        return NULL;
    *p = (struct native_requests){.taken = 1};
    p->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &p->next, p))
        ;
    return p;
}

void native_requests_forget(void)
{
    if (native_requests_mine)
        atomic_store(&native_requests_mine->taken, 0);
    native_requests_mine = NULL;
}

/* REQUEST_BLOCK more in @pool, this thread's.  DRASYNC_ENOMEM,
 * DRASYNC_ELIMIT. */
static int block_new(struct native_requests *pool)
{
    struct native_request_block *block =
        aligned_alloc(_Alignof(struct native_request), sizeof(*block));
    uint32_t number = atomic_load(&blocks);

    if (!block)
        return DRASYNC_ENOMEM;
    do {
        if (number == REQUEST_BLOCKS_MAX) {
            free(block);
            return DRASYNC_ELIMIT;
        }
    } while (!atomic_compare_exchange_weak(&blocks, &number, number + 1));
    for (int i = REQUEST_BLOCK; i-- > 0;) {
        struct native_request *r = &block->request[i];

        *r = (struct native_request){
            .word = REQUEST_GENERATION, /* no handle is NULL */
            .index = (uint64_t)number << REQUEST_BLOCK_BITS | (unsigned)i,
            .pool = pool,
            .next = pool->free,
        };
        pool->free = r;
    }
    /* Release pairs with the acquire of native_request_at(). */
    atomic_store_explicit(&native_request_blocks[number], block,
                          memory_order_release);
    return 0;
}

int native_request_take(struct native_request **r_out)
{
    struct native_requests *pool = native_requests_mine;
    int err = 0;

    if (!pool) {
        pool = native_requests_mine = pool_new();
        if (!pool)
            return DRASYNC_ENOMEM;
        /* Where that is not to be had, no other thread gets the pool. */
        thread_watch();
    }
    /* Acquire pairs with the release of native_request_put(). */
    if (!pool->free)
        pool->free = atomic_exchange_explicit(&pool->returned, NULL,
                                              memory_order_acquire);
    if (!pool->free)
        err = block_new(pool);
    if (err)
        return err;
    *r_out = pool->free;
    pool->free = (*r_out)->next;
    (*r_out)->is_run = false;
    (*r_out)->result = 0;
    (*r_out)->version = NULL;
    (*r_out)->known = 0;
    return 0;
}

/* It was taken in vain. */
static void request_back(struct native_request *r)
{
    r->next = r->pool->free;
    r->pool->free = r;
}

/* --- Handles -------------------------------------------------------------- */

struct native_request *native_request_claim(drasync_request_t handle)
{
    struct native_request *r = native_request_at(handle);
    uint64_t live = native_request_word(handle, REQUEST_LIVE);
    uint64_t granted = native_request_word(handle, REQUEST_GRANTED);

    if (!r)
        return NULL;
    /* Acquire pairs with the release of native_request_leave(). */
    if (atomic_compare_exchange_strong_explicit(
            &r->word, &live, live | REQUEST_BUSY, memory_order_acquire,
            memory_order_relaxed))
        return r;
    if (!atomic_compare_exchange_strong_explicit(
            &r->word, &granted, granted | REQUEST_BUSY, memory_order_relaxed,
            memory_order_relaxed))
        return NULL;
    /* Only its address and mode were set. */
    r->pending.wait = NULL;
    r->pending.noted = false;
    r->is_run = false;
    r->result = 0;
    r->version = NULL;
    r->known = 0;
    return r;
}

void native_request_leave(struct native_request *r, drasync_request_t handle)
{
    /* Release pairs with the acquire of native_request_claim(), of another thread. */
    atomic_store_explicit(&r->word, native_request_word(handle, REQUEST_LIVE),
                          memory_order_release);
}

void native_request_end(struct native_request *r, drasync_request_t *handle)
{
    native_request_put(r, native_request_word(*handle, REQUEST_BUSY));
    *handle = NULL;
}

void native_request_drop(drasync_request_t *request)
{
    struct native_request *r = native_request_claim(*request);

    if (r)
        native_request_end(r, request);
}

drasync_request_t native_request_of_run(struct native_request *r,
                                        const struct run_pending *pending,
                                        int result)
{
    r->pending = (struct native_pending){0};
    r->run = *pending;
    r->result = result;
    r->is_run = true;
    return native_request_use(r, REQUEST_LIVE);
}

/* --- Calls ---------------------------------------------------------------- */

/* A request that ended with @err, for the first time: where that may help it is
 * asked again, with place made for it, or for what has the address by now, as
 * native_attempt() does.  As native_pending_start(). */
static int request_restart(struct native_request *r, int err)
{
    struct native_pending *q = &r->pending;
    bool forgot = false;

    if (q->again)
        return err;
    if (err == DRASYNC_ENOMEM)
        native_evict();
    else if (!(forgot = native_forget_gone(q->address, err, q->waited)))
        return err;
    *q = (struct native_pending){
        .address = q->address,
        .mode = q->mode,
        .later = true,
        .nowait = q->nowait,
        .again = true,
        .forgot = forgot,
        .version = q->version,
    };
    r->seen = r->known; /* what was granted and could not be shown has set it */
    return native_pending_start(q);
}

/* @r, whose `pending` says what is asked for. */
static int request_start(struct native_request *r,
                         drasync_request_t *request_out)
{
    int err = native_pending_start(&r->pending);

    if (err && err != PROTO_WAIT)
        err = request_restart(r, err);
    if (err && err != PROTO_WAIT) {
        err = native_pending_took(&r->pending, err);
        request_back(r);
        return err;
    }
    *request_out = native_request_use(r, REQUEST_LIVE);
    return 0;
}

static int iacquire(drasync_region_t region, enum drasync_mode mode,
                    bool nowait, drasync_request_t *request_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct native_request *r;
    bool held;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    /* With nobody to wait for: else the step joins those who wait. */
    held = !native_lease_take(address, mode, 0);
    err = native_request_take(&r);
    if (err) {
        if (held)
            native_hold_undo(address, mode);
        return err;
    }
    r->pending = (struct native_pending){
        .address = address, .mode = mode, .later = true, .nowait = nowait};
    if (held) {
        frames_catch_up(&runtime.space);
        *request_out = native_request_use(r, REQUEST_GRANTED);
        return 0;
    }
    return request_start(r, request_out);
}

int native_iacquire(drasync_region_t region, enum drasync_mode mode,
                    drasync_request_t *request_out)
{
    return iacquire(region, mode, false, request_out);
}

int native_itry(drasync_region_t region, enum drasync_mode mode,
                drasync_request_t *request_out)
{
    return iacquire(region, mode, true, request_out);
}

int native_iacquire_newer(drasync_region_t region, enum drasync_mode mode,
                          uint64_t *version, drasync_request_t *request_out)
{
    struct native_request *r;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_request_take(&r);
    if (err)
        return err;
    r->version = version;
    r->known = r->seen = *version;
    r->pending = (struct native_pending){.address = (uintptr_t)region,
                                         .mode = mode,
                                         .later = true,
                                         .version = &r->seen};
    return request_start(r, request_out);
}

/* @r, which has ended with @err, asked for what is newer: what comes of it. */
static int request_newer(struct native_request *r, int err,
                         struct native_newer *newer_out)
{
    drasync_region_t region = (drasync_region_t)(uintptr_t)r->pending.address;

    if (!r->version)
        return err;
    err = native_newer_came(region, r->known, r->seen, err);
    *newer_out =
        (struct native_newer){region, r->pending.mode, r->known, r->seen};
    if (!err)
        *r->version = r->seen;
    return err;
}

/* The same for any @err, also none, and the hold that is granted is taken
 * (native_pending_took()). */
static int request_again(struct native_request *r, int err)
{
    if (!err)
        return 0;
    err = request_restart(r, err);
    return err == PROTO_WAIT ? err : native_pending_took(&r->pending, err);
}

static int request_test(struct native_request *r, int *done_out)
{
    struct native_pending *q = &r->pending;
    int err;

    *done_out = 1;
    if (r->is_run)
        return r->run.request ? run_test(&r->run, done_out) : r->result;
    if (!q->wait)
        return native_pending_took(q, r->result);
    if (waiter_done(&q->wait->waiter)) {
        err = native_pending_took(
            q, native_pending_granted(q, q->wait->waiter.result));
        err = request_again(r, err);
        if (err != PROTO_WAIT)
            return err;
    }
    err = death_refused(0);
    *done_out = err != 0;
    return err;
}

int native_request_test(struct native_request *r, int *done_out,
                        struct native_newer *newer_out)
{
    int err = request_test(r, done_out);

    return *done_out ? request_newer(r, err, newer_out) : err;
}

int native_test(drasync_request_t *request, int *done_out,
                struct native_newer *newer_out)
{
    struct native_request *r = native_request_claim(*request);
    int err;

    if (!r)
        return DRASYNC_EINVAL;
    err = native_request_test(r, done_out, newer_out);
    if (*done_out) {
        native_request_end(r, request);
    } else {
        native_request_leave(r, *request);
        runtime_look(runtime_now_us());
    }
    return err;
}

/* *done_out: it is over.  (A function may return DRASYNC_EAGAIN, too.) */
static int wait_for_run(struct native_request *r, uint64_t timeout_us,
                        bool *done_out)
{
    int result = r->run.request ? run_wait(&r->run, timeout_us) : r->result;

    *done_out = !r->run.request;
    return result;
}

static int wait_for_hold(struct native_request *r, uint64_t timeout_us)
{
    uint64_t deadline = wait_deadline_us(timeout_us);
    struct native_pending *q = &r->pending;
    int err, result;

    if (!q->wait)
        return native_pending_took(q, r->result);
    do {
        err = native_pending_wait(q, deadline, &result);
        if (err == DRASYNC_EDEADLK && native_pending_ended(q)) {
            result = q->wait->waiter.result;
            err = 0;
        }
        if (!err)
            err = native_pending_took(q, native_pending_granted(q, result));
        err = request_again(r, err);
    } while (err == PROTO_WAIT);
    return err;
}

int native_wait(drasync_request_t *request, uint64_t timeout_us,
                struct native_newer *newer_out)
{
    struct native_request *r = native_request_claim(*request);
    bool done;
    int err;

    if (!r)
        return DRASYNC_EINVAL;
    if (r->is_run) {
        err = wait_for_run(r, timeout_us, &done);
    } else {
        err = wait_for_hold(r, timeout_us);
        done = err != DRASYNC_EAGAIN || !r->pending.wait; /* or it is refused */
        err = done ? request_newer(r, err, newer_out) : err;
    }
    if (done)
        native_request_end(r, request);
    else
        native_request_leave(r, *request);
    return err;
}

static int request_cancel(struct native_request *r)
{
    struct native_pending *q = &r->pending;

    if (r->is_run) {
        run_cancel(&r->run);
        return 0;
    }
    if (q->wait) {
        if (!native_pending_ended(q))
            return 0;
        /* A request that failed by itself is given up all the same. */
        if (native_pending_granted(q, q->wait->waiter.result))
            return 0;
    }
    return native_hold_undo(q->address, q->mode);
}

/* The requests of a rank are few, or it would have ended them. */
void native_requests_end(void)
{
    for (uint32_t n = 0; n < atomic_load(&blocks); n++) {
        struct native_request_block *block =
            atomic_load(&native_request_blocks[n]);

        for (int i = 0; block && i < REQUEST_BLOCK; i++) {
            struct native_request *r = &block->request[i];
            uint64_t word = atomic_load(&r->word);

            if (word % REQUEST_GENERATION != REQUEST_LIVE)
                continue;
            request_cancel(r);
            native_request_put(r, word);
        }
    }
}

int native_cancel(drasync_request_t *request)
{
    struct native_request *r = native_request_claim(*request);
    int err;

    if (!r)
        return DRASYNC_EINVAL;
    err = request_cancel(r);
    native_request_end(r, request);
    return err;
}
