/*
 * Threads of a rank that have holds of one region: a release gives back what its
 * thread took last.  The threads do one thing after the other, as they are told.
 *
 * native_threads orders|stories|writers|others [CALLS]
 */
#include <pthread.h>
#include <sched.h>

#include "native_check.h"

/* --- Threads that are told what to do ------------------------------------ */

enum what { ENDED, NOTHING, TAKE_READ, TAKE_WRITE, GIVE, AWAIT };

static struct hand {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum what what; /* NOTHING: done, with `result` */
    drasync_region_t region;
    drasync_request_t *request;
    int result;
} hands[2];

/* Instead of a hand: this thread. */
#define SELF 2

static int do_it(struct hand *h)
{
    switch (h->what) {
    case TAKE_READ:
        return drasync_acquire(h->region, DRASYNC_READ);
    case TAKE_WRITE:
        return drasync_acquire(h->region, DRASYNC_WRITE);
    case GIVE:
        return drasync_release(h->region);
    default:
        return drasync_wait(h->request, DRASYNC_FOREVER);
    }
}

static void *hand_main(void *arg)
{
    struct hand *h = arg;

    pthread_mutex_lock(&h->mutex);
    for (;;) {
        while (h->what == NOTHING)
            pthread_cond_wait(&h->changed, &h->mutex);
        if (h->what == ENDED)
            break;
        h->result = do_it(h);
        h->what = NOTHING;
        pthread_cond_signal(&h->changed);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

static void begin(struct hand *h)
{
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, NULL);
    h->what = NOTHING;
    CHECK(pthread_create(&h->thread, NULL, hand_main, h) == 0);
}

static void end(struct hand *h)
{
    pthread_mutex_lock(&h->mutex);
    h->what = ENDED;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    CHECK(pthread_join(h->thread, NULL) == 0);
}

/* Thread @who does it; its result. */
static int by(int who, enum what what, drasync_region_t region)
{
    struct hand self = {.what = what, .region = region};
    struct hand *h = &hands[who];
    int result;

    if (who == SELF)
        return do_it(&self);
    pthread_mutex_lock(&h->mutex);
    h->region = region;
    h->what = what;
    pthread_cond_signal(&h->changed);
    while (h->what != NOTHING)
        pthread_cond_wait(&h->changed, &h->mutex);
    result = h->result;
    pthread_mutex_unlock(&h->mutex);
    return result;
}

static void holds(drasync_region_t region, int writes, int reads)
{
    struct drasync_info info;

    OK(drasync_get_info(region, &info));
    CHECK(info.held_write == writes);
    CHECK(info.held_read == reads);
}

/* A region that nobody holds. */
static drasync_region_t fresh(void)
{
    drasync_region_t region;

    OK(drasync_new_region(&region));
    OK(drasync_release(region));
    return region;
}

/* --- All orders ---------------------------------------------------------- */

/* What each thread should have, the last on top. */
static struct {
    enum what top[16];
    int count;
} has[3];

static int count_of(enum what what)
{
    int count = 0;

    for (int who = 0; who < 3; who++)
        for (int i = 0; i < has[who].count; i++)
            count += has[who].top[i] == what;
    return count;
}

/* One step by thread @who, if a program may do that. */
static void step(drasync_region_t region, int who, enum what what)
{
    if (what == GIVE) {
        if (!has[who].count)
            return;
        OK(by(who, GIVE, region));
        has[who].count--;
    } else if (what == TAKE_WRITE && !count_of(TAKE_WRITE) &&
               count_of(TAKE_READ)) {
        CODE(by(who, what, region), DRASYNC_EUPGRADE);
    } else {
        OK(by(who, what, region));
        has[who].top[has[who].count++] = what;
    }
    holds(region, count_of(TAKE_WRITE), count_of(TAKE_READ));
}

/* Every sequence of @calls calls by @threads threads, two or this one, and then
 * all is given back, by one after the other. */
static void orders(int threads, int calls)
{
    static const enum what whats[] = {TAKE_READ, TAKE_WRITE, GIVE};
    int first = threads == 2 ? 0 : SELF;
    drasync_region_t region = fresh();
    long ways = 3 * threads, all = 1;

    for (int i = 0; i < calls; i++)
        all *= ways;
    for (long number = 0; number < all; number++) {
        long left = number;

        for (int i = 0; i < calls; i++, left /= ways)
            step(region, first + (int)(left % threads),
                 whats[left % ways / threads]);
        for (int i = 0; i < threads; i++) {
            int who = first + (int)((number + i) % threads);

            while (has[who].count)
                step(region, who, GIVE);
        }
        CODE(drasync_release(region), DRASYNC_ENOTHELD);
    }
    OK(drasync_delete(region));
}

/* --- Stories ------------------------------------------------------------- */

/* Who made the region, or took it again as a lease, gives back that. */
static void maker(void)
{
    drasync_region_t region;

    for (int lease = 0; lease < 2; lease++) {
        OK(drasync_new_region(&region));
        if (lease) {
            OK(drasync_release(region));
            OK(drasync_acquire(region, DRASYNC_WRITE));
        }
        OK(by(0, TAKE_READ, region));
        OK(drasync_release(region));
        holds(region, 0, 1);
        OK(by(0, GIVE, region));
        holds(region, 0, 0);
        OK(drasync_delete(region));
    }
}

/* A hold may be handed from thread to thread. */
static void handed_over(void)
{
    drasync_region_t region = fresh();

    for (int i = 0; i < 100; i++) {
        OK(by(0, i % 3 ? TAKE_WRITE : TAKE_READ, region));
        OK(by(1, GIVE, region));
        holds(region, 0, 0);
        CODE(by(0, GIVE, region), DRASYNC_ENOTHELD);
    }
    /* It leaves nothing behind that a later release could find. */
    OK(by(0, TAKE_WRITE, region));
    OK(by(1, TAKE_READ, region));
    OK(by(0, GIVE, region));
    holds(region, 0, 1);
    OK(by(1, GIVE, region));
    OK(drasync_delete(region));
}

/* What a thread held when it ended is given back by one that took nothing. */
static void ended(void)
{
    drasync_region_t region = fresh();

    OK(by(0, TAKE_WRITE, region));
    OK(by(1, TAKE_READ, region));
    OK(by(1, TAKE_WRITE, region));
    end(&hands[1]);
    begin(&hands[1]);
    holds(region, 2, 1);
    OK(by(0, GIVE, region));
    holds(region, 1, 1);
    OK(by(0, TAKE_READ, region));
    OK(by(1, GIVE, region));
    holds(region, 0, 2);
    OK(by(0, GIVE, region));
    OK(by(1, GIVE, region));
    holds(region, 0, 0);
    OK(drasync_delete(region));
}

/* A hold that was asked for by one thread is taken by the one that waits. */
static void asked_for(void)
{
    drasync_region_t region = fresh();
    drasync_request_t request;
    int done;

    OK(by(0, TAKE_WRITE, region));
    OK(drasync_iacquire(region, DRASYNC_READ, &request));
    hands[1].request = &request;
    OK(by(1, AWAIT, region));
    CHECK(request == NULL);
    OK(by(0, GIVE, region));
    holds(region, 0, 1);
    OK(by(1, GIVE, region));
    /* One that is given up was nobody's. */
    OK(by(0, TAKE_WRITE, region));
    OK(drasync_iacquire(region, DRASYNC_READ, &request));
    OK(drasync_cancel(&request));
    holds(region, 1, 0);
    OK(drasync_iacquire(region, DRASYNC_READ, &request));
    OK(drasync_test(&request, &done));
    CHECK(done);
    OK(drasync_release(region));
    holds(region, 1, 0);
    OK(by(0, GIVE, region));
    holds(region, 0, 0);
    OK(drasync_delete(region));
}

/* Holds of a region and of what is below it are told apart. */
static void nested(void)
{
    drasync_region_t top, below;

    OK(drasync_new_region(&top));
    OK(drasync_new_subregion(top, &below));
    OK(drasync_release(top));
    OK(by(0, TAKE_WRITE, top));
    OK(by(1, TAKE_READ, below));
    OK(by(0, TAKE_WRITE, below));
    OK(by(1, GIVE, below));
    holds(below, 1, 0);
    OK(by(1, TAKE_READ, below));
    OK(by(0, GIVE, top));
    holds(top, 0, 0);
    holds(below, 1, 1);
    OK(by(0, GIVE, below));
    holds(below, 0, 1);
    OK(by(1, GIVE, below));
    holds(below, 0, 0);
    /* With its region goes what was noted: the next one there is another. */
    OK(by(0, TAKE_WRITE, top));
    OK(by(0, TAKE_WRITE, below));
    OK(drasync_delete(top));
    for (int i = 0; i < 40; i++) {
        drasync_region_t again;

        OK(drasync_new_region(&again));
        OK(by(1, TAKE_READ, again));
        OK(by(0, GIVE, again));
        holds(again, 0, 1);
        OK(by(1, GIVE, again));
        OK(drasync_delete(again));
    }
}

/* While a thread reads what it pinned another rank writes; its own rank's other
 * thread may not. */
static void pinned(void)
{
    drasync_region_t region = NULL;
    long *value = NULL;

    if (check_ranks < 2)
        return;
    if (check_rank == 0) {
        void *object;

        OK(drasync_new_region(&region));
        OK(drasync_alloc(region, sizeof(*value), &object));
        value = object;
        *value = 1;
        OK(drasync_release(region));
        OK(by(0, TAKE_READ, region));
    }
    check_share(&region, 0);
    check_share(&value, 0);
    if (check_rank == 1) {
        OK(drasync_acquire(region, DRASYNC_WRITE));
        *value = 2;
        OK(drasync_release(region));
    }
    check_barrier();
    if (check_rank == 0) {
        CODE(by(1, TAKE_WRITE, region), DRASYNC_EUPGRADE);
        OK(by(1, TAKE_READ, region));
        CHECK(*value == 1);
        OK(by(0, GIVE, region));
        CHECK(*value == 1);
        OK(by(1, GIVE, region));
        OK(by(1, TAKE_WRITE, region));
        CHECK(*value == 2);
        OK(by(0, TAKE_READ, region));
        OK(by(1, GIVE, region));
        holds(region, 0, 1);
        CHECK(*value == 2);
        OK(by(0, GIVE, region));
    }
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
}

/* --- All at once --------------------------------------------------------- */

static struct {
    drasync_region_t region;
    /* Two, that are the same but for a writer's moment, in which another thread
     * of its rank may read them. */
    _Atomic long *counts;
    long increments;
    _Atomic int done;
} shared;

static void *write_main(void *unused)
{
    for (long i = 0; i < shared.increments;) {
        int err = drasync_acquire(shared.region, DRASYNC_WRITE);
        struct drasync_info info;
        long before;

        if (err == DRASYNC_EUPGRADE) {
            sched_yield();
            continue;
        }
        OK(err);
        before = shared.counts[0]++;
        sched_yield();
        OK(drasync_get_info(shared.region, &info));
        CHECK(info.held_write == 1);
        CHECK(shared.counts[0] == before + 1);
        shared.counts[1]++;
        OK(drasync_release(shared.region));
        i++;
    }
    shared.done = 1;
    return unused;
}

static void *read_main(void *unused)
{
    while (!shared.done) {
        OK(drasync_acquire(shared.region, DRASYNC_READ));
        CHECK(shared.counts[0] - shared.counts[1] <= 1);
        OK(drasync_release(shared.region));
        sched_yield();
    }
    return unused;
}

/* On each rank a thread writes and another reads: no write is lost. */
static void writers(int increments)
{
    pthread_t threads[2];
    void *object;

    if (check_rank == 0) {
        OK(drasync_new_region(&shared.region));
        OK(drasync_alloc(shared.region, 2 * sizeof(long), &object));
        shared.counts = object;
        shared.counts[0] = shared.counts[1] = 0;
        OK(drasync_release(shared.region));
    }
    check_share(&shared.region, 0);
    check_share(&shared.counts, 0);
    shared.increments = increments;
    CHECK(!pthread_create(&threads[0], NULL, write_main, NULL));
    CHECK(!pthread_create(&threads[1], NULL, read_main, NULL));
    CHECK(!pthread_join(threads[0], NULL));
    CHECK(!pthread_join(threads[1], NULL));
    check_barrier();
    OK(drasync_acquire(shared.region, DRASYNC_READ));
    CHECK(shared.counts[0] == (long)increments * check_ranks);
    CHECK(shared.counts[1] == shared.counts[0]);
    OK(drasync_release(shared.region));
}

/* What DRASYNC_CHECK=1 tells: a maker's hold, and one for READ. */
static void others(void)
{
    drasync_region_t region;

    OK(drasync_new_region(&region));
    OK(by(0, GIVE, region));
    OK(by(0, TAKE_READ, region));
    OK(by(1, GIVE, region));
    holds(region, 0, 0);
    OK(drasync_delete(region));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "stories";
    int calls = argc > 2 ? atoi(argv[2]) : 4;

    check_start_threads(&argc, &argv);
    begin(&hands[0]);
    begin(&hands[1]);
    if (!strcmp(what, "orders")) {
        /* First while no other thread has taken anything. */
        orders(1, calls + 3);
        orders(2, calls);
    } else if (!strcmp(what, "writers")) {
        writers(calls);
    } else if (!strcmp(what, "others")) {
        others();
    } else {
        maker();
        handed_over();
        ended();
        asked_for();
        nested();
        pinned();
    }
    end(&hands[0]);
    end(&hands[1]);
    return check_end(what);
}
