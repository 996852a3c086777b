/*
 * new_row.h - the two rows about new data for another host, which is used there
 * and thrown away there; 2 ranks on 2 hosts, 1 KiB and 1 MiB.
 *
 * ours    a new region with one object, a word in each page of which is written;
 *         it is given to the other rank, which takes it and looks at each page.
 *         Or (cases read_) its handle and pointer go in an MPI_Send(), as it is
 *         released, and the other rank acquires it for READ, looks and gives that
 *         back.  Later the other rank deletes it
 * theirs  malloc(), the same words written, MPI_Send(), free(); the other rank
 *         has malloc(), MPI_Recv(), the same look, and later free()
 *
 * Each rank sends one when it has looked at the other's, so many times; what has
 * arrived is thrown away at the end.  wire_new: the time from the first word of
 * one to that of the next.  wire_delete: what drasync_delete() takes its caller,
 * and free(); the other rank is in MPI_Barrier().
 */
#ifndef BENCHMARKS_NEW_ROW_H
#define BENCHMARKS_NEW_ROW_H

#include "benchmarks/common.h"
#include "benchmarks/pages.h"

#include <mpi.h>
#include <stdlib.h>

#define NEW_COUNT_MAX  100
#define NEW_COUNT_TINY 2

static const struct {
    size_t bytes;
    int count;
    enum drasync_mode mode;
} new_what[] = {
    {1024, NEW_COUNT_MAX, DRASYNC_WRITE},
    {1 << 20, 20, DRASYNC_WRITE},
    {1024, NEW_COUNT_MAX, DRASYNC_READ},
    {1 << 20, 20, DRASYNC_READ},
};
static const char *const new_cases[] = {"1K", "1M", "read_1K", "read_1M"};

#define NEW_CASES ((int)(sizeof(new_what) / sizeof(new_what[0])))

/* What a rank tells the other of a region. */
struct new_made {
    drasync_region_t region;
    uint64_t *object;
};

struct new_row {
    struct bench bench;
    bool tells_delete; /* wire_delete, not wire_new */
    /* Filled in here: what arrived. */
    struct new_made made[NEW_COUNT_MAX];
    int count;
};

static inline void new_ours_send(struct new_row *row, size_t bytes)
{
    struct new_made made;
    void *object;

    bench_check(drasync_new_region(&made.region), "new_region");
    bench_check(drasync_alloc(made.region, bytes, &object), "alloc");
    made.object = object;
    made.object[0] = 1;
    pages_change(made.object, bytes, 1);
    if (new_what[row->bench.now].mode == DRASYNC_WRITE) {
        bench_check(drasync_set_root(made.region, object), "set_root");
        bench_check(drasync_give(made.region, 1 - row->bench.rank, 0), "give");
        return;
    }
    bench_check(drasync_release(made.region), "release");
    MPI_Send(&made, sizeof(made), MPI_BYTE, 1 - row->bench.rank, 0,
             MPI_COMM_WORLD);
}

static inline uint64_t new_ours_receive(struct new_row *row, size_t bytes)
{
    struct new_made *made = &row->made[row->count++];
    uint64_t sum;
    void *object;

    if (new_what[row->bench.now].mode == DRASYNC_WRITE) {
        bench_check(drasync_take(1 - row->bench.rank, 0, DRASYNC_FOREVER,
                                 &made->region, NULL),
                    "take");
        bench_check(drasync_get_root(made->region, &object), "get_root");
        made->object = object;
        return pages_read(made->object, bytes);
    }
    MPI_Recv(made, sizeof(*made), MPI_BYTE, 1 - row->bench.rank, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bench_check(drasync_acquire(made->region, DRASYNC_READ), "acquire");
    sum = pages_read(made->object, bytes);
    bench_check(drasync_release(made->region), "release");
    return sum;
}

static inline void new_theirs_send(struct new_row *row, size_t bytes)
{
    uint64_t *object = malloc(bytes);

    bench_require(object != NULL, "malloc");
    object[0] = 1;
    pages_change(object, bytes, 1);
    MPI_Send(object, (int)bytes, MPI_BYTE, 1 - row->bench.rank, 0,
             MPI_COMM_WORLD);
    free(object);
}

static inline uint64_t new_theirs_receive(struct new_row *row, size_t bytes)
{
    struct new_made *made = &row->made[row->count++];

    made->object = malloc(bytes);
    bench_require(made->object != NULL, "malloc");
    MPI_Recv(made->object, (int)bytes, MPI_BYTE, 1 - row->bench.rank, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return pages_read(made->object, bytes);
}

/* All that arrived; microseconds for one. */
static inline double new_throw_away(struct new_row *row, bool ours)
{
    double begin = bench_now_ns(), us;

    for (int i = 0; i < row->count; i++)
        if (ours)
            bench_check(drasync_delete(row->made[i].region), "delete");
        else
            free(row->made[i].object);
    us = (bench_now_ns() - begin) * 1e-3 / row->count;
    row->count = 0;
    return us;
}

static inline double new_measure(struct new_row *row, bool ours)
{
    const size_t bytes = new_what[row->bench.now].bytes;
    int count =
        row->bench.tiny ? NEW_COUNT_TINY : new_what[row->bench.now].count;
    double begin, us, deleted = 0;
    uint64_t sum = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    for (int i = 0; i < 2 * count; i++)
        if (i % 2 != row->bench.rank)
            sum += ours ? new_ours_receive(row, bytes)
                        : new_theirs_receive(row, bytes);
        else if (ours)
            new_ours_send(row, bytes);
        else
            new_theirs_send(row, bytes);
    us = (bench_now_ns() - begin) * 1e-3 / (2 * count);
    bench_require(sum >= (uint64_t)count, "what arrived");
    for (int rank = 0; rank < 2; rank++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == row->bench.rank)
            deleted = new_throw_away(row, ours);
    }
    return bench_told(row->tells_delete ? deleted : us, 0);
}

static double new_ours(void *row)
{
    return new_measure(row, true);
}

static double new_theirs(void *row)
{
    return new_measure(row, false);
}

static inline int new_main(struct new_row *row, int argc, char **argv)
{
    row->bench.cases = new_cases;
    row->bench.cases_count = NEW_CASES;
    bench_start(&row->bench, argc, argv, 2);
    bench_compare(&row->bench, new_ours, new_theirs, row);
    return bench_finish(&row->bench);
}

#endif
