/*
 * Threads of ranks that READ and WRITE one region, and take a mutex of their rank
 * inside of the hold: READ that is nested in another thread's WRITE sees what that
 * has.  Two words that are always changed together are always alike.
 *   native_inside [CALLS]
 */
#include <pthread.h>
#include <stdatomic.h>

#include "native_check.h"

#define THREADS 3

static drasync_region_t pair, below;
static volatile uint64_t *one, *other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic long writes;
static int calls = 400;

static void read_both(void)
{
    OK(drasync_acquire(pair, DRASYNC_READ));
    pthread_mutex_lock(&mutex);
    CHECK(*one == *other);
    pthread_mutex_unlock(&mutex);
    OK(drasync_release(pair));
}

static void write_both(void)
{
    int err;

    do
        err = drasync_acquire(pair, DRASYNC_WRITE);
    while (err == DRASYNC_EUPGRADE);
    CODE(err, DRASYNC_OK);
    pthread_mutex_lock(&mutex);
    CHECK(*one == *other);
    ++*one;
    for (volatile int i = 0; i < 1000; i++)
        continue;
    ++*other;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&writes, 1);
    OK(drasync_release(pair));
}

static void *both(void *arg)
{
    unsigned state = (unsigned)(check_rank * THREADS + *(int *)arg + 1);

    for (int i = 0; i < calls; i++) {
        state = state * 1103515245u + 12345;
        if (state >> 16 & 1)
            read_both();
        else
            write_both();
    }
    return NULL;
}

static uint64_t *word_in(drasync_region_t region)
{
    void *v;

    OK(drasync_alloc(region, sizeof(uint64_t), &v));
    *(uint64_t *)v = 0;
    return v;
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    void *shared[4];
    long mine, all;

    calls = argc > 1 ? atoi(argv[1]) : calls;
    check_start_threads(&argc, &argv);
    if (!check_rank) {
        OK(drasync_new_region(&pair));
        OK(drasync_new_subregion(pair, &below));
        shared[0] = pair;
        shared[1] = below;
        shared[2] = word_in(pair);
        shared[3] = word_in(below);
        OK(drasync_release(pair));
    }
    MPI_Bcast(shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    pair = shared[0];
    below = shared[1];
    one = shared[2];
    other = shared[3];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        CHECK(!pthread_create(&thread[i], NULL, both, &number[i]));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(thread[i], NULL));
    mine = atomic_load(&writes);
    MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    OK(drasync_acquire(pair, DRASYNC_READ));
    CHECK(*one == (uint64_t)all && *other == *one);
    OK(drasync_release(pair));
    return check_end("inside");
}
