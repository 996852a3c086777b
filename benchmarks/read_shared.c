/*
 * read_shared - 4 ranks of a node read 64 MiB of another node.
 *
 * ours    drasync_acquire() for READ by each, of a region in which the owner
 *         has changed every page; a look at every page
 * theirs  MPI_Bcast() of 64 MiB from there to the 4 ranks, into buffers that
 *         are reused; a look at every page
 *
 * 8 ranks on 2 hosts, of which 3 at the owner's host sleep.  Timed: from a
 * barrier until the slowest of the 4 is through.  The machine may have fewer
 * cores than ranks: MPICH's broadcast then spins while it waits, and DRASync's
 * readers sleep.  So MPI_Ibcast() is tried as well, where those who wait give
 * their core to others between two looks; of each pair the faster counts.
 */
#include "benchmarks/handover.h"
#include "benchmarks/pages.h"

#include <sched.h>

#define BYTES      ((size_t)64 << 20)
#define BYTES_TINY ((size_t)1 << 20)
#define RANKS      8

static struct bench bench = {
    .name = "read_shared",
    .unit = "ms",
    .what = "4 ranks of a node read 64 MiB of another node; MPI_Bcast.\n",
    .runs = 9,
    .jobs = 3,
};

struct both {
    bool owner, reads;
    size_t bytes;
    MPI_Comm five; /* the owner and the readers */
    drasync_region_t region;
    uint64_t *object, *buffer;
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

/* What is faster, which MPI_Bcast() is where there are as many cores as ranks.
 */
static double theirs(void *arg)
{
    double bcast = with_bcast(arg, false), ibcast = with_bcast(arg, true);

    return bcast < ibcast ? bcast : ibcast;
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
        both.buffer = bench_buffer(both.bytes);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
