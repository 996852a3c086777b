/*
 * wire_busy - a small region comes from another node, whose rank computes and
 * calls MPI only every 50 ms; 2 ranks on 2 hosts.
 *
 * ours    drasync_acquire() for READ of one of several regions of 64 bytes,
 *         each changed since it was read here before, and a look at it
 * theirs  MPI_Win_lock(), MPI_Get() of 64 bytes, MPI_Win_unlock(), with and
 *         without a thread of MPI's own (async.h)
 *
 * The owner computes for 50 ms, looks once into MPI (MPI_Test), and so on,
 * until the other rank has done its reads.
 */
#include "benchmarks/async.h"
#include "benchmarks/small_regions.h"

#include <mpi.h>

#define BYTES        64
#define WORDS        (BYTES / sizeof(uint64_t))
#define REGIONS      100
#define GETS         6
#define GETS_ASYNC   50
#define COMPUTE_NS   50e6
#define REGIONS_TINY 2
#define GETS_TINY    1

struct both {
    int rank, regions, gets;
    struct small_region made[REGIONS];
    uint64_t *word;
    MPI_Win win;
};

/* Compute for 50 ms at a time until the other rank is at its barrier. */
static void compute_until_done(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        double end = bench_now_ns() + COMPUTE_NS;

        while (bench_now_ns() < end)
            continue;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

static double ours(void *arg)
{
    struct both *b = arg;
    double begin, ns = 0;
    uint64_t sum = 0;

    if (b->rank == 0)
        small_regions_change(b->made, b->regions);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0) {
        compute_until_done();
    } else {
        begin = bench_now_ns();
        for (int i = 0; i < b->regions; i++) {
            bench_check(drasync_acquire(b->made[i].region, DRASYNC_READ),
                        "acquire");
            sum += *b->made[i].object;
            bench_check(drasync_release(b->made[i].region), "release");
        }
        ns = bench_now_ns() - begin;
        bench_barrier_asleep();
    }
    bench_keep(&sum);
    return bench_told(ns * 1e-3 / b->regions, 1);
}

static double theirs(void *arg)
{
    struct both *b = arg;
    uint64_t word[WORDS];
    double begin, ns = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 0) {
        compute_until_done();
    } else {
        begin = bench_now_ns();
        for (int i = 0; i < b->gets; i++) {
            MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, b->win);
            MPI_Get(word, BYTES, MPI_BYTE, 0, 0, BYTES, MPI_BYTE, b->win);
            MPI_Win_unlock(0, b->win);
            bench_keep(word);
        }
        ns = bench_now_ns() - begin;
        bench_barrier_asleep();
    }
    return bench_told(ns * 1e-3 / b->gets, 1);
}

static void window_make(struct both *b)
{
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void *)&b->word,
                     &b->win);
    for (size_t i = 0; i < WORDS; i++)
        b->word[i] = i;
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "wire_busy",
        .unit = "us",
        .what = "READ of a 64-byte region whose owner computes outside MPI; "
                "MPI-3 lock, get,\nunlock, with and without asynchronous "
                "progress.\n",
        .runs = 9,
        .jobs = 3,
    };
    static struct both both;

    async_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.regions = bench.tiny ? REGIONS_TINY : REGIONS;
    both.gets = bench.tiny             ? GETS_TINY
                : bench.rival == ASYNC ? GETS_ASYNC
                                       : GETS;
    if (bench.side == BENCH_OURS)
        small_regions_make(bench.rank, both.made, both.regions, BYTES);
    else
        window_make(&both);
    bench_compare(&bench, ours, theirs, &both);
    if (bench_only_theirs(&bench))
        MPI_Win_free(&both.win);
    return bench_finish(&bench);
}
