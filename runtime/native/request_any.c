/* Waiting for the first of several requests. */
#include <stdlib.h>

#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

/* So often a run of this thread's, whose region is busy, is tried again. */
#define RUN_AGAIN_US 1000

/* So many have room on the stack. */
#define FEW 32

/* The requests of a call, claimed. */
struct any {
    int count, runs;
    drasync_request_t *handles; /* the caller's; NULL: none */
    struct native_request **requests;
    struct waiter **waiters;
};

static void leave(const struct any *any, int count)
{
    for (int i = 0; i < count; i++)
        if (any->requests[i])
            native_request_leave(any->requests[i], any->handles[i]);
}

/* All of them, or none.  DRASYNC_EINVAL: there are none, or one is not under
 * way. */
static int claim(struct any *any)
{
    int err = DRASYNC_EINVAL;

    for (int i = 0; i < any->count; i++) {
        struct native_request *r = NULL;

        if (any->handles[i]) {
            r = native_request_claim(any->handles[i]);
            if (!r) {
                leave(any, i);
                return DRASYNC_EINVAL;
            }
            any->runs += r->is_run;
            err = 0;
        }
        any->requests[i] = r;
    }
    return err;
}

/* Is one over?  Its result. */
static int test(const struct any *any, int *index_out,
                struct native_newer *newer_out)
{
    for (int i = 0; i < any->count; i++) {
        struct native_request *r = any->requests[i];
        int done = 0, err = r ? native_request_test(r, &done, newer_out) : 0;

        if (done) {
            *index_out = i;
            return err;
        }
    }
    return 0;
}

/* What tells that test() may find more than it did. */
static int gather(const struct any *any)
{
    int n = 0;

    for (int i = 0; i < any->count; i++) {
        const struct native_request *r = any->requests[i];

        if (r)
            any->waiters[n++] =
                r->is_run ? &r->run.request->waiter : &r->pending.wait->waiter;
    }
    return n;
}

/* What a report shows of it. */
static struct waiting shown(const struct any *any, int count, bool timed)
{
    const struct native_request *r = NULL;

    for (int i = 0; !r; i++)
        r = any->requests[i];
    return (struct waiting){
        .what = WAITING_ANY,
        .mode = r->is_run ? r->run.request->mode : r->pending.mode,
        .address = r->is_run ? r->run.request->address : r->pending.address,
        .version = (uint64_t)count,
        .timed = timed,
    };
}

/* Since @since_us nothing has come.  DRASYNC_EAGAIN: @deadline_us has. */
static int sleep_for(const struct any *any, uint64_t since_us,
                     uint64_t deadline_us)
{
    uint64_t again_us = wait_deadline_us(RUN_AGAIN_US);
    bool again = any->runs && again_us < deadline_us;
    int err = runtime_wait_remote_any(any->waiters, gather(any),
                                      again ? again_us : deadline_us);

    return again && err == DRASYNC_EAGAIN ? wait_check(since_us) : err;
}

/* Until one is over, as test() says, or it cannot be waited for. */
static int wait_any(const struct any *any, uint64_t deadline_us, int *index_out,
                    struct native_newer *newer_out)
{
    uint64_t since_us = runtime_now_us();
    int err = 0, slept = 0;

    while (!slept) {
        if (runtime_now_us() >= deadline_us)
            return DRASYNC_EAGAIN;
        slept = sleep_for(any, since_us, deadline_us);
        err = test(any, index_out, newer_out);
        if (*index_out >= 0)
            return err;
    }
    return slept;
}

/* The same, also if one is over at once; others see that this thread waits. */
static int wait_shown(const struct any *any, uint64_t deadline_us,
                      int *index_out, struct native_newer *newer_out)
{
    int err = test(any, index_out, newer_out);
    struct waiting w;

    if (*index_out >= 0)
        return err;
    w = shown(any, gather(any), deadline_us != WAIT_FOREVER);
    waiting_begin(&w);
    err = wait_any(any, deadline_us, index_out, newer_out);
    waiting_end(&w);
    return err;
}

int native_wait_any(int count, drasync_request_t *requests, uint64_t timeout_us,
                    int *index_out, struct native_newer *newer_out)
{
    struct native_request *few_requests[FEW];
    struct waiter *few_waiters[FEW];
    struct any any = {.count = count, .handles = requests};
    size_t room = (size_t)count * sizeof(void *);
    void *more = count > FEW ? malloc(2 * room) : NULL;
    uint64_t deadline_us = wait_deadline_us(timeout_us);
    int err;

    if (count > FEW && !more)
        return DRASYNC_ENOMEM;
    any.requests = more ? more : few_requests;
    any.waiters = more ? (void *)((char *)more + room) : few_waiters;
    err = claim(&any);
    if (!err) {
        err = wait_shown(&any, deadline_us, index_out, newer_out);
        if (*index_out >= 0) {
            drasync_request_t handle = requests[*index_out];

            native_request_end(any.requests[*index_out], &handle);
            any.requests[*index_out] = NULL;
        }
        leave(&any, count);
    }
    free(more);
    return err;
}
