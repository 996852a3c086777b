/* Waiting for the first of several requests. */
#include <stdlib.h>

#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

/* So often a run of this thread's, whose region is busy, is tried again; and after
 * so long it is waited for like others, in the region's queue, for twice as long
 * each time, as it would never be the first there. */
#define RUN_AGAIN_US 1000
#define RUN_ALONE_US 8000

/* But then not longer at a time. */
#define RUN_WAIT_US_MAX 50000

/* So many have room on the stack. */
#define FEW 32

/* The requests of a call, claimed. */
struct any {
    int count, runs;
    uint64_t since_us;          /* when the wait began */
    uint64_t alone_us;          /* when a run is next waited for */
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

/* Let runs go on: has one of them come to its end, by itself? */
static bool runs_ended(const struct any *any)
{
    for (int i = 0; i < any->count && any->runs; i++) {
        struct native_request *r = any->requests[i];
        int done = 0, result;

        if (!r || !r->is_run)
            continue;
        if (!r->run.request)
            return true;
        result = run_test(&r->run, &done);
        if (done) {
            r->result = result;
            return true;
        }
    }
    return false;
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

static struct waiting_request shown_one(const struct native_request *r)
{
    if (r->is_run)
        return (struct waiting_request){.what = WAITING_RUN,
                                        .mode = r->run.request->mode,
                                        .address = r->run.request->address};
    return (struct waiting_request){
        .what = r->known ? WAITING_NEWER : WAITING_REGION,
        .mode = r->pending.mode,
        .address = r->pending.address,
        .version = r->known,
    };
}

/* What a report shows of it; @shown has room for WAITING_REQUESTS. */
static struct waiting shown(const struct any *any, bool timed,
                            struct waiting_request *shown)
{
    uint32_t n = 0;

    for (int i = 0; i < any->count; i++) {
        if (any->requests[i] && n < WAITING_REQUESTS)
            shown[n] = shown_one(any->requests[i]);
        n += any->requests[i] != NULL;
    }
    return (struct waiting){
        .what = WAITING_ANY,
        .mode = shown->mode,
        .address = shown->address,
        .version = shown->version,
        .request = shown,
        .requests = n,
        .timed = timed,
    };
}

/* The first run that this thread has to do itself; NULL: none. */
static struct native_request *own_run(const struct any *any)
{
    for (int i = 0; i < any->count; i++) {
        struct native_request *r = any->requests[i];

        if (r && r->is_run && r->run.request->caller == run_caller_had() &&
            run_where(r->run.request->address, NULL) == runtime.node)
            return r;
    }
    return NULL;
}

/* It waits for its region, as long as all have waited so far, within limits: the
 * others are not looked at meanwhile. */
static void wait_alone(struct any *any, uint64_t deadline_us)
{
    uint64_t now = runtime_now_us(), us = now - any->since_us;
    struct native_request *r;

    if (!any->runs || now < any->alone_us || now >= deadline_us)
        return;
    r = own_run(any);
    if (us > RUN_WAIT_US_MAX)
        us = RUN_WAIT_US_MAX;
    if (us > deadline_us - now)
        us = deadline_us - now;
    int result = r ? run_wait(&r->run, us) : 0;
    if (r && !r->run.request)
        r->result = result;
    any->alone_us = runtime_now_us() + us;
}

/* Nothing has come so far.  DRASYNC_EAGAIN: @deadline_us has. */
static int sleep_for(struct any *any, uint64_t deadline_us)
{
    uint64_t again_us = wait_deadline_us(RUN_AGAIN_US);
    bool again = any->runs && again_us < deadline_us;
    int err = runtime_wait_remote_any(any->waiters, gather(any),
                                      again ? again_us : deadline_us);

    if (!again || err != DRASYNC_EAGAIN)
        return err;
    wait_alone(any, deadline_us);
    return wait_check(any->since_us);
}

/* Until something has come, or it cannot be waited for; others see that this thread
 * waits.  Runs may come to their end meanwhile. */
static int sleep_shown(struct any *any, uint64_t deadline_us)
{
    struct waiting_request requests[WAITING_REQUESTS];
    struct waiting w = shown(any, deadline_us != WAIT_FOREVER, requests);
    int err;

    waiting_begin(&w);
    do
        err = runtime_now_us() < deadline_us ? sleep_for(any, deadline_us)
                                             : DRASYNC_EAGAIN;
    while (!err && !runs_ended(any) &&
           !waiter_done_any(any->waiters, gather(any)));
    waiting_end(&w);
    return err;
}

/* All wait for ever, as others do: one of the requests for a hold ends so, unless it
 * has just come. */
static int end_first(const struct any *any, int *index_out)
{
    for (int i = 0; i < any->count; i++) {
        struct native_request *r = any->requests[i];

        if (!r || r->is_run)
            continue;
        if (!native_pending_ended(&r->pending))
            *index_out = i;
        break;
    }
    return DRASYNC_EDEADLK;
}

static int wait_any(struct any *any, uint64_t deadline_us, int *index_out,
                    struct native_newer *newer_out)
{
    int err = test(any, index_out, newer_out), slept = 0;

    if (*index_out < 0)
        runtime_look(runtime_now_us());
    any->since_us = runtime_now_us();
    any->alone_us = any->since_us + RUN_ALONE_US;
    while (*index_out < 0) {
        if (slept == DRASYNC_EDEADLK)
            slept = end_first(any, index_out);
        if (slept && (slept != DRASYNC_EDEADLK || *index_out >= 0))
            return slept;
        slept = sleep_shown(any, deadline_us);
        err = test(any, index_out, newer_out);
    }
    return err;
}

/* The only one of @requests that is one, or -1: there are more, or none. */
static int only_one(int count, const drasync_request_t *requests)
{
    int found = -1;

    for (int i = 0; i < count; i++) {
        if (requests[i] && found >= 0)
            return -1;
        if (requests[i])
            found = i;
    }
    return found;
}

/* As any wait for one, with all that is looked for in such a one. */
static int wait_for(int i, drasync_request_t request, uint64_t timeout_us,
                    int *index_out, struct native_newer *newer_out)
{
    int err = native_wait(&request, timeout_us, newer_out);

    if (!request)
        *index_out = i;
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
    int err, only = only_one(count, requests);

    if (only >= 0) {
        free(more);
        return wait_for(only, requests[only], timeout_us, index_out, newer_out);
    }
    if (count > FEW && !more)
        return DRASYNC_ENOMEM;
    any.requests = more ? more : few_requests;
    any.waiters = more ? (void *)((char *)more + room) : few_waiters;
    err = claim(&any);
    if (!err) {
        struct run_caller *c = any.runs ? run_caller_had() : NULL;

        if (c)
            atomic_fetch_add(&c->urgent, RUN_URGENT_OTHER);
        err = wait_any(&any, deadline_us, index_out, newer_out);
        if (c)
            atomic_fetch_sub(&c->urgent, RUN_URGENT_OTHER);
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
