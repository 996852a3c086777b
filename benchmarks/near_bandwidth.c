/*
 * near_bandwidth - what of paper_protocol's time is MPI's own: the right to
 * write 16 MiB goes from rank to rank, every rank a node of its own on one
 * host.
 *
 * ours    DRASYNC_NODE=rank: drasync_acquire() for WRITE of a region of which
 *         every page was changed
 * theirs  MPI_Isend() and MPI_Irecv() of the same bytes between buffers that
 *         are reused, in pieces of 8 KiB of which 64 are under way: the
 *         quickest way between two ranks of a host, as longer ones are not
 *         copied at once
 *
 * The mean of several, to and fro in turns.  Timed at the receiver: from a
 * barrier to a look at every page.
 */
#include "benchmarks/handover.h"

#include <stdlib.h>

#define BYTES      ((size_t)16 << 20)
#define BYTES_TINY ((size_t)1 << 18)
#define HANDOVERS  8
#define PIECE      ((size_t)8 << 10)
#define PIECES_MAX 64

struct both {
    int rank;
    size_t bytes;
    drasync_region_t region;
    uint64_t *object, *buffer;
};

static double ours(void *arg)
{
    struct both *b = arg;

    return handover_pages(b->rank, HANDOVERS, b->region, b->object, b->bytes);
}

static void begin_piece(const struct both *b, int from, size_t at,
                        MPI_Request *request)
{
    char *data = (char *)b->buffer + at;

    if (b->rank == from)
        MPI_Isend(data, (int)PIECE, MPI_BYTE, 1 - from, 0, MPI_COMM_WORLD,
                  request);
    else
        MPI_Irecv(data, (int)PIECE, MPI_BYTE, from, 0, MPI_COMM_WORLD, request);
}

static void pass_pieces(const struct both *b, int from)
{
    MPI_Request request[PIECES_MAX];
    size_t begun = 0, done = 0, count = b->bytes / PIECE;
    int over = 1;

    while (done < count) {
        while (begun < count && begun - done < PIECES_MAX) {
            begin_piece(b, from, begun * PIECE, &request[begun % PIECES_MAX]);
            begun++;
        }
        for (over = 1; over && done < begun; done += (size_t)over)
            MPI_Test(&request[done % PIECES_MAX], &over, MPI_STATUS_IGNORE);
    }
}

static double theirs_one(const struct both *b, int from)
{
    double begin, ms;
    uint64_t sum = 0;

    if (b->rank == from)
        pages_change(b->buffer, b->bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    pass_pieces(b, from);
    if (b->rank != from)
        sum = pages_read(b->buffer, b->bytes);
    ms = (bench_now_ns() - begin) * 1e-6;
    bench_keep(&sum);
    bench_barrier_asleep();
    return bench_told(ms, 1 - from);
}

static double theirs(void *arg)
{
    double ms = 0;

    for (int i = 0; i < HANDOVERS; i++)
        ms += theirs_one(arg, i % 2);
    return ms / HANDOVERS;
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "near_bandwidth",
        .unit = "ms",
        .what = "WRITE of 16 MiB between nodes of one host; the same bytes by "
                "MPI_Isend.\n",
        .runs = 6,
        .jobs = 3,
    };
    struct both both = {0};

    setenv("DRASYNC_NODE", "rank", 1);
    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.bytes = bench.tiny ? BYTES_TINY : BYTES;
    if (bench.side == BENCH_OURS)
        both.object =
            (void *)handover_region(bench.rank, both.bytes, &both.region);
    else
        both.buffer = bench_buffer(both.bytes);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
