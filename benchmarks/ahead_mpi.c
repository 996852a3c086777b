/*
 * ahead_mpi - the iteration of ahead_row.h, against messages.
 *
 * theirs  MPI_Isend() from two buffers and MPI_Irecv() into two, by hand: one
 *         computes while the data of the other is on its way
 *
 * Only what the consumer READs, as who WRITEs sends nothing back in theirs.
 */
#include "benchmarks/ahead_row.h"

static double ours(void *arg)
{
    struct ahead_row *row = arg;

    ahead_measure(row, true);
    return row->iteration_us;
}

static void theirs_produce(struct ahead_row *row, int count)
{
    const int bytes = (int)ahead_what[row->bench.now].bytes;
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

    for (int i = 0; i < count; i++) {
        ahead_compute(ahead_what[row->bench.now].ms);
        MPI_Wait(&request[i % 2], MPI_STATUS_IGNORE);
        pages_change(row->object[i % 2], (size_t)bytes, 1);
        MPI_Isend(row->object[i % 2], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD,
                  &request[i % 2]);
    }
    for (int i = 0; i < 2; i++)
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
}

static void theirs_consume(struct ahead_row *row, int count)
{
    const int bytes = (int)ahead_what[row->bench.now].bytes;
    MPI_Request request[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    double begin = bench_now_ns();
    uint64_t sum = 0;

    for (int i = 0; i < 2 && i < count; i++)
        MPI_Irecv(row->object[i], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                  &request[i]);
    for (int i = 0; i < count; i++) {
        ahead_compute(ahead_what[row->bench.now].ms);
        MPI_Wait(&request[i % 2], MPI_STATUS_IGNORE);
        sum += pages_read(row->object[i % 2], (size_t)bytes);
        if (i + 2 < count)
            MPI_Irecv(row->object[i % 2], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                      &request[i % 2]);
    }
    bench_require(sum >= (uint64_t)count, "what was read");
    row->iteration_us = (bench_now_ns() - begin) * 1e-3 / count;
}

static double theirs(void *arg)
{
    struct ahead_row *row = arg;
    int count =
        row->bench.tiny ? AHEAD_COUNT_TINY : ahead_what[row->bench.now].count;

    MPI_Barrier(MPI_COMM_WORLD);
    if (row->bench.rank == 0)
        theirs_produce(row, count);
    else
        theirs_consume(row, count);
    return bench_told(row->iteration_us, 1);
}

int main(int argc, char **argv)
{
    static struct ahead_row row = {
        .bench =
            {
                .name = "ahead_mpi",
                .unit = "us",
                .what = "An iteration of a consumer that READs what it asked "
                        "ahead; MPI_Irecv into\ntwo buffers.\n",
                .runs = 9,
                .jobs = 3,
                .cases = ahead_cases,
                .cases_count = 3, /* READ */
            },
    };

    ahead_wanted();
    bench_start(&row.bench, argc, argv, 2);
    if (row.bench.side == BENCH_OURS)
        ahead_make(&row);
    for (int i = 0; i < 2 && row.bench.side != BENCH_OURS; i++)
        row.object[i] = bench_buffer(AHEAD_BYTES_MAX);
    bench_compare(&row.bench, ours, theirs, &row);
    return bench_finish(&row.bench);
}
