/*
 * free_bulk - free 10 M objects of 48 bytes: a new process for each
 * measurement, because what free() costs depends on what was freed before.
 *
 * ours    delete_region() of the region that has them
 * theirs  free() of each, along the chain in which they are; mi_heap_destroy()
 *         of the heap that has them; jemalloc's reset of their arena
 *
 * Timed: the frees alone.
 */
#include "benchmarks/allocators.h"

static struct bench bench = {
    .name = "free_bulk",
    .unit = "us",
    .what =
        "delete_region() of 10 M objects; free() of each, the end of a heap "
        "of mimalloc\nand of an arena of jemalloc.\n",
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
    bench_keep(objects_ralloc(r, count));
    begin = bench_now_ns();
    delete_region(r);
    return (bench_now_ns() - begin) * 1e-3;
}

static double theirs(size_t count)
{
    enum allocator which = (enum allocator)bench.rival;
    struct object *last = allocator_fill(which, count);
    double begin = bench_now_ns();

    bench_require(last != NULL, "out of memory");
    allocator_clear(which, last);
    return (bench_now_ns() - begin) * 1e-3;
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
