/*
 * read_shared - 4 ranks of a node read 64 MiB of another node.
 *
 * ours    drasync_acquire() for READ by each, of a region in which the owner
 *         has changed every page; a look at every page
 * theirs  64 MiB in pieces (pieces.h) to one of the 4 ranks, into a window that
 *         they share, of which the others read as far as it has come (pieces);
 *         MPI_Bcast() of 64 MiB to the 4, into buffers that are reused (bcast);
 *         a look at every page
 *
 * 8 ranks on 2 hosts, of which 3 at the owner's host sleep.  Timed: from a
 * barrier until the slowest of the 4 is through.  The machine may have fewer
 * cores than ranks: MPICH's broadcast then spins while it waits, and DRASync's
 * readers sleep.  So MPI_Ibcast() is tried as well, where those who wait give
 * their core to others between two looks; of each pair the faster counts.
 */
#include "benchmarks/handover.h"
#include "benchmarks/pages.h"
#include "benchmarks/pieces.h"
#include "benchmarks/shared_window.h"

#include <sched.h>

#define BYTES      ((size_t)64 << 20)
#define BYTES_TINY ((size_t)1 << 20)
#define RANKS      8

enum { PIECES, BCAST };

static const char *const rivals[] = {"pieces", "bcast"};

static struct bench bench = {
    .name = "read_shared",
    .unit = "ms",
    .what =
        "4 ranks of a node read 64 MiB of another node; MPI_Isend in pieces "
        "into a\nwindow that they share; MPI_Bcast.\n",
    .runs = 9,
    .jobs = 3,
    .rivals = rivals,
    .rivals_count = BCAST + 1,
};

struct both {
    bool owner, reads;
    size_t bytes;
    MPI_Comm five; /* the owner and the readers */
    drasync_region_t region;
    uint64_t *object, *buffer;
    struct shared_window window; /* the readers' */
    struct arriving *arriving;   /* in it */
};

/* What readers share: how much of the data has come, and the data. */
struct arriving {
    _Atomic size_t bytes;
    _Alignas(4096) uint64_t data[];
};

/* The slowest reader's time at all ranks. */
static double slowest(double ms)
{
    double most;

    bench_barrier_asleep();
    MPI_Allreduce(&ms, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double ours(void *arg)
{
    struct both *b = arg;
    double begin, ms = 0;
    uint64_t sum = 0;

    if (b->owner) {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        pages_change(b->object, b->bytes, 1);
        bench_check(drasync_release(b->region), "release");
    }
    bench_barrier_asleep();
    if (b->reads) {
        MPI_Barrier(b->five);
        begin = bench_now_ns();
        bench_check(drasync_acquire(b->region, DRASYNC_READ), "acquire");
        sum = pages_read(b->object, b->bytes);
        ms = (bench_now_ns() - begin) * 1e-6;
        bench_check(drasync_release(b->region), "release");
    } else if (b->owner) {
        MPI_Barrier(b->five);
    }
    bench_keep(&sum);
    return slowest(ms);
}

static void broadcast(const struct both *b, bool yielding)
{
    MPI_Request request;
    int done = 0;

    if (!yielding) {
        MPI_Bcast(b->buffer, (int)b->bytes, MPI_BYTE, 0, b->five);
        return;
    }
    MPI_Ibcast(b->buffer, (int)b->bytes, MPI_BYTE, 0, b->five, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        sched_yield();
    }
}

static double with_bcast(struct both *b, bool yielding)
{
    double begin, ms = 0;
    uint64_t sum = 0;

    if (b->owner)
        pages_change(b->buffer, b->bytes, 1);
    bench_barrier_asleep();
    if (b->owner || b->reads) {
        MPI_Barrier(b->five);
        begin = bench_now_ns();
        broadcast(b, yielding);
        if (b->reads)
            sum = pages_read(b->buffer, b->bytes);
        ms = (bench_now_ns() - begin) * 1e-6;
    }
    bench_keep(&sum);
    return slowest(ms);
}

/* Pairs with the acquire in read_arriving(). */
static void tell_arrived(void *arg, size_t bytes)
{
    struct arriving *a = arg;

    atomic_store_explicit(&a->bytes, bytes, memory_order_release);
}

static uint64_t read_arriving(const struct both *b)
{
    struct arriving *a = b->arriving;
    uint64_t sum = 0;

    for (size_t at = 0, end; at < b->bytes; at = end) {
        end = atomic_load_explicit(&a->bytes, memory_order_acquire);
        if (end == at)
            shared_pause(&b->window);
        else
            sum += pages_read(&a->data[at / sizeof(sum)], end - at);
    }
    return sum;
}

/* Rank 1 of the five receives for all. */
static double with_pieces(struct both *b)
{
    double begin, ms = 0;
    uint64_t sum = 0;
    int rank;

    if (b->owner)
        pages_change(b->buffer, b->bytes, 1);
    else if (b->reads)
        atomic_store(&b->arriving->bytes, 0);
    bench_barrier_asleep();
    if (b->owner || b->reads) {
        MPI_Comm_rank(b->five, &rank);
        MPI_Barrier(b->five);
        begin = bench_now_ns();
        if (b->owner)
            pieces_send(b->buffer, b->bytes, 1, b->five);
        else if (rank == 1)
            pieces_receive(b->arriving->data, b->bytes, 0, b->five,
                           b->window.yields, tell_arrived, b->arriving);
        if (b->reads)
            sum = read_arriving(b);
        ms = (bench_now_ns() - begin) * 1e-6;
    }
    bench_keep(&sum);
    return slowest(ms);
}

/* Of MPI_Bcast() and MPI_Ibcast() what is faster; the first is where there are as
 * many cores as ranks. */
static double theirs(void *arg)
{
    double bcast, ibcast;

    if (bench.rival == PIECES)
        return with_pieces(arg);
    bcast = with_bcast(arg, false);
    ibcast = with_bcast(arg, true);
    return bcast < ibcast ? bcast : ibcast;
}

/* What a rival reads from and into. */
static void buffers_make(struct both *b, MPI_Comm host)
{
    if (b->reads && bench.rival == PIECES) {
        shared_window_make(&b->window, &bench, host,
                           sizeof(*b->arriving) + b->bytes);
        b->arriving = b->window.data;
    } else {
        b->buffer = bench_buffer(b->bytes);
    }
}

int main(int argc, char **argv)
{
    struct both both = {0};
    int here, among;
    MPI_Comm host;

    bench_start(&bench, argc, argv, RANKS);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &host);
    here = bench.rank; /* the host's lowest rank: 0 is the owner's host */
    MPI_Bcast(&here, 1, MPI_INT, 0, host);
    MPI_Comm_rank(host, &among);
    both.owner = bench.rank == 0;
    both.reads = here != 0 && among < 4;
    MPI_Comm_split(MPI_COMM_WORLD, both.owner || both.reads ? 0 : MPI_UNDEFINED,
                   bench.rank, &both.five);
    both.bytes = bench.tiny ? BYTES_TINY : BYTES;
    if (bench.side == BENCH_OURS)
        both.object =
            (void *)handover_region(bench.rank, both.bytes, &both.region);
    else
        buffers_make(&both, host);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
