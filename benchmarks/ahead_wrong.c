/*
 * ahead_wrong - hints that are of no use, against none; 2 ranks on 2 hosts, one of
 * which writes 16 regions of 64 KiB all the time while the other reads them.
 *
 * random  the reader takes regions in random order, and told of others
 * shot    it tells of each region once, and takes none of them again
 *
 * Timed: an iteration of the reader; in vain: the part of the bytes that came and
 * were not used.
 */
#include "benchmarks/ahead_row.h"

enum { REGIONS = 16, COUNT = 400, BYTES = 64 << 10 };

static const char *const cases[] = {"random", "shot"};

static struct bench bench = {
    .name = "ahead_wrong",
    .unit = "us",
    .what = "READ of regions that another host writes, with hints that are of "
            "no use; without.\n",
    .runs = 9,
    .cases = cases,
    .cases_count = 2,
};

static drasync_region_t place[REGIONS];
static uint64_t *object[REGIONS];

static void make(void)
{
    for (int i = 0; i < REGIONS; i++) {
        struct {
            drasync_region_t region;
            void *object;
        } made = {0};

        if (bench.rank == 0) {
            bench_check(drasync_new_region(&made.region), "new_region");
            bench_check(drasync_alloc(made.region, BYTES, &made.object),
                        "alloc");
            pages_change(made.object, BYTES, 1);
            bench_check(drasync_release(made.region), "release");
        }
        MPI_Bcast(&made, sizeof(made), MPI_BYTE, 0, MPI_COMM_WORLD);
        place[i] = made.region;
        object[i] = made.object;
    }
}

/* Each region is written once for each time that it may be read. */
static void produce(int count)
{
    for (int i = 0; i < count; i++) {
        bench_check(drasync_acquire(place[i % REGIONS], DRASYNC_WRITE),
                    "acquire");
        pages_change(object[i % REGIONS], BYTES, 1);
        bench_check(drasync_release(place[i % REGIONS]), "release");
        ahead_recv(1);
    }
}

static double consume(int count, bool hints)
{
    double begin = bench_now_ns();
    uint64_t random = 1, sum = 0;

    for (int i = 0; i < count; i++) {
        int next = (int)(bench_random(&random) % REGIONS);
        int other = (int)(bench_random(&random) % REGIONS);

        if (hints && (bench.now == 0 || i < REGIONS))
            ahead_hint(place[bench.now ? i : other], DRASYNC_READ);
        bench_check(drasync_acquire(place[next], DRASYNC_READ), "acquire");
        sum += pages_read(object[next], BYTES);
        bench_check(drasync_release(place[next]), "release");
        ahead_send(0);
    }
    bench_require(sum > 0, "what was read");
    return (bench_now_ns() - begin) * 1e-3 / count;
}

static double measure(bool hints)
{
    int count = bench.tiny ? REGIONS : COUNT;
    double us = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench.rank == 0)
        produce(count);
    else
        us = consume(count, hints);
    return bench_told(us, 1);
}

static double ours(void *arg)
{
    (void)arg;
    return measure(true);
}

static double theirs(void *arg)
{
    (void)arg;
    return measure(false);
}

int main(int argc, char **argv)
{
    struct drasync_stats stats;

    ahead_wanted();
    bench_options(&bench, argc, argv);
    bench_drasync_start(&bench, 2);
    make();
    bench_compare(&bench, ours, theirs, NULL);
    bench_check(drasync_get_stats(&stats), "stats");
    bench_extra(&bench, "in_vain",
                bench_told((double)stats.ahead_vain_bytes /
                               ((double)stats.bytes_received + 1),
                           1));
    return bench_finish(&bench);
}
