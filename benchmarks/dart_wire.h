/*
 * dart_wire.h - the two rows about blocking transfers between hosts, and what
 * is common to all rows between hosts.
 *
 * Unit 0 puts or gets, one after the other, each done before the next; unit 1
 * waits in dart_barrier(), on their side in MPI_Barrier(), where MPI's progress is
 * as good as it can be.  The worst of the sizes makes the row.
 */
#ifndef BENCHMARKS_DART_WIRE_H
#define BENCHMARKS_DART_WIRE_H

#include "benchmarks/dart.h"

#define WIRE_BYTES ((size_t)2 << 20)

static const char *const wire_cases[] = {"8",   "64",   "512", "4K",
                                         "32K", "256K", "2M"};
static const size_t wire_bytes[] = {8,     64,     512,       4096,
                                    32768, 262144, WIRE_BYTES};
static const int wire_count[] = {1000, 1000, 1000, 1000, 500, 100, 20};

struct wire_row {
    struct bench bench;
    struct dart_memory memory;
    char *buffer;
};

typedef void wire_copy(struct wire_row *row, size_t bytes);

/* Microseconds for one. */
static inline double wire_time(struct wire_row *row, wire_copy *copy, bool ours)
{
    size_t bytes = wire_bytes[row->bench.now];
    int count = row->bench.tiny ? 5 : wire_count[row->bench.now];
    double us = 0, begin;

    dart_side_barrier(ours);
    if (row->bench.rank == 0) {
        begin = bench_now_ns();
        for (int i = 0; i < count; i++)
            copy(row, bytes);
        us = (bench_now_ns() - begin) * 1e-3 / count;
    }
    dart_side_barrier(ours);
    return bench_told(us, 0);
}

static inline int wire_main(struct wire_row *row, int argc, char **argv,
                            bench_fn *ours, bench_fn *theirs)
{
    struct bench *b = &row->bench;

    b->cases = wire_cases;
    b->cases_count = sizeof(wire_cases) / sizeof(wire_cases[0]);
    bench_start(b, argc, argv, 2);
    dart_memory_make(&row->memory, b, WIRE_BYTES);
    row->buffer = bench_buffer(WIRE_BYTES);
    bench_compare(b, ours, theirs, row);
    dart_memory_end(&row->memory, b);
    return bench_finish(b);
}

#endif
