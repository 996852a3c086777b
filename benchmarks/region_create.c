/*
 * region_create - make a region, 10 objects of 48 bytes in it, each written,
 * and delete the region.
 *
 * ours    drasync_new_region(), drasync_alloc(), drasync_delete()
 * theirs  apr_pool_create(), apr_palloc(), apr_pool_destroy(), with the
 *         allocator that APR makes for each process; without APR, talloc_new(),
 *         talloc_size(), talloc_free()
 *
 * Both are measured where both are there: fields apr= and talloc=.
 */
#include "benchmarks/common.h"
#include "benchmarks/objects.h"

#include "config.h"

#define ROUNDS      20000
#define ROUNDS_TINY 100
#define OBJECTS     10

static size_t rounds;

static double ours(void *arg)
{
    double begin = bench_now_ns();

    (void)arg;
    for (size_t i = 0; i < rounds; i++) {
        region r = new_region();

        objects_ralloc(r, OBJECTS);
        delete_region(r);
    }
    return (bench_now_ns() - begin) / (double)rounds;
}

#ifdef HAVE_APR

#include <apr_general.h>
#include <apr_pools.h>

static double with_apr(void *arg)
{
    double begin = bench_now_ns();

    (void)arg;
    for (size_t i = 0; i < rounds; i++) {
        apr_pool_t *pool = NULL;

        bench_require(!apr_pool_create(&pool, NULL), "apr_pool_create");
        for (size_t j = 0; j < OBJECTS; j++)
            object_write(apr_palloc(pool, sizeof(struct object)), NULL, j);
        apr_pool_destroy(pool);
    }
    return (bench_now_ns() - begin) / (double)rounds;
}

#endif
#ifdef HAVE_TALLOC

#include <talloc.h>

static double with_talloc(void *arg)
{
    double begin = bench_now_ns();

    (void)arg;
    for (size_t i = 0; i < rounds; i++) {
        void *pool = talloc_new(NULL);

        for (size_t j = 0; j < OBJECTS; j++)
            object_write(talloc_size(pool, sizeof(struct object)), NULL, j);
        talloc_free(pool);
    }
    return (bench_now_ns() - begin) / (double)rounds;
}

#endif

static struct bench bench = {
    .name = "region_create",
    .unit = "ns",
    .what = "Create a region, 10 objects, delete it; the same with an APR pool "
            "or\ntalloc.\n",
    .runs = 15,
};

#if defined(HAVE_APR) && defined(HAVE_TALLOC)
static double apr_ns[BENCH_RUNS_MAX], talloc_ns[BENCH_RUNS_MAX];
static int measured;

/* What the line compares with is the faster of the two: APR. */
static double theirs(void *arg)
{
    double apr = with_apr(arg);

    if (measured < bench.runs) {
        apr_ns[measured] = apr;
        talloc_ns[measured++] = with_talloc(arg);
    }
    return apr;
}

static void tell_both(void)
{
    bench_extra(&bench, "apr", bench_median(apr_ns, measured));
    bench_extra(&bench, "talloc", bench_median(talloc_ns, measured));
}
#elif defined(HAVE_APR)
#define theirs      with_apr
#define tell_both() ((void)0)
#elif defined(HAVE_TALLOC)
#define theirs      with_talloc
#define tell_both() ((void)0)
#endif

int main(int argc, char **argv)
{
#if defined(HAVE_APR) || defined(HAVE_TALLOC)
    bench_start(&bench, argc, argv, 1);
    rounds = bench.tiny ? ROUNDS_TINY : ROUNDS;
#ifdef HAVE_APR
    bench_require(!apr_initialize(), "apr_initialize");
#endif
    bench_compare(&bench, ours, theirs, NULL);
    tell_both();
    return bench_finish(&bench);
#else
    (void)ours;
    bench_options(&bench, argc, argv);
    bench_skip(&bench, "built without APR and talloc (Debian: libapr1-dev)");
#endif
}
