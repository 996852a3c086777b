/*
 * wire_write - the right to write 64 bytes comes from another node, with the
 * bytes; 2 ranks on 2 hosts, which take turns.
 *
 * ours    drasync_acquire() for WRITE of a region with an object of 64 bytes,
 *         which the other rank wrote last, change all of it, drasync_release()
 * theirs  MPI_Send() of 64 bytes to the other rank and MPI_Recv() of its answer,
 *         all of which is changed
 *
 * The other rank is in MPI_Recv(), where it waits for a message that ends the
 * turn.  Cases: the ranks do nothing else (turns); before each turn the rank whose
 * turn it is computes, or the other one, for so many milliseconds (asker_MS,
 * owner_MS), and only one of them knows when it has.  Timed: the WRITE, the round
 * trip.
 *
 * Case fro: both ranks acquire and release all the time, and write where it is
 * their turn, as in handover_small.  Timed: to and fro, two handovers; a round
 * trip.
 */
#include "benchmarks/handover.h"

#define BYTES      64
#define WORDS      (BYTES / sizeof(uint64_t))
#define COUNT_TINY 2

enum who { NOBODY, ASKER, OWNER, BOTH };

static const struct {
    enum who computes;
    double ms;
    int count;
} what[] = {
    {NOBODY, 0, 100}, {BOTH, 0, 100},   {ASKER, 0.1, 50}, {ASKER, 1, 30},
    {ASKER, 10, 10},  {OWNER, 0.1, 50}, {OWNER, 1, 30},   {OWNER, 10, 10},
};
static const char *const cases[] = {"turns",   "fro",      "asker_0.1",
                                    "asker_1", "asker_10", "owner_0.1",
                                    "owner_1", "owner_10"};

#define CASES ((int)(sizeof(what) / sizeof(what[0])))

static struct bench bench = {
    .name = "wire_write",
    .unit = "us",
    .what =
        "WRITE of 64 bytes that another node wrote last, also after either "
        "side computed\nfor 0.1, 1, 10 ms; an MPI round trip of 64 bytes.\n",
    .runs = 9,
    .jobs = 3,
    .cases = cases,
    .cases_count = CASES,
};

struct both {
    int rank, other;
    drasync_region_t region;
    struct handed *handed;
    uint64_t word[WORDS];
};

static void compute(double ms)
{
    double end = bench_now_ns() + ms * 1e6;

    while (bench_now_ns() < end)
        continue;
}

static void change(volatile uint64_t *word)
{
    for (size_t i = 0; i < WORDS; i++)
        word[i]++;
}

static void ours_ask(struct both *b)
{
    bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
    change(&b->handed->turn);
    bench_check(drasync_release(b->region), "release");
}

static void theirs_ask(struct both *b)
{
    change(b->word);
    MPI_Send(b->word, BYTES, MPI_BYTE, b->other, 0, MPI_COMM_WORLD);
    MPI_Recv(b->word, BYTES, MPI_BYTE, b->other, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void theirs_answer(struct both *b)
{
    MPI_Recv(b->word, BYTES, MPI_BYTE, b->other, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    change(b->word);
    MPI_Send(b->word, BYTES, MPI_BYTE, b->other, 0, MPI_COMM_WORLD);
}

static void tell(const struct both *b)
{
    MPI_Send(NULL, 0, MPI_BYTE, b->other, 1, MPI_COMM_WORLD);
}

static void told(const struct both *b)
{
    MPI_Recv(NULL, 0, MPI_BYTE, b->other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

typedef void turn_fn(struct both *b);

/* @answer: NULL: the other rank need not. */
static double turns(struct both *b, turn_fn *ask, turn_fn *answer)
{
    const enum who computes = what[bench.now].computes;
    int count = bench.tiny ? COUNT_TINY : what[bench.now].count;
    double ns = 0, all;

    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (i % 2 == b->rank) {
            double begin;

            if (computes == ASKER)
                compute(what[bench.now].ms);
            else if (computes == OWNER)
                told(b);
            begin = bench_now_ns();
            ask(b);
            ns += bench_now_ns() - begin;
            tell(b);
        } else {
            if (computes == OWNER) {
                compute(what[bench.now].ms);
                tell(b);
            }
            if (answer)
                answer(b);
            told(b);
        }
    MPI_Allreduce(&ns, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all * 1e-3 / count;
}

/* One after the other without a word between them. */
static double ours_fro(struct both *b)
{
    uint64_t count = bench.tiny ? COUNT_TINY : (uint64_t)what[bench.now].count;
    uint64_t turn;
    double begin;

    if (b->rank == 0) {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        b->handed->turn = 0;
        bench_check(drasync_release(b->region), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    do {
        bench_check(drasync_acquire(b->region, DRASYNC_WRITE), "acquire");
        turn = b->handed->turn;
        if (turn < count && turn % 2 == (uint64_t)b->rank) {
            change(&b->handed->turn);
            turn++;
        }
        bench_check(drasync_release(b->region), "release");
    } while (turn < count);
    MPI_Barrier(MPI_COMM_WORLD);
    return bench_told((bench_now_ns() - begin) * 2e-3 / (double)count, 0);
}

static double ours(void *arg)
{
    return what[bench.now].computes == BOTH ? ours_fro(arg)
                                            : turns(arg, ours_ask, NULL);
}

static double theirs(void *arg)
{
    return turns(arg, theirs_ask, theirs_answer);
}

int main(int argc, char **argv)
{
    struct both both = {0};

    bench_start(&bench, argc, argv, 2);
    both.rank = bench.rank;
    both.other = 1 - bench.rank;
    if (bench.side == BENCH_OURS)
        both.handed = handover_region(bench.rank, BYTES, &both.region);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
