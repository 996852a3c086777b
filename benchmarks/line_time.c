/*
 * line_time - how long a cache line takes from one core to another: two threads
 * pass a word to and fro.  Prints the time of one way in ns, the median of
 * several; nothing where there is one core.
 *
 * Not a row: scripts/bench asks before and after each.  On a virtual machine it
 * changes from minute to minute, as its cores are moved to others that share a
 * cache or do not, and all that two ranks of a host share changes with it.
 */
#include "benchmarks/common.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define ROUNDS 10000
#define TIMES  7

static _Alignas(128) _Atomic uint32_t word;

static void stay_on(int core)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    bench_require(!sched_setaffinity(0, sizeof(cores), &cores),
                  "sched_setaffinity");
}

/* Wait for one number and answer with the next. */
static void *answer(void *core)
{
    stay_on(*(int *)core);
    for (uint32_t i = 1; i < 2 * ROUNDS; i += 2) {
        while (atomic_load_explicit(&word, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&word, i + 1, memory_order_release);
    }
    return NULL;
}

static double one_way_ns(int core)
{
    pthread_t other;
    double begin;

    atomic_store(&word, 0);
    bench_require(!pthread_create(&other, NULL, answer, &core), "a thread");
    /* It is there when it has answered. */
    atomic_store(&word, 1);
    while (atomic_load(&word) != 2)
        ;
    begin = bench_now_ns();
    for (uint32_t i = 3; i < 2 * ROUNDS; i += 2) {
        atomic_store_explicit(&word, i, memory_order_release);
        while (atomic_load_explicit(&word, memory_order_acquire) != i + 1)
            ;
    }
    begin = bench_now_ns() - begin;
    bench_require(!pthread_join(other, NULL), "a thread's end");
    return begin / (2 * (ROUNDS - 1));
}

/* The first two cores that this process may use; false: there are no two. */
static bool two_cores(int core[2])
{
    cpu_set_t mine;
    int found = 0;

    bench_require(!sched_getaffinity(0, sizeof(mine), &mine),
                  "sched_getaffinity");
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &mine))
            core[found++] = i;
    return found == 2;
}

int main(void)
{
    double ns[TIMES];
    int core[2];

    if (!two_cores(core))
        return 0;
    stay_on(core[0]);
    for (int i = 0; i < TIMES; i++)
        ns[i] = one_way_ns(core[1]);
    printf("%.0f\n", bench_median(ns, TIMES));
    return 0;
}
