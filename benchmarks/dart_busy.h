/*
 * dart_busy.h - the two rows about a unit that computes for 50 ms, looks once
 * into MPI, and so on, while the other one puts, gets and counts in its memory.
 *
 * ours    dart_put() and dart_flush(), dart_get_blocking(), dart_fetch_and_op(),
 *         of 8 bytes
 * theirs  MPI_Put(), MPI_Get(), MPI_Fetch_and_op(), each with MPI_Win_flush(), on
 *         a window that is locked for all, with and without a thread of MPI's own
 *         (async.h)
 */
#ifndef BENCHMARKS_DART_BUSY_H
#define BENCHMARKS_DART_BUSY_H

#include "benchmarks/async.h"
#include "benchmarks/dart.h"

#define COMPUTE_NS       50e6
#define BUSY_COUNT_ASYNC 50
#define BUSY_COUNT_PLAIN 3

enum { BUSY_PUT, BUSY_GET, BUSY_FETCH };
static const char *const busy_cases[] = {"put", "get", "fetch"};

struct busy_row {
    struct bench bench;
    int count; /* of ours that are timed */
    struct dart_memory memory;
};

/* Until the other unit is at its barrier. */
static inline void busy_compute(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        double end = bench_now_ns() + COMPUTE_NS;

        while (bench_now_ns() < end)
            continue;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

typedef void busy_do(struct busy_row *row, int64_t *value);

static inline void busy_dart(struct busy_row *row, int64_t *value)
{
    dart_gptr_t there = row->memory.there;
    int64_t old;

    switch (row->bench.now) {
    case BUSY_PUT:
        dart_check(dart_put(there, value, 1, DART_TYPE_LONG, DART_TYPE_LONG),
                   "dart_put");
        dart_check(dart_flush(there), "dart_flush");
        break;
    case BUSY_GET:
        dart_check(
            dart_get_blocking(value, there, 1, DART_TYPE_LONG, DART_TYPE_LONG),
            "dart_get_blocking");
        break;
    default:
        dart_check(
            dart_fetch_and_op(there, value, &old, DART_TYPE_LONG, DART_OP_SUM),
            "dart_fetch_and_op");
    }
}

static inline void busy_mpi(struct busy_row *row, int64_t *value)
{
    const struct dart_memory *m = &row->memory;
    int64_t old;

    switch (row->bench.now) {
    case BUSY_PUT:
        MPI_Put(value, 1, MPI_INT64_T, m->other, 0, 1, MPI_INT64_T, m->win);
        break;
    case BUSY_GET:
        MPI_Get(value, 1, MPI_INT64_T, m->other, 0, 1, MPI_INT64_T, m->win);
        break;
    default:
        MPI_Fetch_and_op(value, &old, MPI_INT64_T, m->other, 0, MPI_SUM,
                         m->win);
    }
    MPI_Win_flush(m->other, m->win);
}

/* Microseconds for one. */
static inline double busy_time(struct busy_row *row, busy_do *act, int count)
{
    int64_t value = 1;
    double us = 0, begin;

    if (row->bench.tiny)
        count = 2;
    MPI_Barrier(MPI_COMM_WORLD);
    if (row->bench.rank == 1) {
        busy_compute();
    } else {
        begin = bench_now_ns();
        for (int i = 0; i < count; i++)
            act(row, &value);
        us = (bench_now_ns() - begin) * 1e-3 / count;
        bench_barrier_asleep();
    }
    return bench_told(us, 0);
}

static double busy_ours(void *arg)
{
    struct busy_row *row = arg;

    return busy_time(row, busy_dart, row->count);
}

static double busy_theirs(void *arg)
{
    struct busy_row *row = arg;

    return busy_time(row, busy_mpi,
                     row->bench.rival == ASYNC ? BUSY_COUNT_ASYNC
                                               : BUSY_COUNT_PLAIN);
}

static inline int busy_main(struct busy_row *row, int argc, char **argv)
{
    struct bench *b = &row->bench;

    b->cases = busy_cases;
    b->cases_count = 3;
    async_start(b, argc, argv, 2);
    dart_memory_make(&row->memory, b, 4096);
    bench_compare(b, busy_ours, busy_theirs, row);
    dart_memory_end(&row->memory, b);
    return bench_finish(b);
}

#endif
