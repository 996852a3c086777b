/*
 * wire_bandwidth - the right to write 64 MiB comes from another node, with the
 * data; 2 ranks on 2 hosts.
 *
 * ours    drasync_acquire() for WRITE of a region with one object of 64 MiB, of
 *         which every page was changed at the other node; to and fro in turns
 * theirs  64 MiB between buffers that are reused: MPI_Isend() and MPI_Irecv() in
 *         pieces (pieces.h); MPI_Send() and MPI_Recv() in one message (send)
 *
 * Timed at the receiver: from a barrier to a look at every page.
 */
#include "benchmarks/handover.h"
#include "benchmarks/pieces.h"

#define BYTES      ((size_t)64 << 20)
#define BYTES_TINY ((size_t)1 << 20)

enum { PIECES, SEND };

static const char *const rivals[] = {"pieces", "send"};

struct both {
    int rank, rival;
    size_t bytes;
    drasync_region_t region;
    uint64_t *object, *buffer;
};

static double ours(void *arg)
{
    struct both *b = arg;

    return handover_pages(b->rank, 2, b->region, b->object, b->bytes);
}

static double theirs_one(struct both *b, int from)
{
    double begin, ms;
    uint64_t sum = 0;

    if (b->rank == from)
        pages_change(b->buffer, b->bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    if (b->rank == from && b->rival == PIECES)
        pieces_send(b->buffer, b->bytes, 1 - from, MPI_COMM_WORLD);
    else if (b->rank == from)
        MPI_Send(b->buffer, (int)b->bytes, MPI_BYTE, 1 - from, 0,
                 MPI_COMM_WORLD);
    else if (b->rival == PIECES)
        pieces_receive(b->buffer, b->bytes, from, MPI_COMM_WORLD, false, NULL,
                       NULL);
    else
        MPI_Recv(b->buffer, (int)b->bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (b->rank != from)
        sum = pages_read(b->buffer, b->bytes);
    ms = (bench_now_ns() - begin) * 1e-6;
    bench_keep(&sum);
    return bench_told(ms, 1 - from);
}

static double theirs(void *arg)
{
    return (theirs_one(arg, 0) + theirs_one(arg, 1)) / 2;
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "wire_bandwidth",
        .unit = "ms",
        .what = "WRITE of 64 MiB from another node; MPI_Isend and MPI_Irecv in "
                "pieces,\nMPI_Send and MPI_Recv in one message.\n",
        .runs = 12,
        .jobs = 3,
        .rivals = rivals,
        .rivals_count = SEND + 1,
    };
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.rival = bench.rival;
    both.bytes = bench.tiny ? BYTES_TINY : BYTES;
    if (bench.side == BENCH_OURS)
        both.object =
            (void *)handover_region(bench.rank, both.bytes, &both.region);
    else
        both.buffer = bench_buffer(both.bytes);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
