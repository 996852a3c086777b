/*
 * dart_lock - take a lock that nobody else wants, and give it back; two units on
 * a node, of which one sleeps.
 *
 * ours    dart_lock_acquire() and dart_lock_release()
 * theirs  shared_lock() and shared_unlock(), mcs_lock() and mcs_unlock()
 */
#include "benchmarks/dart_lock.h"

#define PAIRS      1000000
#define PAIRS_MPI  100000
#define PAIRS_TINY 100

/* Nanoseconds for a pair. */
static double ours(void *arg)
{
    struct lock_row *row = arg;
    int pairs = row->bench.tiny ? PAIRS_TINY : PAIRS;
    double begin = bench_now_ns();

    for (int i = 0; i < pairs && row->bench.rank == 0; i++) {
        dart_check(dart_lock_acquire(row->lock), "dart_lock_acquire");
        dart_check(dart_lock_release(row->lock), "dart_lock_release");
    }
    begin = bench_now_ns() - begin;
    bench_barrier_asleep();
    return begin / pairs;
}

static double shared_pair(struct lock_row *row)
{
    enum shared_lock which =
        row->bench.rival == LOCK_TICKET ? SHARED_TICKET : SHARED_MCS;
    int pairs = row->bench.tiny ? PAIRS_TINY : PAIRS;
    double begin = bench_now_ns();

    for (int i = 0; i < pairs && row->bench.rank == 0; i++) {
        shared_lock(&row->shared, which);
        shared_unlock(&row->shared, which);
    }
    begin = bench_now_ns() - begin;
    bench_barrier_asleep();
    return begin / pairs;
}

static double mpi_pair(struct lock_row *row)
{
    int pairs = row->bench.tiny ? PAIRS_TINY : PAIRS_MPI;
    double begin = bench_now_ns();

    for (int i = 0; i < pairs && row->bench.rank == 0; i++) {
        mcs_lock(&row->mcs);
        mcs_unlock(&row->mcs);
    }
    begin = bench_now_ns() - begin;
    bench_barrier_asleep();
    return begin / pairs;
}

static double theirs(void *arg)
{
    struct lock_row *row = arg;

    return lock_row_is_shared(row) ? shared_pair(row) : mpi_pair(row);
}

int main(int argc, char **argv)
{
    static struct lock_row row = {
        .bench =
            {
                .name = "dart_lock",
                .unit = "ns",
                .what = "dart_lock_acquire() and dart_lock_release(), nobody "
                        "else wants it; a ticket\nlock and an MCS lock in a "
                        "shared window, an MCS lock of MPI-3.\n",
                .runs = 15,
                .jobs = 3,
            },
    };

    lock_row_make(&row, argc, argv, 4096);
    bench_compare(&row.bench, ours, theirs, &row);
    return lock_row_end(&row);
}
