/*
 * alloc_churn - a trace of allocations and frees of 16 bytes to 4 KiB, all
 * sizes on a logarithmic scale equally likely, with 100,000 objects alive.
 *
 * ours    sys_alloc() in one region, and sys_free()
 * theirs  mi_malloc() and mi_free()
 *
 * A step frees a random object and allocates another in its place, of which the
 * first and the last word are written.  Timed: the steps, not the filling.
 */
#include "benchmarks/common.h"

#include "config.h"
#include "include/myrmics.h"

#include <stdlib.h>

#ifdef HAVE_MIMALLOC

#include <mimalloc.h>

#define LIVE       100000
#define STEPS      4000000
#define STEPS_TINY 1000

struct step {
    uint32_t slot, bytes;
};

struct trace {
    struct step *step;
    size_t steps;
    void **slot;
};

static rid_t churn_region;

typedef void *alloc_fn(size_t bytes);
typedef void free_fn(void *ptr);

static inline void *ours_alloc(size_t bytes)
{
    return sys_alloc(bytes, churn_region);
}

static inline void ours_free(void *ptr)
{
    sys_free(ptr);
}

static inline void *place(void *ptr, size_t bytes)
{
    char *p = ptr;

    *(volatile uint64_t *)(void *)p = bytes;
    *(volatile uint64_t *)(void *)(p + (bytes & ~(size_t)7) - 8) = bytes;
    return ptr;
}

/* Inlined with both pairs of functions known. */
static inline __attribute__((always_inline)) double
churn(const struct trace *t, alloc_fn *alloc, free_fn *give)
{
    double begin, end;

    for (size_t i = 0; i < LIVE; i++)
        t->slot[i] = place(alloc(t->step[i].bytes), t->step[i].bytes);
    begin = bench_now_ns();
    for (size_t i = LIVE; i < LIVE + t->steps; i++) {
        const struct step *s = &t->step[i];

        give(t->slot[s->slot]);
        t->slot[s->slot] = place(alloc(s->bytes), s->bytes);
    }
    end = bench_now_ns();
    for (size_t i = 0; i < LIVE; i++)
        give(t->slot[i]);
    return (end - begin) / (double)t->steps;
}

static double ours(void *arg)
{
    double ns;

    churn_region = sys_ralloc(0, 0);
    ns = churn(arg, ours_alloc, ours_free);
    sys_rfree(churn_region);
    return ns;
}

static double theirs(void *arg)
{
    return churn(arg, mi_malloc, mi_free);
}

static void trace_make(struct trace *t, size_t steps)
{
    uint64_t seed = 1;

    t->steps = steps;
    t->step = malloc((LIVE + steps) * sizeof(*t->step));
    t->slot = malloc(LIVE * sizeof(*t->slot));
    bench_require(t->step && t->slot, "malloc");
    for (size_t i = 0; i < LIVE + steps; i++) {
        uint64_t random = bench_random(&seed);
        uint32_t base = 16u << (random % 8);

        t->step[i].slot = (uint32_t)((random >> 3) % LIVE);
        t->step[i].bytes =
            base + (uint32_t)((random >> 40) % base) + (base == 2048);
    }
}

#endif

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "alloc_churn",
        .unit = "ns/step",
        .what = "sys_alloc() and sys_free(), and mimalloc: the same trace of "
                "mixed sizes\nwith 100,000 objects alive.\n",
        .runs = 9,
    };

#ifdef HAVE_MIMALLOC
    struct trace trace;

    bench_start(&bench, argc, argv, 1);
    trace_make(&trace, bench.tiny ? STEPS_TINY : STEPS);
    bench_compare(&bench, ours, theirs, &trace);
    return bench_finish(&bench);
#else
    bench_options(&bench, argc, argv);
    bench_skip(&bench, "built without mimalloc (Debian: libmimalloc-dev)");
#endif
}
