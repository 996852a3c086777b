/* Threads of a rank and managed regions: references to one, and a hold of what
 * another thread looks at for circles. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "native_managed.h"

static drasync_region_t shared_region;

static void *refs(void *arg)
{
    drasync_region_t got;
    drasync_weak_t weak;

    (void)arg;
    for (int i = 0; i < 1000; i++) {
        OK(drasync_ref(shared_region));
        OK(drasync_weak(shared_region, &weak));
        OK(drasync_weak_lock(&weak, &got));
        OK(drasync_unref(shared_region));
        OK(drasync_unref(got));
    }
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    struct node *node;

    shared_region = make(&node, 22);
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, refs, NULL));
    for (int i = 0; i < 4; i++)
        CHECK(!pthread_join(thread[i], NULL));
    read_it(shared_region, 22);
    OK(drasync_unref(shared_region));
    wait_for_ends();
}

static _Atomic bool over;

/* As long as it is there: never while the thread holds it is it gone. */
static void *read_on(void *arg)
{
    drasync_region_t region = arg;
    int err;
    void *v;

    while (!(err = drasync_acquire(region, DRASYNC_READ))) {
        OK(drasync_get_root(region, &v));
        for (int i = 0; i < 20; i++)
            CHECK(((volatile struct node *)v)->number == 30);
        OK(drasync_release(region));
        usleep(50); /* what is always held never ends */
    }
    CHECK(err == DRASYNC_ENOREGION || err == DRASYNC_EDELETED);
    atomic_store(&over, true);
    return NULL;
}

/* To a search the thread's hold may come before it looks, or after. */
static void circles_read(int rounds)
{
    drasync_region_t first, got;
    drasync_weak_t weak;
    pthread_t thread;

    for (int i = 0; i < rounds; i++) {
        first = ring(&weak, 3);
        atomic_store(&over, false);
        CHECK(!pthread_create(&thread, NULL, read_on, first));
        OK(drasync_unref(first));
        while (!atomic_load(&over))
            OK(drasync_collect());
        CHECK(!pthread_join(thread, NULL));
        CODE(drasync_weak_lock(&weak, &got), DRASYNC_EDELETED);
    }
}

int main(int argc, char **argv)
{
    check_start_threads(&argc, &argv);
    threads();
    /* In turn: others might make regions at the addresses of those that ended. */
    for (int i = 0; i < check_ranks; i++) {
        if (i == check_rank)
            circles_read(300);
        check_barrier();
    }
    wait_for_ends();
    return check_end("managed threads");
}
