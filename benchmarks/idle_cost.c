/*
 * idle_cost - the same computation on all cores with DRASync up and idle, and
 * without DRASync.
 *
 * ours    a job whose ranks have made, handed round and released a region, and
 *         then compute
 * theirs  the same, in a job in which DRASync was not started
 *
 * A job of its own for each measurement.  Each rank computes in its cache;
 * timed: the slowest rank, from a barrier to its end.
 */
#include "benchmarks/handover.h"

#define STEPS      400000000
#define STEPS_TINY 100000

static uint64_t compute(uint64_t steps)
{
    uint64_t x = 88172645463325252u;

    for (uint64_t i = 0; i < steps; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

static double measure(uint64_t steps)
{
    double begin, ms, slowest;
    volatile uint64_t sink;

    bench_barrier_asleep();
    begin = bench_now_ns();
    sink = compute(steps);
    (void)sink;
    ms = (bench_now_ns() - begin) * 1e-6;
    bench_barrier_asleep();
    MPI_Reduce(&ms, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

/* So that whatever starts with the first use has started. */
static void use_regions(int rank)
{
    drasync_region_t region;
    struct handed *handed = handover_region(rank, 64, &region);

    bench_check(drasync_acquire(region, DRASYNC_WRITE), "acquire");
    handed->turn++;
    bench_check(drasync_release(region), "release");
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "idle_cost",
        .unit = "ms",
        .what = "Computation on all cores beside DRASync that is idle, and "
                "without DRASync.\n",
        .runs = 7,
        .jobs = BENCH_RUNS_MAX,
    };

    bench_start(&bench, argc, argv, 1);
    if (bench.side == BENCH_OURS)
        use_regions(bench.rank);
    bench_add(&bench, bench.side, measure(bench.tiny ? STEPS_TINY : STEPS));
    return bench_finish(&bench);
}
