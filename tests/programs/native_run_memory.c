/*
 * What drasync_run_ff() keeps.  "threads": threads that end without a flush leave
 * nothing; the last rank has them, rank 0 the regions.  "regions": buffers for
 * more regions than the memory has room for.
 */
#include <pthread.h>

#include "native_check.h"

enum { BLOCK = 4096, KEPT = 50, THREADS = 400, REGIONS = 3000, ROUNDS = 5 };

static drasync_function_t count;
static drasync_region_t regions[REGIONS];
static long counted;

static int do_count(drasync_region_t r, const void *arg, size_t arg_bytes,
                    void *answer, size_t answer_bytes)
{
    (void)r, (void)arg, (void)arg_bytes, (void)answer, (void)answer_bytes;
    counted++;
    return 0;
}

static void make(int n)
{
    for (int i = 0; i < n; i++) {
        OK(drasync_new_region(&regions[i]));
        OK(drasync_release(regions[i]));
    }
}

static void run_on(int n)
{
    static const char arg[BLOCK];

    for (int i = 0; i < n; i++)
        OK(drasync_run_ff(regions[i], count, DRASYNC_WRITE, arg, sizeof(arg)));
}

static void *run_and_end(void *arg)
{
    run_on(KEPT);
    return arg;
}

static uint64_t reserved(void)
{
    struct drasync_stats stats;

    OK(drasync_get_stats(&stats));
    return stats.reserved_bytes;
}

/* A thread's buffers are 0.8 MB. */
static void threads(void)
{
    const uint64_t before = reserved();
    pthread_t thread;

    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_create(&thread, NULL, run_and_end, NULL));
        CHECK(!pthread_join(thread, NULL));
    }
    CHECK(reserved() - before < (uint64_t)THREADS * KEPT * BLOCK);
}

int main(int argc, char **argv)
{
    int of_threads = argc > 1 && !strcmp(argv[1], "threads");
    long all;

    check_start_threads(&argc, &argv);
    OK(drasync_register("count", do_count, &count));
    if (check_rank == 0)
        make(of_threads ? KEPT : REGIONS);
    MPI_Bcast(regions, sizeof(regions), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (of_threads && check_rank == check_ranks - 1)
        threads();
    for (int i = 0; i < ROUNDS && !of_threads; i++)
        run_on(REGIONS);
    OK(drasync_run_flush());
    MPI_Reduce(&counted, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    CHECK(of_threads || check_rank ||
          all == (long)ROUNDS * REGIONS * check_ranks);
    return check_end("run memory");
}
