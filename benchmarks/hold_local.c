/*
 * hold_local - take and give back the right to write, which nobody else wants.
 *
 * ours    drasync_acquire() for WRITE and drasync_release(), of a region that
 *         this node made
 * theirs  pthread_rwlock_wrlock() and unlock of a process-shared lock in shared
 *         memory
 *
 * Two ranks on a node, so that nothing can be left out because a process is
 * alone; the other one sleeps.  Timed: many pairs, one after the other, with a
 * write in between.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>

#define PAIRS      1000000
#define PAIRS_TINY 1000

struct both {
    size_t pairs;
    drasync_region_t region;
    size_t *object;
    struct {
        pthread_rwlock_t lock;
        size_t value;
    } * shared;
};

static double ours(void *arg)
{
    const struct both *b = arg;
    double begin = bench_now_ns();

    for (size_t i = 0; i < b->pairs; i++) {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        *(volatile size_t *)b->object = i;
        bench_check(drasync_release(b->region), "release");
    }
    return (bench_now_ns() - begin) / (double)b->pairs;
}

static double theirs(void *arg)
{
    const struct both *b = arg;
    double begin = bench_now_ns();

    for (size_t i = 0; i < b->pairs; i++) {
        bench_require(!pthread_rwlock_wrlock(&b->shared->lock), "wrlock");
        *(volatile size_t *)&b->shared->value = i;
        bench_require(!pthread_rwlock_unlock(&b->shared->lock), "unlock");
    }
    return (bench_now_ns() - begin) / (double)b->pairs;
}

static void prepare(struct both *b)
{
    pthread_rwlockattr_t attr;
    void *object;

    bench_check(drasync_new_region(&b->region), "new_region");
    bench_check(drasync_alloc(b->region, 64, &object), "alloc");
    bench_check(drasync_release(b->region), "release");
    b->object = object;
    b->shared = mmap(NULL, sizeof(*b->shared), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_require(b->shared != MAP_FAILED, "mmap");
    pthread_rwlockattr_init(&attr);
    pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    bench_require(!pthread_rwlock_init(&b->shared->lock, &attr), "rwlock");
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "hold_local",
        .unit = "ns",
        .what = "WRITE acquire and release at home; a process-shared "
                "pthread_rwlock.\n",
        .runs = 15,
    };
    struct both both;

    bench_start(&bench, argc, argv, 2);
    both.pairs = bench.tiny ? PAIRS_TINY : PAIRS;
    if (bench.rank == 0) {
        prepare(&both);
        bench_compare(&bench, ours, theirs, &both);
    }
    bench_barrier_asleep();
    return bench_finish(&bench);
}
