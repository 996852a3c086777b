/*
 * wire_latency - a small region comes from another node to be read; 2 ranks on
 * 2 hosts, the owner idle.
 *
 * ours    drasync_acquire() for READ of one of many regions of 64 bytes, each
 *         changed since it was read here before, and a look at it; the release
 *         is not timed.  One after the other, so traffic is recent
 * theirs  64 bytes to and fro, MPI_Send() and MPI_Recv() at both ranks, which
 *         both wait inside MPI, each on its core
 */
#include "benchmarks/small_regions.h"

#include <mpi.h>

#define BYTES      64
#define COUNT      500
#define COUNT_TINY 5

struct both {
    int rank, count;
    struct small_region made[COUNT];
};

static double ours(void *arg)
{
    struct both *b = arg;
    double ns = 0, begin;
    uint64_t sum = 0;

    if (b->rank == 0)
        small_regions_change(b->made, b->count);
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 1)
        for (int i = 0; i < b->count; i++) {
            begin = bench_now_ns();
            bench_check(drasync_acquire(b->made[i].region, DRASYNC_READ),
                        "acquire");
            sum += *b->made[i].object;
            ns += bench_now_ns() - begin;
            bench_check(drasync_release(b->made[i].region), "release");
        }
    bench_keep(&sum);
    bench_barrier_asleep();
    return bench_told(ns * 1e-3 / b->count, 1);
}

static double theirs(void *arg)
{
    struct both *b = arg;
    char word[BYTES] = {0};
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    for (int i = 0; i < 2 * b->count; i++)
        if (i % 2 == b->rank)
            MPI_Send(word, BYTES, MPI_BYTE, 1 - b->rank, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(word, BYTES, MPI_BYTE, 1 - b->rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    return bench_told((bench_now_ns() - begin) * 1e-3 / b->count, 1);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "wire_latency",
        .unit = "us",
        .what = "READ of a 64-byte region from another node; an MPI round trip "
                "of 64 bytes.\n",
        .runs = 15,
        .jobs = 3,
    };
    static struct both both;

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.count = bench.tiny ? COUNT_TINY : COUNT;
    if (bench.side == BENCH_OURS)
        small_regions_make(bench.rank, both.made, both.count, BYTES);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
