/*
 * handover_big - the right to write 256 MiB goes from rank to rank, 2 ranks on
 * a node.
 *
 * ours    drasync_acquire() for WRITE of a region with one object of 256 MiB,
 *         drasync_release(); the other rank is waiting
 * theirs  MPI_Send() and MPI_Recv() of 256 MiB, between buffers that are reused
 *
 * On both sides the holder reads and changes one word in each 16 MiB, so that
 * what is timed is handing over, not working on the data.  Both have touched
 * all of their memory before.  Timed: handovers one after the other; the time
 * of one way.
 */
#include "benchmarks/handover.h"

#define BYTES        ((size_t)256 << 20)
#define BYTES_TINY   ((size_t)1 << 20)
#define WORDS        16
#define COUNT_OURS   2000
#define COUNT_THEIRS 4

struct both {
    int rank;
    size_t bytes, stride;
    drasync_region_t region;
    struct handed *handed;
    uint64_t *word;
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
    handover_ours(b->rank, b->region, b->handed, WORDS, b->stride, COUNT_OURS);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_ns() - begin) * 1e-3 / COUNT_OURS;
}

static double theirs(void *arg)
{
    struct both *b = arg;
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    handover_theirs(b->rank, b->word, b->bytes, WORDS, b->stride, COUNT_THEIRS);
    MPI_Barrier(MPI_COMM_WORLD);
    return (bench_now_ns() - begin) * 1e-3 / COUNT_THEIRS;
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "handover_big",
        .unit = "us",
        .what = "WRITE handover of a 256 MiB region, one way; MPI_Send and "
                "MPI_Recv of as\nmuch.\n",
        .runs = 9,
        .jobs = 3,
    };
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.bytes = bench.tiny ? BYTES_TINY : BYTES;
    both.stride = both.bytes / WORDS / sizeof(uint64_t);
    if (bench.side == BENCH_OURS)
        both.handed = handover_region(bench.rank, both.bytes, &both.region);
    else
        both.word = bench_buffer(both.bytes);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
