/*
 * alloc_small - allocate and write 10 M objects of 48 bytes in memory that this
 * process used before and gave back.
 *
 * ours    ralloc() in a new region; before, a region like it was deleted
 * theirs  malloc(); before, as many objects were freed one by one.  mimalloc: a
 *         heap; before, one like it was destroyed.  jemalloc: an arena, which
 *         was reset before
 *
 * Timed: the loop that allocates and writes.
 */
#include "benchmarks/allocators.h"

static struct bench bench = {
    .name = "alloc_small",
    .unit = "ns/object",
    .what =
        "ralloc() of 10 M objects of 48 bytes, each written, in memory used "
        "and given\nback before; malloc(), a heap of mimalloc, an arena of "
        "jemalloc.\n",
    .runs = 9,
    .jobs = 3,
    .rivals = allocator_names,
    .rivals_count = ALLOCATORS,
};

static double ours(void *arg)
{
    size_t count = *(const size_t *)arg;
    region r = new_region();
    double begin = bench_now_ns(), end;

    bench_keep(objects_ralloc(r, count));
    end = bench_now_ns();
    delete_region(r);
    return (end - begin) / (double)count;
}

static double theirs(void *arg)
{
    enum allocator which = (enum allocator)bench.rival;
    size_t count = *(const size_t *)arg;
    double begin = bench_now_ns();
    struct object *last = allocator_fill(which, count);
    double end = bench_now_ns();

    bench_require(last != NULL, "out of memory");
    allocator_clear(which, last);
    return (end - begin) / (double)count;
}

int main(int argc, char **argv)
{
    size_t count;

    bench_begin(&bench, argc, argv);
    allocator_start(&bench, argv);
    bench_mpi_start(&bench, 1);
    count = bench.tiny ? OBJECTS_TINY : OBJECTS_MANY;
    bench_compare(&bench, ours, theirs, &count);
    return bench_finish(&bench);
}
