/*
 * handover_contended - all ranks of a node fight for 64 bytes: how often a
 * second the right to write passes from one rank to another.
 *
 * ours    drasync_acquire() for WRITE, change all of the object,
 *         drasync_release(), again and again
 * theirs  an MCS queue lock on MPI-3 one-sided operations, and MPI_Get() and
 *         MPI_Put() of the data, which lie at rank 0.  Whoever waits looks at a
 *         word of its own window; if there are more ranks than cores it yields
 *         its core between two looks, which is to their advantage: MPICH's own
 *         waiting spins
 *
 * Counted: critical sections whose rank differs from the one before.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <sched.h>

#define BYTES        64
#define WORDS        (BYTES / sizeof(uint64_t))
#define SECONDS      0.25
#define SECONDS_TINY 0.01

/* What the ranks fight for. */
struct prize {
    uint64_t holder, handovers, value[WORDS - 2];
};

/* Of each rank: the next one in the queue, and whether to wait; -1: none.
 * tail, prize: rank 0's. */
struct window {
    int64_t next, blocked, tail, pad;
    struct prize prize;
};

struct both {
    struct bench *bench;
    double seconds;
    drasync_region_t region;
    struct prize *prize;
    struct window *window;
    MPI_Win win;
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

/* --- The MCS lock -------------------------------------------------------- */

#define AT(field) ((MPI_Aint)offsetof(struct window, field))

static int64_t swap(const struct both *b, int64_t value, int rank, MPI_Aint at,
                    MPI_Op op)
{
    int64_t old;

    MPI_Fetch_and_op(&value, &old, MPI_INT64_T, rank, at, op, b->win);
    MPI_Win_flush(rank, b->win);
    return old;
}

/* Wait until a word of the own window is no longer @value. */
static int64_t wait_change(const struct both *b, MPI_Aint at, int64_t value)
{
    int64_t now;

    while ((now = swap(b, 0, b->bench->rank, at, MPI_NO_OP)) == value)
        if (b->bench->ranks > b->bench->cores)
            sched_yield();
    return now;
}

static void mcs_lock(const struct both *b)
{
    int me = b->bench->rank;
    int64_t before;

    swap(b, -1, me, AT(next), MPI_REPLACE);
    swap(b, 1, me, AT(blocked), MPI_REPLACE);
    before = swap(b, me, 0, AT(tail), MPI_REPLACE);
    if (before >= 0) {
        swap(b, me, (int)before, AT(next), MPI_REPLACE);
        wait_change(b, AT(blocked), 1);
    }
}

static void mcs_unlock(const struct both *b)
{
    int me = b->bench->rank;
    int64_t next = swap(b, 0, me, AT(next), MPI_NO_OP);

    if (next < 0) {
        int64_t none = -1, mine = me, old;

        MPI_Compare_and_swap(&none, &mine, &old, MPI_INT64_T, 0, AT(tail),
                             b->win);
        MPI_Win_flush(0, b->win);
        if (old == mine)
            return;
        next = wait_change(b, AT(next), -1);
    }
    swap(b, 0, (int)next, AT(blocked), MPI_REPLACE);
}

static double theirs(void *arg)
{
    struct both *b = arg;
    double begin, end;
    struct prize p;

    if (b->bench->rank == 0)
        b->window->prize = (struct prize){0};
    MPI_Win_sync(b->win);
    bench_barrier_asleep();
    begin = bench_now_ns();
    end = begin + b->seconds * 1e9;
    do {
        mcs_lock(b);
        MPI_Get(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, b->win);
        MPI_Win_flush(0, b->win);
        change(&p, b->bench->rank);
        MPI_Put(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, b->win);
        MPI_Win_flush(0, b->win);
        mcs_unlock(b);
    } while (bench_now_ns() < end);
    end = bench_now_ns();
    bench_barrier_asleep();
    MPI_Get(&p, BYTES, MPI_BYTE, 0, AT(prize), BYTES, MPI_BYTE, b->win);
    MPI_Win_flush(0, b->win);
    bench_barrier_asleep();
    return (double)p.handovers / (end - begin) * 1e9;
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
                     (void *)&b->window, &b->win);
    *b->window = (struct window){.next = -1, .tail = -1};
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, b->win);
}

_Static_assert(sizeof(struct window) % 16 == 0, "MPICH 4.0.2 needs it");
_Static_assert(sizeof(struct prize) == BYTES, "as the row says");

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "handover_contended",
        .unit = "1/s",
        .kind = BENCH_RATE,
        .what = "Ranks of a node fight for a region: handovers a second; an "
                "MCS lock of\nMPI-3 one-sided operations with the data in a "
                "window.\n",
        .runs = 9,
        .jobs = 3,
    };
    struct both both = {.bench = &bench};

    bench_start(&bench, argc, argv, 2);
    both.seconds = bench.tiny ? SECONDS_TINY : SECONDS;
    if (bench.side == BENCH_OURS)
        region_make(&both);
    else
        window_make(&both);
    bench_compare(&bench, ours, theirs, &both);
    if (bench.side == BENCH_THEIRS) {
        MPI_Win_unlock_all(both.win);
        MPI_Win_free(&both.win);
    }
    return bench_finish(&bench);
}
