/*
 * alloc_fresh - allocate and write 10 M objects of 48 bytes in memory that was
 * never used: a new process for each measurement.
 *
 * ours    ralloc() in a new region, after MPI_Init
 * theirs  malloc(), a heap of mimalloc, an arena of jemalloc, in a process that
 *         has not even started MPI
 *
 * Timed: the loop that allocates and writes, page faults included.
 */
#include "benchmarks/allocators.h"

static struct bench bench = {
    .name = "alloc_fresh",
    .unit = "ns/object",
    .what = "ralloc() of 10 M objects of 48 bytes, each written, in memory "
            "never used\nbefore; malloc(), a heap of mimalloc, an arena of "
            "jemalloc.\n",
    .runs = 7,
    .jobs = BENCH_RUNS_MAX,
    .rivals = allocator_names,
    .rivals_count = ALLOCATORS,
};

static double ours(size_t count)
{
    double begin;
    region r;

    bench_mpi_start(&bench, 1);
    r = new_region();
    begin = bench_now_ns();
    bench_keep(objects_ralloc(r, count));
    return (bench_now_ns() - begin) / (double)count;
}

static double theirs(size_t count)
{
    double begin = bench_now_ns();
    struct object *last = allocator_fill((enum allocator)bench.rival, count);
    double end = bench_now_ns();

    bench_require(last != NULL, "out of memory");
    return (end - begin) / (double)count;
}

int main(int argc, char **argv)
{
    size_t count;

    bench_begin(&bench, argc, argv);
    allocator_start(&bench, argv);
    count = bench.tiny ? OBJECTS_TINY : OBJECTS_MANY;
    bench_add(&bench, bench.side,
              bench.side == BENCH_OURS ? ours(count) : theirs(count));
    return bench_finish(&bench);
}
