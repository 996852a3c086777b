/*
 * Threads of all ranks run functions that change one region: one at a time,
 * though threads have their rank's holds in common.
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "native_check.h"

enum { THREADS = 4, ROUNDS = 100 };

static drasync_function_t f_linger;

static drasync_region_t box;

/* Adds 1 to the number in the region, and takes its time. */
static int linger(drasync_region_t where, const void *arg, size_t arg_bytes,
                  void *answer, size_t answer_bytes)
{
    volatile uint64_t *number;
    uint64_t before;
    void *root;

    (void)arg;
    (void)arg_bytes;
    (void)answer;
    (void)answer_bytes;
    OK(drasync_get_root(where, &root));
    number = root;
    before = *number;
    sched_yield();
    *number = before + 1;
    return 0;
}

/* @asks: is it to wait for each? */
static void *linger_often(void *asks)
{
    for (int i = 0; i < ROUNDS; i++)
        if (asks)
            OK(drasync_run(box, f_linger, DRASYNC_WRITE, NULL, 0, NULL, 0));
        else
            OK(drasync_run_ff(box, f_linger, DRASYNC_WRITE, NULL, 0));
    OK(drasync_run_flush());
    return NULL;
}

static drasync_request_t left;

static void *begin_and_end(void *unused)
{
    OK(drasync_irun(box, f_linger, DRASYNC_WRITE, NULL, 0, NULL, 0, &left));
    return unused;
}

/* A thread of rank 0 begins a run that has to wait, and ends; another one waits
 * for that, or @polls. */
static void wait_for_ended(bool polls)
{
    pthread_t thread;
    int done = 0;

    if (check_rank == 1)
        OK(drasync_acquire(box, DRASYNC_WRITE));
    check_barrier();
    if (check_rank == 0) {
        CHECK(!pthread_create(&thread, NULL, begin_and_end, NULL));
        CHECK(!pthread_join(thread, NULL));
        CODE(drasync_wait(&left, 0), DRASYNC_EAGAIN);
    }
    check_barrier();
    if (check_rank == 1)
        OK(drasync_release(box));
    while (check_rank == 0 && polls && !done)
        OK(drasync_test(&left, &done));
    if (check_rank == 0 && !polls)
        OK(drasync_wait(&left, DRASYNC_FOREVER));
    check_barrier();
}

static int where(drasync_region_t region, const void *arg, size_t arg_bytes,
                 void *answer, size_t answer_bytes)
{
    (void)region;
    (void)arg;
    (void)arg_bytes;
    (void)answer;
    (void)answer_bytes;
    return 100 + check_rank;
}

/* Rank 0 has met a part of what rank 1 made, and of the whole no more than that it
 * is above: a run on that goes to rank 1, where each rank is a node. */
static void run_above_what_is_known(void)
{
    drasync_region_t all[2] = {NULL, NULL};
    struct drasync_stats stats;
    struct drasync_info info;
    drasync_function_t f;

    OK(drasync_register("where", where, &f));
    OK(drasync_get_stats(&stats));
    if (check_rank == 1) {
        OK(drasync_new_region(&all[0]));
        OK(drasync_new_subregion(all[0], &all[1]));
        OK(drasync_release(all[0]));
    }
    MPI_Bcast(all, sizeof(all), MPI_BYTE, 1, MPI_COMM_WORLD);
    if (check_rank == 0) {
        OK(drasync_acquire(all[1], DRASYNC_READ));
        OK(drasync_release(all[1]));
        OK(drasync_get_info(all[0], &info));
        CHECK(info.owner_node == (stats.nodes == check_ranks));
        if (stats.nodes == check_ranks)
            CODE(drasync_run(all[0], f, DRASYNC_WRITE, NULL, 0, NULL, 0), 101);
    }
    check_barrier();
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    void *p;

    OK(drasync_register("linger", linger, &f_linger));
    check_start(&argc, &argv);
    if (check_rank == 0) {
        OK(drasync_new_region(&box));
        OK(drasync_alloc(box, sizeof(uint64_t), &p));
        memset(p, 0, sizeof(uint64_t));
        OK(drasync_set_root(box, p));
        OK(drasync_release(box));
    }
    check_share(&box, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], NULL, linger_often,
                              i % 2 ? &box : NULL));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(thread[i], NULL));
    check_barrier();
    OK(drasync_acquire(box, DRASYNC_READ));
    OK(drasync_get_root(box, &p));
    CHECK(*(uint64_t *)p == (uint64_t)(THREADS * ROUNDS * check_ranks));
    OK(drasync_release(box));
    check_barrier();
    wait_for_ended(false);
    wait_for_ended(true);
    run_above_what_is_known();
    return check_end("run_threads");
}
