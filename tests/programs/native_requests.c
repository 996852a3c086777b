/*
 * Requests are numbers: copies of one that has ended, or that another thread is
 * at work on, are refused, and touch neither memory nor holds.  Of two that a
 * rank has for one region, none waits behind those who wait for the other.
 *
 * native_requests
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "native_check.h"

static void holds(drasync_region_t region, int writes, int reads)
{
    struct drasync_info info;

    OK(drasync_get_info(region, &info));
    CHECK(info.held_write == writes);
    CHECK(info.held_read == reads);
}

static drasync_region_t fresh(void)
{
    drasync_region_t region;

    OK(drasync_new_region(&region));
    OK(drasync_release(region));
    return region;
}

/* Twice, so that the second time is the quick way. */
static drasync_request_t granted(drasync_region_t region,
                                 enum drasync_mode mode)
{
    drasync_request_t request;

    OK(drasync_acquire(region, mode));
    OK(drasync_release(region));
    OK(drasync_iacquire(region, mode, &request));
    return request;
}

static void refused(drasync_request_t request)
{
    drasync_request_t copy = request;
    int done = -1;

    CODE(drasync_test(&copy, &done), DRASYNC_EINVAL);
    CODE(drasync_wait(&copy, 0), DRASYNC_EINVAL);
    CODE(drasync_wait(&copy, DRASYNC_FOREVER), DRASYNC_EINVAL);
    CODE(drasync_cancel(&copy), DRASYNC_EINVAL);
    CHECK(copy == request && done == -1);
}

/* --- Each way to end one -------------------------------------------------- */

enum end { BY_TEST, BY_WAIT, BY_CANCEL, ENDS };

static int end_by(enum end how, drasync_request_t *request)
{
    int done = 0, err;

    if (how == BY_CANCEL)
        return drasync_cancel(request);
    if (how == BY_WAIT)
        return drasync_wait(request, DRASYNC_FOREVER);
    do
        err = drasync_test(request, &done);
    while (!done);
    return err;
}

static void copies(enum drasync_mode mode, enum end how)
{
    drasync_region_t region = fresh();
    drasync_request_t request = granted(region, mode), copy = request, next;

    OK(end_by(how, &request));
    CHECK(!request);
    refused(copy);
    holds(region, how != BY_CANCEL && mode == DRASYNC_WRITE,
          how != BY_CANCEL && mode == DRASYNC_READ);
    /* What was the request is another one's now, most likely. */
    OK(drasync_iacquire(region, mode, &next));
    refused(copy);
    OK(end_by(BY_WAIT, &next));
    refused(copy);
    OK(drasync_release(region));
    if (how != BY_CANCEL)
        OK(drasync_release(region));
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    OK(drasync_delete(region));
}

/* No request was ever like these. */
static void forged(void)
{
    static const uint64_t numbers[] = {1,        0x3fffff,   0x400000,
                                       0x7fffff, UINT64_MAX, UINT64_MAX - 3};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        refused((drasync_request_t)(uintptr_t)numbers[i]);
    refused((drasync_request_t)(void *)&numbers);
}

/* --- Runs ----------------------------------------------------------------- */

static drasync_function_t f_five;

static int five(drasync_region_t region, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes)
{
    (void)region, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    return 5;
}

static void runs(enum end how)
{
    drasync_region_t region = fresh();
    drasync_request_t request, copy;

    OK(drasync_irun(region, f_five, DRASYNC_WRITE, NULL, 0, NULL, 0, &request));
    copy = request;
    CODE(end_by(how, &request), how == BY_CANCEL ? 0 : 5);
    CHECK(!request);
    refused(copy);
    OK(drasync_delete(region));
}

/* --- Many ----------------------------------------------------------------- */

#define MANY 20000

static void many(void)
{
    drasync_region_t region = fresh();
    drasync_request_t *request = malloc(MANY * sizeof(*request));
    struct drasync_info info;

    CHECK(request);
    for (int i = 0; i < MANY; i++)
        OK(drasync_iacquire(region, DRASYNC_READ, &request[i]));
    for (int i = 0; i < MANY; i++) {
        drasync_request_t copy = request[i];

        OK(end_by(i % ENDS, &request[i]));
        refused(copy);
    }
    OK(drasync_get_info(region, &info));
    for (int i = 0; i < info.held_read; i++)
        OK(drasync_release(region));
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    OK(drasync_delete(region));
    free(request);
}

/* --- Threads -------------------------------------------------------------- */

#define ROUNDS 2000

/* One thread asks, the other has the results. */
static _Atomic(drasync_request_t) passed;

static void *takes(void *arg)
{
    drasync_region_t region = arg;

    for (int i = 0; i < ROUNDS; i++) {
        drasync_request_t request;

        while (!(request = atomic_exchange(&passed, NULL)))
            sched_yield();
        OK(end_by(i % ENDS, &request));
        if (i % ENDS != BY_CANCEL)
            OK(drasync_release(region));
    }
    return NULL;
}

static void passed_on(drasync_region_t region)
{
    pthread_t thread;
    size_t before = 0;

    CHECK(!pthread_create(&thread, NULL, takes, region));
    for (int i = 0; i < ROUNDS; i++) {
        drasync_request_t request, none = NULL;

        OK(drasync_iacquire(region, DRASYNC_READ, &request));
        while (!atomic_compare_exchange_weak(&passed, &none, request)) {
            none = NULL;
            sched_yield();
        }
        if (i == ROUNDS / 2)
            before = mallinfo2().uordblks;
    }
    CHECK(!pthread_join(thread, NULL));
    /* They came back to the thread that asks. */
    CHECK(mallinfo2().uordblks < before + 65536);
}

/* Threads that all have the same request. */
static pthread_barrier_t begin;
static _Atomic(drasync_request_t) shared;
static _Atomic int taken, late;

static void *grabs(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        drasync_request_t request;
        int err;

        pthread_barrier_wait(&begin);
        request = atomic_load(&shared);
        err = drasync_wait(&request, DRASYNC_FOREVER);
        CHECK(!err || err == DRASYNC_EINVAL);
        CHECK(!err == !request);
        atomic_fetch_add(err ? &late : &taken, 1);
        pthread_barrier_wait(&begin);
    }
    return NULL;
}

static void grabbed(drasync_region_t region)
{
    pthread_t thread[2];

    CHECK(!pthread_barrier_init(&begin, NULL, 3));
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&thread[i], NULL, grabs, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        drasync_request_t request;

        OK(drasync_iacquire(region, i & 1 ? DRASYNC_READ : DRASYNC_WRITE,
                            &request));
        atomic_store(&shared, request);
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&begin);
        CHECK(atomic_load(&taken) == i + 1 && atomic_load(&late) == i + 1);
        OK(drasync_release(region));
    }
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_join(thread[i], NULL));
    CHECK(!pthread_barrier_destroy(&begin));
}

/* A thread that ends with a request; its pool is the next one's. */
static void *leaves(void *arg)
{
    drasync_request_t request;

    OK(drasync_iacquire(arg, DRASYNC_READ, &request));
    return request;
}

static void left(drasync_region_t region)
{
    drasync_request_t last = NULL;

    for (int i = 0; i < 200; i++) {
        drasync_request_t request;
        pthread_t thread;
        void *result;

        CHECK(!pthread_create(&thread, NULL, leaves, region));
        CHECK(!pthread_join(thread, &result));
        request = result;
        CHECK(request != last);
        if (last)
            refused(last);
        last = request;
        OK(end_by(i % ENDS, &request));
        if (i % ENDS != BY_CANCEL)
            OK(drasync_release(region));
        CODE(drasync_release(region), DRASYNC_ENOTHELD);
    }
}

static void threads(void)
{
    drasync_region_t region = fresh();

    passed_on(region);
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    grabbed(region);
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    left(region);
    OK(drasync_delete(region));
}

/* --- A call that is at work on it ----------------------------------------- */

static void *waits(void *arg)
{
    int err;

    do
        err = drasync_wait(arg, DRASYNC_FOREVER);
    while (err == DRASYNC_EINVAL); /* the other thread looks, just then */
    OK(err);
    return NULL;
}

static void while_another_waits(void)
{
    drasync_region_t region = NULL;
    drasync_request_t request, copy;
    pthread_t thread;
    int err, done;

    if (check_rank == 0)
        OK(drasync_new_region(&region));
    check_share(&region, 0);
    if (check_rank == 1) {
        OK(drasync_iacquire(region, DRASYNC_WRITE, &request));
        copy = request;
        CHECK(!pthread_create(&thread, NULL, waits, &request));
        do {
            err = drasync_test(&copy, &done);
            CHECK(err == DRASYNC_EINVAL || (!err && !done));
        } while (!err);
        refused(copy);
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_release(region));
    if (check_rank == 1) {
        CHECK(!pthread_join(thread, NULL));
        CHECK(!request);
        refused(copy);
        holds(region, 1, 0);
        OK(drasync_delete(region));
    }
}

/* Rank 1 asks before rank 2, and after it: it has both when rank 0 releases. */
static void twice(enum drasync_mode mode)
{
    drasync_region_t region = NULL;
    drasync_request_t first = 0, second = 0;

    if (check_rank == 0)
        OK(drasync_new_region(&region));
    check_share(&region, 0);
    for (int turn = 1; turn <= 3; turn++) {
        if (check_rank == 1 && turn != 2)
            OK(drasync_iacquire(region, turn == 1 ? DRASYNC_WRITE : mode,
                                turn == 1 ? &first : &second));
        else if (check_rank == 2 && turn == 2)
            OK(drasync_iacquire(region, DRASYNC_WRITE, &first));
        check_barrier();
    }
    if (check_rank == 0)
        OK(drasync_release(region));
    if (check_rank == 1) {
        OK(drasync_wait(&second, DRASYNC_FOREVER));
        OK(drasync_wait(&first, DRASYNC_FOREVER));
        OK(drasync_release(region));
        OK(drasync_release(region));
    } else if (check_rank == 2) {
        OK(drasync_wait(&first, DRASYNC_FOREVER));
        OK(drasync_release(region));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    OK(drasync_register("five", five, &f_five));
    check_barrier();
    forged();
    for (int how = 0; how < ENDS; how++) {
        copies(DRASYNC_READ, (enum end)how);
        copies(DRASYNC_WRITE, (enum end)how);
        runs((enum end)how);
    }
    many();
    threads();
    if (check_ranks > 1)
        while_another_waits();
    if (check_ranks > 2) {
        twice(DRASYNC_READ);
        twice(DRASYNC_WRITE);
    }
    return check_end("requests");
}
