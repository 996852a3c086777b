/*
 * dart_lock_contended - two units of a node fight for a lock: the time of one
 * handover from unit to unit.
 *
 * ours    dart_lock_acquire(), dart_get_blocking() and dart_put_blocking() of
 *         what it guards, 16 bytes at unit 0, dart_lock_release()
 * theirs  in a shared window, under a lock in it; the same by the lock of mcs.h,
 *         MPI_Get() and MPI_Put()
 *
 * Counted: critical sections whose unit differs from the one before.
 */
#include "benchmarks/dart_lock.h"

#define SECONDS      0.25
#define SECONDS_TINY 0.01
#define PRIZE_AT     64 /* in unit 0's memory */

/* What the units fight for. */
struct prize {
    int64_t holder, handovers;
};

typedef void critical(struct lock_row *row);

static void change(struct prize *p, int rank)
{
    if (p->holder != rank) {
        p->handovers++;
        p->holder = rank;
    }
}

static dart_gptr_t prize_of(const struct lock_row *row)
{
    dart_gptr_t at = row->memory.mine;

    at.unitid = 0;
    at.addr_or_offs.offset += PRIZE_AT;
    return at;
}

static void dart_critical(struct lock_row *row)
{
    dart_gptr_t at = prize_of(row);
    struct prize p;

    dart_check(dart_lock_acquire(row->lock), "dart_lock_acquire");
    dart_check(
        dart_get_blocking(&p, at, sizeof(p), DART_TYPE_BYTE, DART_TYPE_BYTE),
        "dart_get_blocking");
    change(&p, row->bench.rank);
    dart_check(
        dart_put_blocking(at, &p, sizeof(p), DART_TYPE_BYTE, DART_TYPE_BYTE),
        "dart_put_blocking");
    dart_check(dart_lock_release(row->lock), "dart_lock_release");
}

static void shared_critical(struct lock_row *row)
{
    enum shared_lock which =
        row->bench.rival == LOCK_TICKET ? SHARED_TICKET : SHARED_MCS;

    shared_lock(&row->shared, which);
    change(row->shared.data, row->bench.rank);
    shared_unlock(&row->shared, which);
}

static void mpi_critical(struct lock_row *row)
{
    MPI_Win win = row->mcs.win;
    struct prize p;

    mcs_lock(&row->mcs);
    MPI_Get(&p, sizeof(p), MPI_BYTE, 0, PRIZE_AT, sizeof(p), MPI_BYTE, win);
    MPI_Win_flush(0, win);
    change(&p, row->bench.rank);
    MPI_Put(&p, sizeof(p), MPI_BYTE, 0, PRIZE_AT, sizeof(p), MPI_BYTE, win);
    MPI_Win_flush(0, win);
    mcs_unlock(&row->mcs);
}

static int64_t handovers(struct lock_row *row)
{
    struct prize p;

    if (lock_row_is_shared(row))
        return ((struct prize *)row->shared.data)->handovers;
    if (!bench_only_theirs(&row->bench)) {
        dart_check(dart_get_blocking(&p, prize_of(row), sizeof(p),
                                     DART_TYPE_BYTE, DART_TYPE_BYTE),
                   "dart_get_blocking");
    } else {
        MPI_Get(&p, sizeof(p), MPI_BYTE, 0, PRIZE_AT, sizeof(p), MPI_BYTE,
                row->mcs.win);
        MPI_Win_flush(0, row->mcs.win);
    }
    return p.handovers;
}

/* Nanoseconds for a handover. */
static double measure(struct lock_row *row, critical *once)
{
    double seconds = row->bench.tiny ? SECONDS_TINY : SECONDS, begin, end;
    int64_t before = handovers(row), count;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    end = begin + seconds * 1e9;
    do {
        once(row);
    } while (bench_now_ns() < end);
    end = bench_now_ns();
    bench_barrier_asleep();
    count = handovers(row) - before;
    bench_barrier_asleep();
    return (end - begin) / (double)(count > 0 ? count : 1);
}

static double ours(void *row)
{
    return measure(row, dart_critical);
}

static double theirs(void *arg)
{
    struct lock_row *row = arg;

    return measure(row,
                   lock_row_is_shared(row) ? shared_critical : mpi_critical);
}

int main(int argc, char **argv)
{
    static struct lock_row row = {
        .bench =
            {
                .name = "dart_lock_contended",
                .unit = "ns",
                .what = "A handover of a DART lock that two units of a node "
                        "fight for; a ticket\nlock and an MCS lock in a shared "
                        "window, an MCS lock of MPI-3.\n",
                .runs = 9,
                .jobs = 3,
            },
    };

    lock_row_make(&row, argc, argv, 4096);
    bench_compare(&row.bench, ours, theirs, &row);
    return lock_row_end(&row);
}
