/*
 * handover_contended - all ranks of a node fight for 64 bytes: how often a
 * second the right to write passes from one rank to another.
 *
 * ours    drasync_acquire() for WRITE, change all of the object,
 *         drasync_release(), again and again
 * theirs  the data in a window of MPI_Win_allocate_shared(), under a ticket lock
 *         and an MCS lock of C11 atomics in it (shared_window.h); an MCS lock on
 *         MPI-3 one-sided operations (mcs.h), and MPI_Get() and MPI_Put() of the
 *         data, which lie at rank 0 (mpi)
 *
 * Counted: critical sections whose rank differs from the one before.
 */
#include "benchmarks/mcs.h"
#include "benchmarks/shared_window.h"

#define BYTES        64
#define WORDS        (BYTES / sizeof(uint64_t))
#define SECONDS      0.25
#define SECONDS_TINY 0.01

/* What the ranks fight for. */
struct prize {
    uint64_t holder, handovers, value[WORDS - 2];
};

/* The prize is rank 0's. */
struct window {
    struct mcs_words lock;
    struct prize prize;
};

enum { TICKET, MCS, MPI };

static const char *const rivals[] = {"ticket", "mcs", "mpi"};

#define AT(field) ((MPI_Aint)offsetof(struct window, field))

struct both {
    struct bench *bench;
    double seconds;
    drasync_region_t region;
    struct prize *prize;
    struct window *window;
    struct mcs lock; /* and the window */
    struct shared_window shared;
};

static void change(struct prize *p, int rank)
{
    if (p->holder != (uint64_t)rank) {
        p->handovers++;
        p->holder = (uint64_t)rank;
    }
    for (size_t i = 0; i < WORDS - 2; i++)
        p->value[i]++;
}

/* Handovers a second: all ranks work for the time, then rank 0 tells. */
static double ours(void *arg)
{
    struct both *b = arg;
    double begin, end, count;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    end = begin + b->seconds * 1e9;
    do {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        change(b->prize, b->bench->rank);
        bench_check(drasync_release(b->region), "release");
    } while (bench_now_ns() < end);
    end = bench_now_ns();
    bench_barrier_asleep();
    bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
    count = (double)b->prize->handovers;
    bench_check(drasync_release(b->region), "release");
    bench_barrier_asleep();
    if (b->bench->rank == 0) {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        b->prize->handovers = 0;
        bench_check(drasync_release(b->region), "release");
    }
    return count / (end - begin) * 1e9;
}

static double theirs_shared(struct both *b)
{
    enum shared_lock which =
        b->bench->rival == TICKET ? SHARED_TICKET : SHARED_MCS;
    struct prize *prize = b->shared.data;
    double begin, end;

    if (b->bench->rank == 0)
        *prize = (struct prize){0};
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    end = begin + b->seconds * 1e9;
    do {
        shared_lock(&b->shared, which);
        change(prize, b->bench->rank);
        shared_unlock(&b->shared, which);
    } while (bench_now_ns() < end);
    end = bench_now_ns();
    bench_barrier_asleep();
    return (double)prize->handovers / (end - begin) * 1e9;
}

static double theirs_mpi(struct both *b)
{
    MPI_Win win = b->lock.win;
    double begin, end;
    struct prize p;

    if (b->bench->rank == 0)
        b->window->prize = (struct prize){0};
    MPI_Win_sync(win);
    bench_barrier_asleep();
    begin = bench_now_ns();
    end = begin + b->seconds * 1e9;
    do {
        mcs_lock(&b->lock);
        MPI_Get(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, win);
        MPI_Win_flush(0, win);
        change(&p, b->bench->rank);
        MPI_Put(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, win);
        MPI_Win_flush(0, win);
        mcs_unlock(&b->lock);
    } while (bench_now_ns() < end);
    end = bench_now_ns();
    bench_barrier_asleep();
    MPI_Get(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, win);
    MPI_Win_flush(0, win);
    bench_barrier_asleep();
    return (double)p.handovers / (end - begin) * 1e9;
}

static double theirs(void *arg)
{
    struct both *b = arg;

    return b->bench->rival == MPI ? theirs_mpi(b) : theirs_shared(b);
}

static void region_make(struct both *b)
{
    struct {
        drasync_region_t region;
        void *prize;
    } made = {0};

    if (b->bench->rank == 0) {
        bench_check(drasync_new_region(&made.region), "new_region");
        bench_check(drasync_alloc(made.region, BYTES, &made.prize), "alloc");
        *(struct prize *)made.prize = (struct prize){0};
        bench_check(drasync_release(made.region), "release");
    }
    MPI_Bcast(&made, sizeof(made), MPI_BYTE, 0, MPI_COMM_WORLD);
    b->region = made.region;
    b->prize = made.prize;
}

static void window_make(struct both *b)
{
    MPI_Win_allocate(sizeof(*b->window), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     (void *)&b->window, &b->lock.win);
    *b->window = (struct window){.lock = MCS_WORDS};
    b->lock.me = b->bench->rank;
    b->lock.yields = b->bench->ranks > b->bench->cores;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, b->lock.win);
}

_Static_assert(sizeof(struct window) % 16 == 0, "MPICH 4.0.2 needs it");
_Static_assert(sizeof(struct prize) == BYTES, "as the row says");

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "handover_contended",
        .unit = "1/s",
        .kind = BENCH_RATE,
        .what = "Ranks of a node fight for a region: handovers a second; a "
                "ticket lock and an\nMCS lock in a shared window, an MCS lock "
                "of MPI-3 one-sided operations.\n",
        .runs = 9,
        .jobs = 3,
        .rivals = rivals,
        .rivals_count = MPI + 1,
    };
    struct both both = {.bench = &bench};

    bench_start(&bench, argc, argv, 2);
    both.seconds = bench.tiny ? SECONDS_TINY : SECONDS;
    if (bench.side == BENCH_OURS)
        region_make(&both);
    else if (bench.rival == MPI)
        window_make(&both);
    else
        shared_window_make(&both.shared, &bench, MPI_COMM_WORLD, BYTES);
    bench_compare(&bench, ours, theirs, &both);
    if (bench_only_theirs(&bench) && bench.rival != MPI) {
        shared_window_end(&both.shared);
    } else if (bench_only_theirs(&bench)) {
        MPI_Win_unlock_all(both.lock.win);
        MPI_Win_free(&both.lock.win);
    }
    return bench_finish(&bench);
}
