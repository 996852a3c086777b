/*
 * alloc_small - allocate and write 10 M objects of 48 bytes in memory that this
 * process used before and gave back.
 *
 * ours    ralloc() in a new region; before, a region like it was deleted
 * theirs  malloc(); before, as many objects were freed one by one
 *
 * Timed: the loop that allocates and writes.
 */
#include "benchmarks/common.h"
#include "benchmarks/objects.h"

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
    size_t count = *(const size_t *)arg;
    double begin = bench_now_ns();
    struct object *last = objects_malloc(count);
    double end = bench_now_ns();

    bench_require(last != NULL, "malloc");
    objects_free(last);
    return (end - begin) / (double)count;
}

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "alloc_small",
        .unit = "ns/object",
        .what = "ralloc() and malloc() of 10 M objects of 48 bytes, each "
                "written, in\nmemory used and given back before.\n",
        .runs = 9,
    };
    size_t count;

    bench_start(&bench, argc, argv, 1);
    count = bench.tiny ? OBJECTS_TINY : OBJECTS_MANY;
    bench_compare(&bench, ours, theirs, &count);
    return bench_finish(&bench);
}
