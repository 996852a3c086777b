/*
 * alloc_threads - objects of 48 bytes freed and allocated by 1, 2 and 4 threads
 * of a rank at once.
 *
 * ours    drasync_alloc() and drasync_free(): all threads in one region (same),
 *         each in its own (own); sys_alloc() and sys_free() in one (sys)
 * theirs  mi_malloc() and mi_free() by as many threads
 *
 * A thread has 1,024 objects.  A step frees a random one and allocates another
 * in its place, whose first word is written.  All threads of all ranks begin
 * when the last one has its objects.  Timed: the steps, from the first one's
 * beginning to the last one's end, of whatever rank (all are on one host, and
 * read one clock).  The rate is what all of them did in that time, so ranks that
 * get the cores one after the other count for no more than those that share
 * them.  scale_NAME is what two threads do, by what one does.
 */
#include "benchmarks/common.h"

#include "config.h"
#include "include/myrmics.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#ifdef HAVE_MIMALLOC

#include <mimalloc.h>

#define LIVE        1024
#define BYTES       48
#define THREADS_MAX 4
#define STEPS       500000
#define STEPS_TINY  2000

enum form { SAME, OWN, SYS };

static const struct {
    enum form form;
    int threads;
} what[] = {{SAME, 1}, {SAME, 2}, {SAME, 4}, {OWN, 2},
            {OWN, 4},  {SYS, 1},  {SYS, 2},  {SYS, 4}};
static const char *const names[] = {"same_1", "same_2", "same_4", "own_2",
                                    "own_4",  "sys_1",  "sys_2",  "sys_4"};

#define CASES ((int)(sizeof(what) / sizeof(what[0])))

/* What all threads share. */
static struct {
    cpu_set_t cores; /* of the process, before its first thread was pinned */
    int rank, ranks;
    size_t steps;
    uint16_t *slot; /* the objects to replace, [steps] */
    /* Of the threads and the one that started them. */
    pthread_barrier_t ready, begin;
} all;

struct worker {
    _Alignas(64) pthread_t thread;
    int number;
    drasync_region_t region;
    rid_t rid;
    void *(*work)(void *worker);
    void *object[LIVE];
    double begin_ns, end_ns;
};

static inline void *mimalloc_alloc(const struct worker *w)
{
    (void)w;
    return mi_malloc(BYTES);
}

static inline void *native_alloc(const struct worker *w)
{
    void *object = NULL;

    bench_check(drasync_alloc(w->region, BYTES, &object), "drasync_alloc");
    return object;
}

static inline void native_free(void *object)
{
    bench_check(drasync_free(object), "drasync_free");
}

static inline void *myrmics_alloc(const struct worker *w)
{
    return sys_alloc(BYTES, w->rid);
}

static inline void myrmics_free(void *object)
{
    sys_free(object);
}

/* Inlined with both functions known. */
static inline __attribute__((always_inline)) void *
work(struct worker *w, void *(*alloc)(const struct worker *),
     void (*give)(void *))
{
    sched_setaffinity(0, sizeof(all.cores), &all.cores);
    bench_pin(all.rank + w->number);
    for (size_t i = 0; i < LIVE; i++)
        w->object[i] = alloc(w);
    pthread_barrier_wait(&all.ready);
    pthread_barrier_wait(&all.begin);
    w->begin_ns = bench_now_ns();
    for (size_t i = 0; i < all.steps; i++) {
        void **object = &w->object[all.slot[i]];

        give(*object);
        *object = alloc(w);
        *(volatile size_t *)*object = i;
    }
    w->end_ns = bench_now_ns();
    for (size_t i = 0; i < LIVE; i++)
        give(w->object[i]);
    return NULL;
}

static void *work_native(void *w)
{
    return work(w, native_alloc, native_free);
}

static void *work_myrmics(void *w)
{
    return work(w, myrmics_alloc, myrmics_free);
}

static void *work_mimalloc(void *w)
{
    return work(w, mimalloc_alloc, mi_free);
}

/* Let the threads begin when those of all ranks are ready. */
static void begin(void)
{
    pthread_barrier_wait(&all.ready);
    MPI_Barrier(MPI_COMM_WORLD);
    pthread_barrier_wait(&all.begin);
}

/* Millions of steps a second, of all threads and ranks. */
static double rate(struct worker *worker, int threads)
{
    const unsigned waiting = (unsigned)threads + 1;
    double first = 0, last = 0;

    bench_require(!pthread_barrier_init(&all.ready, NULL, waiting) &&
                      !pthread_barrier_init(&all.begin, NULL, waiting),
                  "pthread_barrier_init");
    for (int i = 0; i < threads; i++) {
        worker[i].number = i;
        bench_require(!pthread_create(&worker[i].thread, NULL, worker[i].work,
                                      &worker[i]),
                      "pthread_create");
    }
    begin();
    for (int i = 0; i < threads; i++) {
        bench_require(!pthread_join(worker[i].thread, NULL), "pthread_join");
        if (!i || worker[i].begin_ns < first)
            first = worker[i].begin_ns;
        if (!i || worker[i].end_ns > last)
            last = worker[i].end_ns;
    }
    pthread_barrier_destroy(&all.ready);
    pthread_barrier_destroy(&all.begin);
    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return (double)all.ranks * threads * (double)all.steps * 1e3 /
           (last - first);
}

static double ours(void *arg)
{
    const struct bench *b = arg;
    const int threads = what[b->now].threads;
    const enum form form = what[b->now].form;
    struct worker worker[THREADS_MAX];
    drasync_region_t region[THREADS_MAX];
    int regions = form == SYS ? 0 : form == OWN ? threads : 1;
    rid_t rid = form == SYS ? sys_ralloc(0, 0) : 0;
    double result;

    for (int i = 0; i < regions; i++)
        bench_check(drasync_new_region(&region[i]), "drasync_new_region");
    for (int i = 0; i < threads; i++) {
        worker[i].work = form == SYS ? work_myrmics : work_native;
        worker[i].region = form == SYS ? NULL : region[form == OWN ? i : 0];
        worker[i].rid = rid;
    }
    result = rate(worker, threads);
    for (int i = 0; i < regions; i++)
        bench_check(drasync_delete(region[i]), "drasync_delete");
    if (rid)
        sys_rfree(rid);
    return result;
}

static double theirs(void *arg)
{
    const struct bench *b = arg;
    const int threads = what[b->now].threads;
    struct worker worker[THREADS_MAX];

    for (int i = 0; i < threads; i++)
        worker[i].work = work_mimalloc;
    return rate(worker, threads);
}

static void start(struct bench *b)
{
    uint64_t seed = 1;

    all.rank = b->rank;
    all.ranks = b->ranks;
    all.steps = b->tiny ? STEPS_TINY : STEPS;
    all.slot = malloc(all.steps * sizeof(*all.slot));
    bench_require(all.slot != NULL, "malloc");
    for (size_t i = 0; i < all.steps; i++)
        all.slot[i] = (uint16_t)(bench_random(&seed) % LIVE);
}

/* What case @two does, by what case @one does. */
static void add_scale(struct bench *b, const char *name, int one, int two)
{
    bench_extra(
        b, name,
        bench_median(b->value[two][BENCH_OURS], b->count[two][BENCH_OURS]) /
            bench_median(b->value[one][BENCH_OURS], b->count[one][BENCH_OURS]));
}

#endif

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "alloc_threads",
        .unit = "M/s",
        .what = "drasync_free() and drasync_alloc() of 48 bytes by 1, 2 and 4 "
                "threads, in one\nregion and in their own, sys_free() and "
                "sys_alloc(); mimalloc with as many\nthreads.\n",
        .kind = BENCH_RATE,
        .runs = 5,
    };

#ifdef HAVE_MIMALLOC
    bench.cases = names;
    bench.cases_count = CASES;
    bench_require(!sched_getaffinity(0, sizeof(all.cores), &all.cores),
                  "sched_getaffinity");
    bench_start(&bench, argc, argv, 1);
    start(&bench);
    bench_compare(&bench, ours, theirs, &bench);
    if (bench.rank == 0 && bench.side == BENCH_BOTH) {
        add_scale(&bench, "scale_same", 0, 1);
        add_scale(&bench, "scale_own", 0, 3);
        add_scale(&bench, "scale_sys", 5, 6);
    }
    return bench_finish(&bench);
#else
    bench_options(&bench, argc, argv);
    bench_skip(&bench, "built without mimalloc (Debian: libmimalloc-dev)");
#endif
}
