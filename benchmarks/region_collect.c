/*
 * region_collect - regions that end by themselves, and regions that are deleted.
 *
 * end      ours: a new region that is managed, 10 objects of 48 bytes, released,
 *          its one reference given back; theirs: the same region deleted after it
 *          was released
 * circles  ours: pairs of regions that only refer to each other end in one
 *          drasync_collect(); theirs: as many regions are deleted one by one.
 *          Not timed: making them
 * read     a thread reads a region again and again, while another one ends
 *          circles (ours), or while that one computes (theirs): the two ranks have
 *          four threads, and the machine maybe fewer cores
 *
 * Two ranks, each a node of its own, which do the same at the same time.  Times
 * are of the slower rank, for each region, and for each READ.
 */
#include "benchmarks/common.h"
#include "benchmarks/objects.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define OBJECTS      10
#define ROUNDS       20000
#define ROUNDS_TINY  100
#define REGIONS      100000
#define REGIONS_TINY 100
#define READS        1000
#define COMPUTE_NS   200000000.0

enum { END, CIRCLES, READ_BESIDE };

static const char *const cases[] = {"end", "circles", "read"};
static const char *const rivals[] = {"delete"};

static struct bench bench = {
    .name = "region_collect",
    .unit = "ns",
    .what = "Managed regions that end, alone and in circles, and READ beside "
            "that; the same\nregions deleted.\n",
    .runs = 5,
    .cases = cases,
    .cases_count = READ_BESIDE + 1,
    .main_case = END + 1,
    .rivals = rivals,
    .rivals_count = 1,
};

static size_t rounds, regions;

/* --- One after the other -------------------------------------------------- */

static double end_each(bool managed)
{
    double begin = bench_now_ns();

    for (size_t i = 0; i < rounds; i++) {
        region r = new_region();

        if (managed)
            bench_check(drasync_manage(r), "manage");
        objects_ralloc(r, OBJECTS);
        bench_check(drasync_release(r), "release");
        bench_check(managed ? drasync_unref(r) : drasync_delete(r), "end");
    }
    return (bench_now_ns() - begin) / (double)rounds;
}

/* --- In circles ----------------------------------------------------------- */

static drasync_region_t *many_make(bool circles)
{
    drasync_region_t *r = malloc(regions * sizeof(drasync_region_t));

    bench_require(r != NULL, "malloc");
    for (size_t i = 0; i < regions; i++) {
        bench_check(drasync_new_region(&r[i]), "new_region");
        if (circles)
            bench_check(drasync_manage(r[i]), "manage");
    }
    for (size_t i = 0; i < regions && circles; i++)
        bench_check(drasync_link(r[i], r[i ^ 1]), "link");
    for (size_t i = 0; i < regions; i++) {
        bench_check(drasync_release(r[i]), "release");
        if (circles)
            bench_check(drasync_unref(r[i]), "unref");
    }
    return r;
}

static double end_many(bool circles)
{
    struct drasync_managed_stats stats;
    drasync_region_t *r = many_make(circles);
    double begin;

    bench_barrier_asleep();
    begin = bench_now_ns();
    if (circles)
        bench_check(drasync_collect(), "collect");
    for (size_t i = 0; i < regions && !circles; i++)
        bench_check(drasync_delete(r[i]), "delete");
    begin = (bench_now_ns() - begin) / (double)regions;
    bench_check(drasync_get_managed_stats(&stats), "stats");
    bench_require(stats.managed == stats.ended, "circles end");
    free(r);
    return begin;
}

/* --- Beside readers ------------------------------------------------------- */

struct reader {
    drasync_region_t region;
    uint64_t *object;
    _Atomic bool stop;
    double ns;
};

static void *read_on(void *arg)
{
    struct reader *r = arg;
    double begin = bench_now_ns();
    uint64_t reads = 0, sum = 0;

    bench_pin(bench.rank + 1);
    do {
        for (int i = 0; i < READS; i++) {
            bench_check(drasync_acquire(r->region, DRASYNC_READ), "acquire");
            sum += *(volatile uint64_t *)r->object;
            bench_check(drasync_release(r->region), "release");
        }
        reads += READS;
    } while (!atomic_load(&r->stop));
    bench_keep(&sum);
    r->ns = (bench_now_ns() - begin) / (double)reads;
    return NULL;
}

static void compute(void)
{
    double end = bench_now_ns() + COMPUTE_NS;
    uint64_t x = 1;

    while (bench_now_ns() < end)
        for (int i = 0; i < READS; i++)
            bench_random(&x);
    bench_keep(&x);
}

static double read_beside(bool circles)
{
    struct reader reader = {0};
    drasync_region_t *r = circles ? many_make(true) : NULL;
    pthread_t thread;
    void *object;

    bench_check(drasync_new_region(&reader.region), "new_region");
    bench_check(drasync_alloc(reader.region, 64, &object), "alloc");
    reader.object = object;
    *reader.object = 1;
    bench_check(drasync_release(reader.region), "release");
    bench_barrier_asleep();
    bench_require(!pthread_create(&thread, NULL, read_on, &reader),
                  "pthread_create");
    if (circles)
        bench_check(drasync_collect(), "collect");
    else
        compute();
    atomic_store(&reader.stop, true);
    bench_require(!pthread_join(thread, NULL), "pthread_join");
    bench_check(drasync_delete(reader.region), "delete");
    free(r);
    return reader.ns;
}

/* --- Both sides ----------------------------------------------------------- */

static double measure(bool managed)
{
    double ns, most;

    bench_barrier_asleep();
    ns = bench.now == END       ? end_each(managed)
         : bench.now == CIRCLES ? end_many(managed)
                                : read_beside(managed);
    bench_barrier_asleep();
    MPI_Allreduce(&ns, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double ours(void *arg)
{
    (void)arg;
    return measure(true);
}

static double theirs(void *arg)
{
    (void)arg;
    return measure(false);
}

int main(int argc, char **argv)
{
    bench_require(!setenv("DRASYNC_NODE", "rank", 1), "setenv");
    bench_begin(&bench, argc, argv);
    bench_drasync_start(&bench, 2);
    rounds = bench.tiny ? ROUNDS_TINY : ROUNDS;
    regions = bench.tiny ? REGIONS_TINY : REGIONS;
    bench_compare(&bench, ours, theirs, NULL);
    return bench_finish(&bench);
}
