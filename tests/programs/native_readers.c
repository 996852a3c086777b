/*
 * Several threads of each rank read one region, nested or not, by calls that
 * wait and by requests, while one thread of each rank writes now and then, and
 * others delete and make regions: every reader sees one version, and no hold is
 * lost or left over.
 *
 * native_readers [ROUNDS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define DRASYNC_NO_SHORT_NAMES
#include "native_check.h"

#define THREADS 4
#define WORDS   16

static drasync_region_t region, below;
static uint64_t *words;
static int rounds;

static uint32_t random_next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

/* All words of a version are the same. */
static uint64_t look(void)
{
    uint64_t first = words[0];

    for (int i = 1; i < WORDS; i++)
        CHECK(words[i] == first);
    return first;
}

static void take(uint32_t how, drasync_region_t r)
{
    drasync_request_t request;
    int done = 0;

    if (how % 3 == 0) {
        OK(drasync_iacquire(r, DRASYNC_READ, &request));
        while (!done)
            OK(drasync_test(&request, &done));
    } else {
        OK(drasync_acquire(r, DRASYNC_READ));
    }
}

/* Threads of this rank that have WRITE, or ask for it. */
static _Atomic int writing;

/* A reader; ends with a hold that another thread gives back. */
static void *reads(void *arg)
{
    uint32_t state = (uint32_t)(uintptr_t)arg;

    for (int i = 0; i < rounds; i++) {
        uint32_t nested = random_next(&state) % 4 ? 0 : random_next(&state) % 4;
        uint64_t first;

        take(random_next(&state), region);
        if (atomic_load(&writing)) {
            /* Taken within a WRITE of this rank, it sees what is written. */
            OK(drasync_release(region));
            continue;
        }
        first = look();
        for (uint32_t n = 0; n < nested; n++) {
            take(random_next(&state), n & 1 ? below : region);
            CHECK(look() == first);
        }
        for (uint32_t n = nested; n-- > 0;)
            OK(drasync_release(n & 1 ? below : region));
        CHECK(look() == first);
        OK(drasync_release(region));
        if (random_next(&state) % 64 == 0)
            sched_yield();
    }
    take(1, region);
    return NULL;
}

static int hurried(void)
{
    int err;

    atomic_fetch_add(&writing, 1);
    err = drasync_acquire_timed(region, DRASYNC_WRITE, 1000);
    CHECK(!err || err == DRASYNC_EUPGRADE || err == DRASYNC_EAGAIN);
    if (err)
        atomic_fetch_sub(&writing, 1);
    return err;
}

/* The rank may write when none of its threads reads. */
static void *writes(void *arg)
{
    uint32_t state = (uint32_t)(uintptr_t)arg;
    int wrote = 0;

    for (int i = 0; i < rounds / 20; i++) {
        drasync_region_t other;

        for (uint32_t n = random_next(&state) % 4; n > 0; n--)
            sched_yield();
        if (!hurried()) {
            uint64_t next = look() + 1;

            for (int k = 0; k < WORDS; k++)
                words[k] = next;
            /* READ within WRITE sees what is written. */
            take(random_next(&state), region);
            CHECK(look() == next);
            OK(drasync_release(region));
            OK(drasync_release(region));
            atomic_fetch_sub(&writing, 1);
            wrote++;
        }
        OK(drasync_new_region(&other));
        OK(drasync_release(other));
        OK(drasync_acquire(other, DRASYNC_READ));
        OK(drasync_release(other));
        OK(drasync_delete(other));
    }
    return (void *)(intptr_t)wrote;
}

static void readers(void)
{
    pthread_t thread[THREADS];
    uint64_t wrote[2] = {0}, before, all;
    struct drasync_info info;
    void *result;

    OK(drasync_acquire(region, DRASYNC_READ));
    before = look();
    OK(drasync_release(region));
    check_barrier();
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, i ? reads : writes,
                              (void *)(uintptr_t)(check_rank * THREADS + i)));
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(thread[i], &result));
        wrote[0] += i ? 0 : (uint64_t)(intptr_t)result;
    }
    /* What the readers ended with. */
    OK(drasync_get_info(region, &info));
    CHECK(info.held_read == THREADS - 1 && info.held_write == 0);
    for (int i = 1; i < THREADS; i++)
        OK(drasync_release(region));
    CODE(drasync_release(region), DRASYNC_ENOTHELD);
    check_barrier();
    MPI_Allreduce(&wrote[0], &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    OK(drasync_acquire(region, DRASYNC_READ));
    CHECK(look() == before + all);
    OK(drasync_release(region));
    OK(drasync_get_info(region, &info));
    CHECK(info.held_read == 0 && info.held_write == 0);
}

int main(int argc, char **argv)
{
    void *object = NULL;

    check_start_threads(&argc, &argv);
    rounds = argc > 1 ? atoi(argv[1]) : 2000;
    if (check_rank == 0) {
        OK(drasync_new_region(&region));
        OK(drasync_new_subregion(region, &below));
        OK(drasync_alloc(region, WORDS * sizeof(*words), &object));
        memset(object, 0, WORDS * sizeof(*words));
        OK(drasync_release(region));
    }
    check_share(&region, 0);
    check_share(&below, 0);
    check_share(&object, 0);
    words = object;
    for (int i = 0; i < 3; i++)
        readers();
    check_barrier();
    if (check_rank == 0)
        OK(drasync_delete(region));
    return check_end("readers");
}
