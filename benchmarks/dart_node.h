/*
 * dart_node.h - the two rows about blocking transfers on a node.
 *
 * Both copy between a buffer of this unit and memory of the other unit, which
 * sleeps: with DART, and by memcpy() to memory that both processes have mapped.
 * The same buffer on both sides; sizes 8 B and 2 MiB, of which the latter makes
 * the row.
 */
#ifndef BENCHMARKS_DART_NODE_H
#define BENCHMARKS_DART_NODE_H

#include <sys/mman.h>

#include "benchmarks/dart.h"

#define NODE_BYTES ((size_t)2 << 20)

static const char *const node_cases[] = {"8", "2M"};
static const size_t node_bytes[] = {8, NODE_BYTES};
static const size_t node_count[] = {1000000, 200};

struct node_row {
    struct bench bench;
    struct dart_memory memory;
    char *buffer, *shared;
};

typedef void node_copy(struct node_row *row, size_t bytes);

/* Nanoseconds for one. */
static inline double node_time(struct node_row *row, node_copy *copy)
{
    size_t bytes = node_bytes[row->bench.now];
    size_t count = row->bench.tiny ? 10 : node_count[row->bench.now];
    double begin = bench_now_ns();

    for (size_t i = 0; i < count; i++) {
        copy(row, bytes);
        bench_keep(row->buffer);
    }
    return (bench_now_ns() - begin) / (double)count;
}

static inline int node_main(struct node_row *row, int argc, char **argv,
                            bench_fn *ours, bench_fn *theirs)
{
    struct bench *b = &row->bench;

    b->cases = node_cases;
    b->cases_count = 2;
    b->main_case = 2;
    bench_start(b, argc, argv, 2);
    dart_memory_make(&row->memory, b, NODE_BYTES);
    row->buffer = bench_buffer(NODE_BYTES);
    row->shared = mmap(NULL, NODE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bench_require(row->shared != MAP_FAILED, "mmap");
    memset(row->shared, 0, NODE_BYTES);
    if (b->rank == 0)
        bench_compare(b, ours, theirs, row);
    bench_barrier_asleep();
    dart_memory_end(&row->memory, b);
    return bench_finish(b);
}

#endif
