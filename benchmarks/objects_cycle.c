/*
 * objects_cycle - the longest pause of a thread that goes on while another one
 * looks for objects that nobody uses, with 10 to 100,000 requests outstanding.
 *
 * ours    lifetime/'s cycle, with an exact look at all requests
 * theirs  the cycle of the paper (objects_rate.c), under the lock of allocation
 *
 * The thread that goes on makes a datatype, starts a request with it, gives it
 * back, and ends the request, again and again; a step is timed from its end to
 * the next one's.  The longest step of each cycle counts, the median of a run's
 * cycles: what the kernel does now and then is in few of them.  A step in which
 * the kernel gave the processor to others, unasked (ru_nivcsw), does not count,
 * on either side; one that waits for a lock does.
 *
 * lingers is the most bytes that waited for a cycle, by the bound, while objects
 * are made and given back beside those requests (case by case, the worst).
 */
#include "benchmarks/common.h"

#include "benchmarks/engine_row.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#define CYCLES        31
#define CYCLES_TINY   3
#define OBJECTS       8
#define SUSPICIOUS_NS 2000
#define LINGER_BYTES  ((uint64_t)64 << 10)
#define LINGER_ROUNDS 100000

static const int outstanding[] = {10, 100, 1000, 10000, 100000};
static const char *const cases[] = {"10", "100", "1000", "10000", "100000"};
static const char *const rivals[] = {"hybrid"};

static struct bench bench = {
    .name = "objects_cycle",
    .unit = "us",
    .what =
        "Longest pause of a thread that goes on while another one looks for\n"
        "objects that nobody uses; 10 to 100,000 requests outstanding.\n",
    .runs = 9,
    .cases = cases,
    .cases_count = 5,
    .main_case = 5,
    .rivals = rivals,
    .rivals_count = 1,
};

static struct {
    struct life life;
    life_handle comm;
    struct life_transient *request[100000];
    _Atomic uint32_t phase; /* odd: a cycle is under way */
    _Atomic bool over, ready;
    double longest_ns; /* of the cycle; written by who goes on */
    _Atomic uint32_t told;
} all;

static double lingers;

#define TRIES_MAX 100000

static inline __attribute__((always_inline)) void step(struct life_thread *me,
                                                       enum life_scheme scheme)
{
    struct life_transient *t;
    life_handle type;
    int err;

    /* All that there is may linger until a thread that does not run goes on. */
    for (int tries = 0;
         (err = life_new(me, scheme, ENGINE_TYPE, &type)) == DRASYNC_ENOMEM &&
         tries < TRIES_MAX;
         tries++)
        sched_yield();
    bench_require(!err, "life_new");
    t = engine_begin(me, scheme);
    life_refer(me, scheme, t, 0, all.comm);
    life_refer(me, scheme, t, 1, type);
    bench_require(!life_unref(me, scheme, type), "life_unref");
    life_end(me, scheme, t);
}

/* Has the thread been preempted since this was asked last? */
static bool was_preempted(long *last)
{
    struct rusage usage;
    long before = *last;

    getrusage(RUSAGE_THREAD, &usage);
    *last = usage.ru_nivcsw;
    return *last != before;
}

static inline __attribute__((always_inline)) void go_on(struct life_thread *me,
                                                        enum life_scheme scheme)
{
    double longest = 0, last = bench_now_ns(), now, took;
    uint32_t seen = 0, phase;
    long preempted = 0;

    while (!atomic_load_explicit(&all.over, memory_order_relaxed)) {
        step(me, scheme);
        now = bench_now_ns();
        took = now - last;
        if (took > SUSPICIOUS_NS && was_preempted(&preempted))
            took = 0;
        last = bench_now_ns();
        /* Acquire: a new cycle's time is not the old one's. */
        phase = atomic_load_explicit(&all.phase, memory_order_acquire);
        /* It may have begun and ended within a step. */
        if ((seen & 1 || phase != seen) && took > longest)
            longest = took;
        if (phase != seen && !(phase & 1)) {
            all.longest_ns = longest;
            longest = 0;
            /* Release pairs with cycles(). */
            atomic_store_explicit(&all.told, phase, memory_order_release);
        }
        seen = phase;
    }
}

static void *goes_on(void *arg)
{
    struct life_thread me;

    (void)arg;
    bench_pin(1);
    engine_join(&all.life, &me);
    atomic_store(&all.ready, true);
    if (all.life.shared->scheme == LIFE_HYBRID)
        go_on(&me, LIFE_HYBRID);
    else
        go_on(&me, LIFE_EPOCHS);
    life_thread_end(&me);
    return NULL;
}

/* The median of the longest pauses, in us. */
static double cycles(struct life_thread *me, enum life_scheme scheme)
{
    int count = bench.tiny ? CYCLES_TINY : CYCLES;
    double longest[CYCLES];

    for (int i = 0, tries = 0; i < count; tries++) {
        uint32_t phase = 2 * (uint32_t)tries + 1;

        for (int o = 0; o < OBJECTS; o++)
            bench_require(
                !life_unref(me, scheme, engine_object(me, ENGINE_TYPE, false)),
                "life_unref");
        atomic_store_explicit(&all.phase, phase, memory_order_release);
        life_collect(me, scheme);
        atomic_store_explicit(&all.phase, phase + 1, memory_order_release);
        while (atomic_load_explicit(&all.told, memory_order_acquire) !=
               phase + 1)
            sched_yield();
        longest[i] = all.longest_ns * 1e-3;
        /* 0: the thread did not run meanwhile. */
        i += all.longest_ns > 0;
        bench_require(tries < 1000 * CYCLES, "the other thread does not run");
    }
    return bench_median(longest, count);
}

static struct life_thread *begin(struct life_thread *me,
                                 enum life_scheme scheme, uint64_t linger_bytes)
{
    engine_open(&all.life, scheme,
                sizeof(struct life_shared) + ((uint64_t)64 << 20), 0,
                linger_bytes);
    engine_join(&all.life, me);
    all.comm = engine_object(me, ENGINE_COMM, false);
    for (int i = 0; i < outstanding[bench.now]; i++) {
        all.request[i] = engine_begin(me, scheme);
        life_refer(me, scheme, all.request[i], 0, all.comm);
    }
    return me;
}

static double pause_us(enum life_scheme scheme)
{
    struct life_thread me;
    pthread_t thread;
    double result;

    bench_pin(0);
    /* Only life_collect() runs cycles. */
    begin(&me, scheme, (uint64_t)1 << 40);
    atomic_store(&all.phase, 0);
    atomic_store(&all.told, 0);
    atomic_store(&all.over, false);
    atomic_store(&all.ready, false);
    bench_require(!pthread_create(&thread, NULL, goes_on, NULL),
                  "pthread_create");
    while (!atomic_load(&all.ready))
        sched_yield();
    result = cycles(&me, scheme);
    atomic_store(&all.over, true);
    bench_require(!pthread_join(thread, NULL), "pthread_join");
    engine_close(&all.life, &me);
    return result;
}

static void look_at_lingering(void)
{
    struct life_thread me;
    struct life_stats stats;

    begin(&me, LIFE_EPOCHS, LINGER_BYTES);
    for (int i = 0; i < (bench.tiny ? 1000 : LINGER_ROUNDS); i++) {
        step(&me, LIFE_EPOCHS);
        life_stats(&all.life, &stats);
        if ((double)stats.lingering_bytes / (double)LINGER_BYTES > lingers)
            lingers = (double)stats.lingering_bytes / (double)LINGER_BYTES;
    }
    engine_close(&all.life, &me);
}

static double ours(void *arg)
{
    (void)arg;
    return pause_us(engine_schemes[0]);
}

static double theirs(void *arg)
{
    (void)arg;
    return pause_us(engine_schemes[BENCH_THEIRS + bench.rival]);
}

int main(int argc, char **argv)
{
    cpu_set_t cores;

    bench_begin(&bench, argc, argv);
    sched_getaffinity(0, sizeof(cores), &cores);
    if (CPU_COUNT(&cores) < 2)
        bench_skip(&bench, "two threads need two cores");
    bench_compare(&bench, ours, theirs, NULL);
    for (bench.now = 0; bench.now < bench.cases_count; bench.now++)
        look_at_lingering();
    bench.now = 0;
    bench_extra(&bench, "lingers", lingers);
    return bench_finish(&bench);
}
