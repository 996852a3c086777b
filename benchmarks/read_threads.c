/*
 * read_threads - two threads of a rank read the same region, each as often as it
 * can, and one thread alone.
 *
 * ours    drasync_acquire() for READ and drasync_release(), of a region that
 *         this node made
 * theirs  rcu_read_lock() and rcu_read_unlock() of liburcu, the flavour that
 *         uses membarrier(), with its functions inline (urcu);
 *         pthread_rwlock_rdlock() and unlock of one lock (rwlock)
 *
 * In between each reads a word.  scale is the time of both calls with two threads,
 * by that with one.
 */
#include "config.h"

#include "benchmarks/threads_row.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef HAVE_URCU_MEMB
#define URCU_INLINE_SMALL_FUNCTIONS
#include <urcu/urcu-memb.h>
#endif

#define CALLS      10000
#define CALLS_TINY 100

enum { URCU, RWLOCK };
enum { ONE, TWO };

static const char *const rivals[] = {"urcu", "rwlock"};
static const char *const cases[] = {"one", "two"};

static struct bench bench = {
    .name = "read_threads",
    .unit = "ns",
    .what = "READ acquire and release of one region by two threads; a read "
            "side of liburcu; a\npthread_rwlock.\n",
    .runs = 9,
    .cases = cases,
    .cases_count = 2,
    .main_case = TWO + 1,
    .rivals = rivals,
    .rivals_count = RWLOCK + 1,
};

struct both {
    struct threads_row row;
    drasync_region_t region;
    uint64_t *object;
    _Alignas(64) pthread_rwlock_t lock;
    _Alignas(64) uint64_t value;
};

static void look(const uint64_t *object)
{
    uint64_t value = *(const volatile uint64_t *)object;

    bench_keep(&value);
}

static inline void call_ours(void *arg, size_t i)
{
    const struct both *b = arg;

    (void)i;
    threads_check(drasync_acquire(b->region, DRASYNC_READ), "acquire");
    look(b->object);
    threads_check(drasync_release(b->region), "release");
}

static void work_ours(struct threads_worker *w)
{
    threads_parts(w, call_ours);
}

static inline void call_rwlock(void *arg, size_t i)
{
    struct both *b = arg;

    (void)i;
    if (pthread_rwlock_rdlock(&b->lock))
        bench_require(false, "rdlock");
    look(&b->value);
    if (pthread_rwlock_unlock(&b->lock))
        bench_require(false, "unlock");
}

static void work_rwlock(struct threads_worker *w)
{
    threads_parts(w, call_rwlock);
}

static inline void call_urcu(void *arg, size_t i)
{
#ifdef HAVE_URCU_MEMB
    const struct both *b = arg;

    (void)i;
    urcu_memb_read_lock();
    look(&b->value);
    urcu_memb_read_unlock();
#else
    (void)arg;
    (void)i;
#endif
}

static void work_urcu(struct threads_worker *w)
{
#ifdef HAVE_URCU_MEMB
    urcu_memb_register_thread();
    threads_parts(w, call_urcu);
    urcu_memb_unregister_thread();
#else
    threads_parts(w, call_urcu);
#endif
}

static double ours(void *arg)
{
    struct both *b = arg;

    return threads_row_ns(&b->row, bench.now == TWO ? 2 : 1, work_ours, b);
}

static double theirs(void *arg)
{
    struct both *b = arg;

    return threads_row_ns(&b->row, bench.now == TWO ? 2 : 1,
                          bench.rival == URCU ? work_urcu : work_rwlock, b);
}

static void prepare(struct both *b)
{
    void *object;

    bench_check(drasync_new_region(&b->region), "new_region");
    bench_check(drasync_alloc(b->region, 64, &object), "alloc");
    b->object = object;
    *b->object = 1;
    bench_check(drasync_release(b->region), "release");
    bench_require(!pthread_rwlock_init(&b->lock, NULL), "rwlock");
}

/* What two threads take, by what one does. */
static void add_scale(void)
{
    double ns[2];

    for (int i = ONE; i <= TWO; i++)
        ns[i] = bench_median(bench.value[i][BENCH_OURS],
                             bench.count[i][BENCH_OURS]);
    bench_extra(&bench, "scale", ns[TWO] / ns[ONE]);
}

int main(int argc, char **argv)
{
    static struct both both;

    threads_row_cores(&both.row);
    bench_start(&bench, argc, argv, 1);
#ifndef HAVE_URCU_MEMB
    bench.missing[BENCH_THEIRS + URCU] = true;
#endif
    if (bench.cores < 2)
        bench_skip(&bench, "two threads that run at once need two cores");
    both.row.calls = bench.tiny ? CALLS_TINY : CALLS;
    if (bench.rank == 0) {
        prepare(&both);
        bench_compare(&bench, ours, theirs, &both);
        if (bench.side == BENCH_BOTH)
            add_scale();
    }
    bench_barrier_asleep();
    return bench_finish(&bench);
}
