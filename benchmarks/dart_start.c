/*
 * dart_start - beginning a transfer of 8 bytes to another host, without waiting
 * for it; 2 units on 2 hosts.
 *
 * ours    dart_put(), and dart_put_handle()
 * theirs  MPI_Put(), and MPI_Rput(), on a window that is locked for all
 *
 * The target waits in a barrier.  Timed: 16 beginnings at a time; what completes them is not.
 */
#include "benchmarks/dart.h"

#define BYTES        8
#define BATCH        16
#define BATCHES      200
#define BATCHES_TINY 2

enum { PLAIN, HANDLE };
static const char *const names[] = {"put", "put_handle"};

struct row {
    struct bench bench;
    struct dart_memory memory;
    char buffer[BYTES];
};

static void dart_begin(struct row *row, dart_handle_t *handles)
{
    for (int i = 0; i < BATCH; i++)
        dart_check(row->bench.now == PLAIN
                       ? dart_put(row->memory.there, row->buffer, BYTES,
                                  DART_TYPE_BYTE, DART_TYPE_BYTE)
                       : dart_put_handle(row->memory.there, row->buffer, BYTES,
                                         DART_TYPE_BYTE, DART_TYPE_BYTE,
                                         &handles[i]),
                   "put");
}

static void mpi_begin(struct row *row, MPI_Request *requests)
{
    const struct dart_memory *m = &row->memory;

    for (int i = 0; i < BATCH; i++)
        if (row->bench.now == PLAIN)
            MPI_Put(row->buffer, BYTES, MPI_BYTE, m->other, 0, BYTES, MPI_BYTE,
                    m->win);
        else
            MPI_Rput(row->buffer, BYTES, MPI_BYTE, m->other, 0, BYTES, MPI_BYTE,
                     m->win, &requests[i]);
}

static double dart_batch(struct row *row)
{
    dart_handle_t handles[BATCH] = {0};
    double begin = bench_now_ns();

    dart_begin(row, handles);
    begin = bench_now_ns() - begin;
    dart_check(dart_waitall(handles, BATCH), "dart_waitall");
    dart_check(dart_flush(row->memory.there), "dart_flush");
    return begin;
}

static double mpi_batch(struct row *row)
{
    MPI_Request requests[BATCH];
    double begin;

    for (int i = 0; i < BATCH; i++)
        requests[i] = MPI_REQUEST_NULL;
    begin = bench_now_ns();
    mpi_begin(row, requests);
    begin = bench_now_ns() - begin;
    for (int i = 0; i < BATCH; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Win_flush(row->memory.other, row->memory.win);
    return begin;
}

/* Nanoseconds for one. */
static double measure(struct row *row, double (*batch)(struct row *), bool ours)
{
    int count = row->bench.tiny ? BATCHES_TINY : BATCHES;
    double ns = 0;

    dart_side_barrier(ours);
    for (int i = 0; i < count && row->bench.rank == 0; i++)
        ns += batch(row);
    dart_side_barrier(ours);
    return bench_told(ns / count / BATCH, 0);
}

static double ours(void *row)
{
    return measure(row, dart_batch, true);
}

static double theirs(void *row)
{
    return measure(row, mpi_batch, false);
}

int main(int argc, char **argv)
{
    static struct row row = {
        .bench =
            {
                .name = "dart_start",
                .unit = "ns",
                .what = "dart_put() and dart_put_handle() to another host, not "
                        "waited for;\nMPI_Put() and MPI_Rput().\n",
                .runs = 15,
                .jobs = 5,
                .cases = names,
                .cases_count = 2,
            },
    };

    bench_start(&row.bench, argc, argv, 2);
    dart_memory_make(&row.memory, &row.bench, 4096);
    bench_compare(&row.bench, ours, theirs, &row);
    dart_memory_end(&row.memory, &row.bench);
    return bench_finish(&row.bench);
}
