/*
 * line_time [--tiny] - how long a cache line takes from one core to another: two
 * threads pass a word to and fro.  Prints the time of one way in ns, the median
 * of several; nothing where there is one core.  --tiny: soon, not well.
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
#include <string.h>

/* Many, so that the threads' start and end do not count. */
#define ROUNDS      100000
#define ROUNDS_TINY 1000
#define TIMES       7

static uint32_t rounds = ROUNDS;
static _Alignas(128) _Atomic uint32_t word;

/* Wait for one number, from *@first on, and answer with the next.  Two of them
 * stay on two cores. */
static void *pass(void *first)
{
    uint32_t i = *(const uint32_t *)first;

    bench_pin((int)i);
    for (; i < 2 * rounds; i += 2) {
        while (atomic_load_explicit(&word, memory_order_acquire) != i)
            ;
        atomic_store_explicit(&word, i + 1, memory_order_release);
    }
    return NULL;
}

static double one_way_ns(void)
{
    static const uint32_t first[2] = {0, 1};
    pthread_t thread[2];
    double begin;

    atomic_store(&word, UINT32_MAX);
    for (int i = 0; i < 2; i++)
        bench_require(!pthread_create(&thread[i], NULL, pass,
                                      (void *)(uintptr_t)&first[i]),
                      "a thread");
    begin = bench_now_ns();
    atomic_store(&word, 0);
    for (int i = 0; i < 2; i++)
        bench_require(!pthread_join(thread[i], NULL), "a thread's end");
    return (bench_now_ns() - begin) / (2 * rounds);
}

int main(int argc, char **argv)
{
    double ns[TIMES];
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof(allowed), &allowed) ||
        CPU_COUNT(&allowed) < 2)
        return 0;
    if (argc > 1 && !strcmp(argv[1], "--tiny"))
        rounds = ROUNDS_TINY;
    for (int i = 0; i < TIMES; i++)
        ns[i] = one_way_ns();
    printf("%.0f\n", bench_median(ns, TIMES));
    return 0;
}
