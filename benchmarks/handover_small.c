/*
 * handover_small - the right to write 64 bytes goes from rank to rank, 2 ranks
 * on a node, each on a core of its own.
 *
 * ours    drasync_acquire() for WRITE of a region with one object of 64 bytes,
 *         all of which is changed, drasync_release(); the other rank is waiting
 * theirs  MPI_Send() and MPI_Recv() of 64 bytes, all of which is changed
 *
 * Timed: a long sequence of handovers; the time of one way.
 */
#include "benchmarks/handover.h"

#define BYTES      64
#define WORDS      (BYTES / sizeof(uint64_t))
#define COUNT      20000
#define COUNT_TINY 100

struct both {
    int rank;
    uint64_t count;
    drasync_region_t region;
    struct handed *handed;
    uint64_t word[WORDS];
};

static double ours(void *arg)
{
    struct both *b = arg;
    double begin;

    if (b->rank == 0) {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        b->handed->turn = 0;
        bench_check(drasync_release(b->region), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    handover_ours(b->rank, b->region, b->handed, WORDS, 1, b->count);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_ns() - begin) / (double)b->count;
}

static double theirs(void *arg)
{
    struct both *b = arg;
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    handover_theirs(b->rank, b->word, BYTES, WORDS, 1, b->count);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_ns() - begin) / (double)b->count;
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "handover_small",
        .unit = "ns",
        .what = "WRITE handover of a 64-byte region, one way; MPI one way, 64 "
                "bytes.\n",
        .runs = 15,
        .jobs = 3,
    };
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.count = bench.tiny ? COUNT_TINY : COUNT;
    if (bench.side == BENCH_OURS)
        both.handed = handover_region(bench.rank, BYTES, &both.region);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
