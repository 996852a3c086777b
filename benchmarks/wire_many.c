/*
 * wire_many - a subtree of 10,000 regions of a page each comes from another
 * node to be read; 2 ranks on 2 hosts.
 *
 * ours    drasync_acquire() for READ of the root.  Each region has an object of
 *         3 KiB, which the owner has changed, so that all pages travel
 * theirs  10,000 pages between buffers that are reused: MPI_Isend() and
 *         MPI_Irecv() in pieces (pieces.h); MPI_Send() and MPI_Recv() in one
 *         message (send)
 *
 * Timed at the receiver: from a barrier to a look at every object.
 */
#include "benchmarks/common.h"
#include "benchmarks/pages.h"
#include "benchmarks/pieces.h"

#include <mpi.h>
#include <string.h>

#define COUNT        10000
#define COUNT_TINY   50
#define OBJECT_BYTES 3072

enum { PIECES, SEND };

static const char *const rivals[] = {"pieces", "send"};

struct both {
    int rank, rival;
    size_t count, bytes;
    drasync_region_t root;
    uint64_t **object;
    uint64_t *buffer;
};

static double ours(void *arg)
{
    struct both *b = arg;
    double begin, ms = 0;
    uint64_t sum = 0;

    if (b->rank == 0) {
        bench_check(drasync_acquire(b->root, DRASYNC_WRITE), "acquire");
        for (size_t i = 0; i < b->count; i++)
            ++*b->object[i];
        bench_check(drasync_release(b->root), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (b->rank == 1) {
        begin = bench_now_ns();
        bench_check(drasync_acquire(b->root, DRASYNC_READ), "acquire");
        for (size_t i = 0; i < b->count; i++)
            sum += *b->object[i];
        ms = (bench_now_ns() - begin) * 1e-6;
        bench_check(drasync_release(b->root), "release");
    }
    bench_keep(&sum);
    bench_barrier_asleep();
    return bench_told(ms, 1);
}

static double theirs(void *arg)
{
    struct both *b = arg;
    double begin, ms;
    uint64_t sum = 0;

    if (b->rank == 0)
        pages_change(b->buffer, b->bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    if (b->rank == 0 && b->rival == PIECES)
        pieces_send(b->buffer, b->bytes, 1, MPI_COMM_WORLD);
    else if (b->rank == 0)
        MPI_Send(b->buffer, (int)b->bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (b->rival == PIECES)
        pieces_receive(b->buffer, b->bytes, 0, MPI_COMM_WORLD, false, NULL,
                       NULL);
    else
        MPI_Recv(b->buffer, (int)b->bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (b->rank == 1)
        sum = pages_read(b->buffer, b->bytes);
    ms = (bench_now_ns() - begin) * 1e-6;
    bench_keep(&sum);
    return bench_told(ms, 1);
}

static void make(struct both *b)
{
    drasync_region_t region;
    void *object;

    b->object = bench_buffer(b->count * sizeof(*b->object));
    if (b->rank == 0)
        bench_check(drasync_new_region(&b->root), "new_region");
    for (size_t i = 0; b->rank == 0 && i < b->count; i++) {
        bench_check(drasync_new_subregion(b->root, &region), "new_subregion");
        bench_check(drasync_alloc(region, OBJECT_BYTES, &object), "alloc");
        memset(object, 0, OBJECT_BYTES);
        b->object[i] = object;
    }
    if (b->rank == 0)
        bench_check(drasync_release(b->root), "release");
    MPI_Bcast(&b->root, sizeof(b->root), MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Bcast(b->object, (int)(b->count * sizeof(*b->object)), MPI_BYTE, 0,
              MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "wire_many",
        .unit = "ms",
        .what = "READ of 10,000 regions of 4 KiB from another node; as many "
                "bytes by MPI_Isend\nand MPI_Irecv in pieces, and by MPI_Send "
                "in one message.\n",
        .runs = 9,
        .jobs = 3,
        .rivals = rivals,
        .rivals_count = SEND + 1,
    };
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.rival = bench.rival;
    both.count = bench.tiny ? COUNT_TINY : COUNT;
    both.bytes = both.count * 4096;
    if (bench.side == BENCH_OURS)
        make(&both);
    else
        both.buffer = bench_buffer(both.bytes);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
