/*
 * threads_row.h - rows about calls that threads of a rank make at once: so many
 * threads, each on a core of its own, in short parts that begin when all of them
 * run.  Parts in which the kernel took a core from one of them do not count: the
 * others were alone then.
 */
#ifndef BENCHMARKS_THREADS_ROW_H
#define BENCHMARKS_THREADS_ROW_H

#include "benchmarks/common.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#define THREADS_ROW_MAX   2
#define THREADS_ROW_PARTS 200

/* bench_check() where a call of it would be much of what is timed. */
static inline void threads_check(int err, const char *what)
{
    if (__builtin_expect(err, 0))
        bench_check(err, what);
}

struct threads_worker;
typedef void threads_work(struct threads_worker *w);

/* What all threads of a measurement share. */
struct threads_row {
    cpu_set_t cores; /* of the process, before a thread was pinned */
    size_t calls;    /* in a part */
    int first;       /* the core of the first thread */
    void *arg;
    threads_work *work;
    int threads;
    _Alignas(64) _Atomic int ready; /* threads that came to a part, of all */
};

struct threads_worker {
    _Alignas(64) pthread_t thread;
    struct threads_row *row;
    int number;
    double begin_ns[THREADS_ROW_PARTS], end_ns[THREADS_ROW_PARTS];
    bool torn[THREADS_ROW_PARTS]; /* the thread did not run all the time */
};

/* Before anything is pinned: before bench_start(). */
static inline void threads_row_cores(struct threads_row *row)
{
    bench_require(!sched_getaffinity(0, sizeof(row->cores), &row->cores),
                  "sched_getaffinity");
}

/* All threads run: spinning, as who sleeps takes a while to wake up. */
static inline void threads_meet(struct threads_row *row, int part)
{
    int all = (part + 2) * row->threads;

    /* The default order: it is not timed. */
    atomic_fetch_add(&row->ready, 1);
    for (int spins = 0; atomic_load(&row->ready) < all; spins++)
        if (spins > 10000)
            sched_yield();
}

/* How often the kernel has taken the core from this thread. */
static inline long threads_switches(void)
{
    struct rusage usage;

    bench_require(!getrusage(RUSAGE_THREAD, &usage), "getrusage");
    return usage.ru_nivcsw + usage.ru_nvcsw;
}

/* For threads_work: all parts, of calls of @call.  The first is a warm-up. */
static inline __attribute__((always_inline)) void
threads_parts(struct threads_worker *w, void (*call)(void *arg, size_t i))
{
    struct threads_row *row = w->row;

    for (int part = -1; part < THREADS_ROW_PARTS; part++) {
        double begin, end;
        long switches;

        threads_meet(row, part);
        switches = threads_switches();
        begin = bench_now_ns();
        for (size_t i = 0; i < row->calls; i++)
            call(row->arg, i);
        end = bench_now_ns();
        if (part < 0)
            continue;
        w->begin_ns[part] = begin;
        w->end_ns[part] = end;
        w->torn[part] = threads_switches() != switches;
    }
}

static inline void *threads_thread(void *worker)
{
    struct threads_worker *w = worker;

    sched_setaffinity(0, sizeof(w->row->cores), &w->row->cores);
    bench_pin(w->row->first + w->number);
    w->row->work(w);
    return NULL;
}

/* From the first thread's beginning to the last one's end; negative: torn. */
static inline double threads_part_ns(const struct threads_worker *w,
                                     int threads, int part)
{
    double begin = w[0].begin_ns[part], end = w[0].end_ns[part];
    bool torn = w[0].torn[part];

    for (int i = 1; i < threads; i++) {
        if (w[i].begin_ns[part] < begin)
            begin = w[i].begin_ns[part];
        if (w[i].end_ns[part] > end)
            end = w[i].end_ns[part];
        torn = torn || w[i].torn[part];
    }
    return torn ? -1 : end - begin;
}

/* The median of the parts that count; of a machine on which none does, that of
 * all. */
static inline double threads_parts_ns(struct threads_worker *w, int threads)
{
    double ns[THREADS_ROW_PARTS];
    int count = 0;

    for (int part = 0; part < THREADS_ROW_PARTS; part++) {
        ns[count] = threads_part_ns(w, threads, part);
        count += ns[count] >= 0;
    }
    if (count)
        return bench_median(ns, count);
    for (int i = 0; i < threads; i++)
        for (int part = 0; part < THREADS_ROW_PARTS; part++)
            w[i].torn[part] = false;
    return threads_parts_ns(w, threads);
}

/* Nanoseconds that a call takes a thread, where @threads do @work. */
static inline double threads_row_ns(struct threads_row *row, int threads,
                                    threads_work *work, void *arg)
{
    static struct threads_worker w[THREADS_ROW_MAX];

    row->work = work;
    row->arg = arg;
    row->threads = threads;
    atomic_store(&row->ready, 0);
    for (int i = 0; i < threads; i++) {
        w[i].row = row;
        w[i].number = i;
        bench_require(
            !pthread_create(&w[i].thread, NULL, threads_thread, &w[i]),
            "pthread_create");
    }
    for (int i = 0; i < threads; i++)
        bench_require(!pthread_join(w[i].thread, NULL), "pthread_join");
    return threads_parts_ns(w, threads) / (double)row->calls;
}

#endif
