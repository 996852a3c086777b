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
 * each time, as it would never be its turn. */
#define RUN_AGAIN_US 1000
#define RUN_TURN_US  8000

/* So many have room on the stack. */
#define FEW 32

/* The requests of a call, claimed. */
struct any {
    int count, runs;
    uint64_t since_us; /* when the wait began */
    uint64_t turn_us;  /* when a run is next waited for */
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

/* The first run waits for its region, as long as all have waited so far. */
static void take_turn(struct any *any, uint64_t deadline_us)
{
    uint64_t now = runtime_now_us(), us = now - any->since_us;
    struct native_request *r = NULL;

    if (!any->runs || now < any->turn_us || now >= deadline_us)
        return;
    for (int i = 0; !r || !r->is_run; i++)
        r = any->requests[i];
    if (us > deadline_us - now)
        us = deadline_us - now;
    int result = run_wait(&r->run, us);
    if (!r->run.request)
        r->result = result;
    any->turn_us = runtime_now_us() + us;
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
    take_turn(any, deadline_us);
    return wait_check(any->since_us);
}

/* All wait for ever, as others do: one of the requests for a hold ends so. */
static int end_first(const struct any *any, int *index_out,
                     struct native_newer *newer_out)
{
    for (int i = 0; i < any->count; i++) {
        struct native_request *r = any->requests[i];

        if (!r || r->is_run)
            continue;
        if (native_pending_ended(&r->pending))
            return test(any, index_out, newer_out);
        *index_out = i;
        return DRASYNC_EDEADLK;
    }
    return DRASYNC_EDEADLK;
}

/* Until one is over, as test() says, or it cannot be waited for. */
static int wait_any(struct any *any, uint64_t deadline_us, int *index_out,
                    struct native_newer *newer_out)
{
    int err = 0, slept = 0;

    any->since_us = runtime_now_us();
    any->turn_us = any->since_us + RUN_TURN_US;
    while (!slept) {
        if (runtime_now_us() >= deadline_us)
            return DRASYNC_EAGAIN;
        slept = sleep_for(any, deadline_us);
        err = test(any, index_out, newer_out);
        if (*index_out >= 0)
            return err;
    }
    return slept == DRASYNC_EDEADLK ? end_first(any, index_out, newer_out)
                                    : slept;
}

/* The same, also if one is over at once; others see that this thread waits. */
static int wait_shown(struct any *any, uint64_t deadline_us, int *index_out,
                      struct native_newer *newer_out)
{
    struct run_caller *c = any->runs ? run_caller_had() : NULL;
    struct waiting_request requests[WAITING_REQUESTS];
    int err = test(any, index_out, newer_out);
    struct waiting w;

    if (*index_out >= 0)
        return err;
    runtime_look(runtime_now_us());
    if (c)
        atomic_fetch_add(&c->urgent, 1);
    w = shown(any, deadline_us != WAIT_FOREVER, requests);
    waiting_begin(&w);
    err = wait_any(any, deadline_us, index_out, newer_out);
    waiting_end(&w);
    if (c)
        atomic_fetch_sub(&c->urgent, 1);
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
