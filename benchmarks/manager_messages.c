/*
 * manager_messages - bytes allocated for each message to the manager, 8 GiB in
 * regions of 4 KiB by one rank, every rank a node of its own.
 *
 * Bytes of the regions by the requests for chunks that the node sent, as
 * drasync_get_stats() counts them; none counts as one.  The paper's design has a
 * page for each message; it is not measured, so there is no ratio.
 *
 * Each region has an object of 3 KiB, so that it is one page; they are all
 * alive at the end.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <stdlib.h>

#define REGIONS      ((uint64_t)8 << 30 >> 12)
#define REGIONS_TINY 1000
#define OBJECT_BYTES 3072
#define PAGE         4096

/* What the regions take, with what is kept of each, and some to spare. */
#define MEMORY_KIB ((uint64_t)14 << 20)

static uint64_t available_kib(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    uint64_t kib = 0;
    char line[128];

    while (f && fgets(line, sizeof(line), f))
        if (sscanf(line, "MemAvailable: %lu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static uint64_t requests(void)
{
    struct drasync_stats stats;

    bench_check(drasync_get_stats(&stats), "get_stats");
    return stats.chunk_requests;
}

static double allocate(uint64_t regions)
{
    uint64_t before = requests(), messages;
    drasync_region_t region;
    void *object;

    for (uint64_t i = 0; i < regions; i++) {
        bench_check(drasync_new_region(&region), "new_region");
        bench_check(drasync_alloc(region, OBJECT_BYTES, &object), "alloc");
        bench_check(drasync_release(region), "release");
    }
    messages = requests() - before;
    return (double)(regions * PAGE) / (double)(messages ? messages : 1);
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "manager_messages",
        .unit = "B/message",
        .kind = BENCH_RATE,
        .what = "Bytes allocated for each message to the manager.\n",
        .runs = 1,
        .figure = true,
    };
    double bytes = 0;

    bench_options(&bench, argc, argv);
    if (!bench.tiny && available_kib() < MEMORY_KIB)
        bench_skip(&bench, "less than 14 GiB of memory available");
    setenv("DRASYNC_NODE", "rank", 1);
    bench_mpi_start(&bench, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench.rank == 1)
        bytes = allocate(bench.tiny ? REGIONS_TINY : REGIONS);
    bench_barrier_asleep();
    bench_add(&bench, BENCH_OURS, bench_told(bytes, 1));
    return bench_finish(&bench);
}
