/*
 * ahead_row.h - a producer on one host writes two regions in turn, a consumer on
 * another takes each, and both compute meanwhile: rows ahead_*.
 *
 * An iteration of the consumer: a hint (drasync_ahead), computing, the message
 * that the producer has written, the acquire, a look at each page, the release,
 * a message back.  By cases it takes READ, or WRITE and changes a page; then the
 * producer gives hints as well.  Timed: what the acquire takes (ahead_exposed),
 * or the iteration (ahead_iteration).
 */
#ifndef BENCHMARKS_AHEAD_ROW_H
#define BENCHMARKS_AHEAD_ROW_H

#include <mpi.h>
#include <stdlib.h>

#include "benchmarks/common.h"
#include "benchmarks/pages.h"

#define AHEAD_COUNT_TINY 3
#define AHEAD_BYTES_MAX  ((size_t)16 << 20)

static const struct {
    enum drasync_mode mode;
    size_t bytes;
    double ms;
    int count;
} ahead_what[] = {
    {DRASYNC_READ, (size_t)64 << 10, 0.3, 100},
    {DRASYNC_READ, (size_t)1 << 20, 2, 50},
    {DRASYNC_READ, (size_t)16 << 20, 20, 10},
    {DRASYNC_WRITE, (size_t)1 << 20, 2, 50},
    {DRASYNC_WRITE, (size_t)16 << 20, 20, 10},
};
static const char *const ahead_cases[] = {"read_64K", "read_1M", "read_16M",
                                          "write_1M", "write_16M"};

#define AHEAD_CASES ((int)(sizeof(ahead_what) / sizeof(ahead_what[0])))

struct ahead_row {
    struct bench bench;
    drasync_region_t region[2];
    uint64_t *object[2];
    double exposed_us, iteration_us;
};

static inline void ahead_compute(double ms)
{
    double end = bench_now_ns() + ms * 1e6;

    while (bench_now_ns() < end)
        continue;
}

/* Two regions with room for the largest case. */
static inline void ahead_make(struct ahead_row *row)
{
    for (int i = 0; i < 2; i++) {
        void *shared[2] = {NULL, NULL};

        if (row->bench.rank == 0) {
            bench_check(drasync_new_region(&row->region[i]), "new_region");
            bench_check(drasync_release(row->region[i]), "release");
        }
        shared[0] = row->region[i];
        MPI_Bcast(shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
        row->region[i] = shared[0];
    }
}

/* An object of @bytes in each, as only what is used travels. */
static inline void ahead_objects(struct ahead_row *row, size_t bytes)
{
    for (int i = 0; i < 2; i++) {
        if (row->bench.rank == 0) {
            void *object;

            bench_check(drasync_acquire(row->region[i], DRASYNC_WRITE),
                        "acquire");
            bench_check(drasync_alloc(row->region[i], bytes, &object), "alloc");
            pages_change(object, bytes, 1);
            row->object[i] = object;
            bench_check(drasync_release(row->region[i]), "release");
        }
        MPI_Bcast(&row->object[i], sizeof(row->object[i]), MPI_BYTE, 0,
                  MPI_COMM_WORLD);
    }
}

static inline void ahead_free(const struct ahead_row *row)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 && row->bench.rank == 0; i++) {
        bench_check(drasync_acquire(row->region[i], DRASYNC_WRITE), "acquire");
        bench_check(drasync_free(row->object[i]), "free");
        bench_check(drasync_release(row->region[i]), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static inline void ahead_send(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static inline void ahead_recv(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static inline void ahead_hint(drasync_region_t region, enum drasync_mode mode)
{
    bench_check(drasync_ahead(region, mode), "ahead");
}

static inline void ahead_produce(struct ahead_row *row, int count, bool hints)
{
    const int now = row->bench.now;

    for (int i = 0; i < count; i++) {
        drasync_region_t region = row->region[i % 2];

        if (i >= 2)
            ahead_recv(1);
        if (hints && ahead_what[now].mode == DRASYNC_WRITE)
            ahead_hint(region, DRASYNC_WRITE);
        ahead_compute(ahead_what[now].ms);
        bench_check(drasync_acquire(region, DRASYNC_WRITE), "acquire");
        pages_change(row->object[i % 2], ahead_what[now].bytes, 1);
        bench_check(drasync_release(region), "release");
        ahead_send(1);
    }
    for (int i = count < 2 ? count : 2; i > 0; i--)
        ahead_recv(1);
}

static inline void ahead_consume(struct ahead_row *row, int count, bool hints)
{
    const int now = row->bench.now;
    const enum drasync_mode mode = ahead_what[now].mode;
    double begin = bench_now_ns(), exposed = 0;
    uint64_t sum = 0;

    for (int i = 0; i < count; i++) {
        drasync_region_t region = row->region[i % 2];
        double asked;

        /* A token is taken only where it was used. */
        if (mode == DRASYNC_WRITE)
            ahead_recv(0);
        if (hints)
            ahead_hint(region, mode);
        ahead_compute(ahead_what[now].ms);
        if (mode == DRASYNC_READ)
            ahead_recv(0);
        asked = bench_now_ns();
        bench_check(drasync_acquire(region, mode), "acquire");
        exposed += bench_now_ns() - asked;
        sum += pages_read(row->object[i % 2], ahead_what[now].bytes);
        if (mode == DRASYNC_WRITE)
            row->object[i % 2][0]++;
        bench_check(drasync_release(region), "release");
        ahead_send(0);
    }
    bench_require(sum >= (uint64_t)count, "what was read");
    row->exposed_us = exposed * 1e-3 / count;
    row->iteration_us = (bench_now_ns() - begin) * 1e-3 / count;
}

/* One measurement; the figures are rank 1's, on all ranks. */
static inline void ahead_measure(struct ahead_row *row, bool hints)
{
    const int now = row->bench.now;
    int count = row->bench.tiny ? AHEAD_COUNT_TINY : ahead_what[now].count;

    ahead_objects(row, ahead_what[now].bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    if (row->bench.rank == 0)
        ahead_produce(row, count, hints);
    else
        ahead_consume(row, count, hints);
    row->exposed_us = bench_told(row->exposed_us, 1);
    row->iteration_us = bench_told(row->iteration_us, 1);
    ahead_free(row);
}

/* What drasync_ahead() does is read when MPI starts. */
static inline void ahead_wanted(void)
{
    setenv("DRASYNC_AHEAD", "token", 1);
}

#endif
