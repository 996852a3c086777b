/*
 * paper_protocol - the right to write 16 MiB goes from rank to rank, every rank
 * a node of its own on one host.
 *
 * ours    DRASYNC_NODE=rank: as data travels between nodes
 * theirs  with DRASYNC_WIRE=paged too: the paper's two messages for each page
 * of 4 KiB.  Only a build with --enable-wire-paged can do that
 *
 * The mean of several handovers; every page is changed in between.  Timed at
 * the receiver: drasync_acquire() for WRITE, and a look at every page.
 */
#include "benchmarks/handover.h"

#include <stdlib.h>
#include <time.h>

#define BYTES      ((size_t)16 << 20)
#define BYTES_TINY ((size_t)1 << 18)
#define HANDOVERS  8

/* How long to wait for the library to tell how many messages there were. */
#define TELL_NS 3e9

/* Did this rank send as many messages as pages?  It is told now and then. */
static int sent_pages(uint64_t pages)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    double end = bench_now_ns() + TELL_NS;
    struct drasync_stats stats;

    do {
        bench_check(drasync_get_stats(&stats), "get_stats");
        if (stats.messages_sent >= pages)
            return 1;
        nanosleep(&pause, NULL);
    } while (bench_now_ns() < end);
    return 0;
}

struct both {
    int rank;
    size_t bytes;
    drasync_region_t region;
    uint64_t *object;
};

static double measure(void *arg)
{
    struct both *b = arg;

    return handover_pages(b->rank, HANDOVERS, b->region, b->object, b->bytes);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "paper_protocol",
        .unit = "ms",
        .what = "WRITE of 16 MiB between nodes; the same with "
                "DRASYNC_WIRE=paged.\n",
        .runs = 6,
        .jobs = 3,
    };
    struct both both;
    int paged;

    bench_options(&bench, argc, argv);
    if (bench.side == BENCH_BOTH) {
        bench_drive(&bench);
        return bench_finish(&bench);
    }
    setenv("DRASYNC_NODE", "rank", 1);
    if (bench_only_theirs(&bench))
        setenv("DRASYNC_WIRE", "paged", 1);
    bench_drasync_start(&bench, 2);
    both.rank = bench.rank;
    both.bytes = bench.tiny ? BYTES_TINY : BYTES;
    both.object = (void *)handover_region(bench.rank, both.bytes, &both.region);
    bench_compare(&bench, measure, measure, &both);
    paged = bench.side == BENCH_OURS ||
            sent_pages(both.bytes / 4096 * HANDOVERS / 2);
    MPI_Bcast(&paged, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!paged)
        bench_skip(&bench, "this build has no DRASYNC_WIRE=paged (configure "
                           "--enable-wire-paged)");
    return bench_finish(&bench);
}
