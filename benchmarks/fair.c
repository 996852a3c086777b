/*
 * fair - all ranks of a node want a region all the time: what share of it each
 * gets, and how long the longest wait is.
 *
 * Each rank acquires the region for WRITE, changes 64 bytes of it and releases
 * it, again and again for the same time.  There is no rival; the figures are
 *
 *   share    how often the rank got it that got it least, by the mean of all
 *   wait     the longest acquire by the mean of those that found that another
 *            rank had had the region in between; others do not wait
 *   wait_us  the longest acquire
 */
#include "benchmarks/handover.h"

#define WORDS        6
#define SECONDS      1.0
#define SECONDS_TINY 0.05

static const char *const cases[] = {"share", "wait", "wait_us"};

enum { SHARE, WAIT, WAIT_US };

static struct bench bench = {
    .name = "fair",
    .unit = "share",
    .kind = BENCH_RATE,
    .what =
        "Ranks of a node want a region all the time: the least share by the "
        "mean, the\nlongest wait by the mean, the longest wait.\n",
    .runs = 5,
    .jobs = 1,
    .cases = cases,
    .cases_count = WAIT_US + 1,
    .figure = true,
};

struct prize {
    uint64_t holder, value[WORDS];
};

struct both {
    drasync_region_t region;
    struct prize *prize;
    double figure[WAIT_US + 1];
};

/* What a rank saw, in ns. */
struct seen {
    double count, waits, waited, longest;
};

static struct seen work(const struct both *b, double end)
{
    const uint64_t me = (uint64_t)bench.rank + 1;
    struct seen seen = {0};
    double begin, now;

    do {
        begin = bench_now_ns();
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        now = bench_now_ns();
        seen.count++;
        if (b->prize->holder != me) {
            seen.waits++;
            seen.waited += now - begin;
        }
        if (now - begin > seen.longest)
            seen.longest = now - begin;
        b->prize->holder = me;
        for (int i = 0; i < WORDS; i++)
            b->prize->value[i]++;
        bench_check(drasync_release(b->region), "release");
    } while (now < end);
    return seen;
}

static void measure(struct both *b)
{
    const double ns = (bench.tiny ? SECONDS_TINY : SECONDS) * 1e9;
    struct seen mine;
    double sum[3], least, longest;

    bench_barrier_asleep();
    mine = work(b, bench_now_ns() + ns);
    bench_barrier_asleep();
    MPI_Allreduce((double[]){mine.count, mine.waits, mine.waited}, sum, 3,
                  MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.count, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&mine.longest, &longest, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    b->figure[SHARE] = least * bench.ranks / sum[0];
    b->figure[WAIT] = sum[1] > 0 ? longest * sum[1] / sum[2] : 0;
    b->figure[WAIT_US] = longest * 1e-3;
}

/* All figures are of one measurement, which the first case makes. */
static double figure(void *arg)
{
    struct both *b = arg;

    if (bench.now == SHARE)
        measure(b);
    return b->figure[bench.now];
}

int main(int argc, char **argv)
{
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.prize =
        (void *)handover_region(bench.rank, sizeof(*both.prize), &both.region);
    bench_compare(&bench, figure, NULL, &both);
    return bench_finish(&bench);
}
