/*
 * wire_again - what one host writes and another one READs, again and again; 2
 * ranks on 2 hosts, regions of 64 B, 64 KiB and 1 MiB.
 *
 * ours    rank 0 has WRITE, fills the region, releases it and says so to rank 1
 *         by an empty MPI message; that READs it, adds it up, and answers by
 *         another one.  DRASYNC_AHEAD=auto: nothing is asked ahead by calls
 * theirs  rank 0 fills a buffer and sends it, which says so too; rank 1 receives
 *         it, adds it up, and answers by an empty message
 *
 * Timed: a round, at rank 0.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <stdlib.h>

static const struct {
    size_t bytes;
    int count;
} what[] = {{64, 500}, {65536, 200}, {1 << 20, 50}};
static const char *const cases[] = {"64", "64K", "1M"};

#define CASES      ((int)(sizeof(what) / sizeof(what[0])))
#define COUNT_TINY 4

static struct bench bench = {
    .name = "wire_again",
    .unit = "us",
    .what = "A region of 64 B, 64 KiB, 1 MiB that one host writes and another "
            "one READs,\nagain and again; the same bytes sent by MPI.\n",
    .runs = 9,
    .jobs = 3,
    .cases = cases,
    .cases_count = CASES,
};

struct shared {
    drasync_region_t region;
    uint64_t *words;
};

struct both {
    struct shared shared[CASES];
    uint64_t *buffer;
};

static void fill(volatile uint64_t *words, size_t bytes, uint64_t value)
{
    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        words[i] = value;
}

static void add_up(const uint64_t *words, size_t bytes, uint64_t value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes / sizeof(*words); i++)
        sum += words[i];
    bench_require(sum == value * (bytes / sizeof(*words)), "what was read");
}

static void say(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void hear(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ours_round(struct both *b, size_t bytes, uint64_t value)
{
    const struct shared *s = &b->shared[bench.now];

    if (bench.rank == 1)
        hear(0);
    bench_check(drasync_acquire(s->region,
                                bench.rank == 0 ? DRASYNC_WRITE : DRASYNC_READ),
                "acquire");
    if (bench.rank == 0)
        fill(s->words, bytes, value);
    else
        add_up(s->words, bytes, value);
    bench_check(drasync_release(s->region), "release");
    say(1 - bench.rank);
    if (bench.rank == 0)
        hear(1);
}

static void theirs_round(struct both *b, size_t bytes, uint64_t value)
{
    if (bench.rank == 0) {
        fill(b->buffer, bytes, value);
        MPI_Send(b->buffer, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        hear(1);
    } else {
        MPI_Recv(b->buffer, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        add_up(b->buffer, bytes, value);
        say(0);
    }
}

static double rounds(struct both *b,
                     void (*round)(struct both *, size_t, uint64_t))
{
    const int count = bench.tiny ? COUNT_TINY : what[bench.now].count;
    static uint64_t value;
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    for (int i = 0; i < count; i++)
        round(b, what[bench.now].bytes, ++value);
    return bench_told((bench_now_ns() - begin) * 1e-3 / count, 0);
}

static double ours(void *arg)
{
    return rounds(arg, ours_round);
}

static double theirs(void *arg)
{
    return rounds(arg, theirs_round);
}

static void make(struct both *b)
{
    for (int i = 0; i < CASES && bench.rank == 0; i++) {
        struct shared *s = &b->shared[i];
        void *words;

        bench_check(drasync_new_region(&s->region), "drasync_new_region");
        bench_check(drasync_alloc(s->region, what[i].bytes, &words),
                    "drasync_alloc");
        s->words = words;
        bench_check(drasync_release(s->region), "release");
    }
    MPI_Bcast(b->shared, sizeof(b->shared), MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct both both;

    setenv("DRASYNC_AHEAD", "auto", 1);
    bench_start(&bench, argc, argv, 2);
    both.buffer = malloc(what[CASES - 1].bytes);
    bench_require(both.buffer != NULL, "malloc");
    if (bench.side == BENCH_OURS)
        make(&both);
    bench_compare(&bench, ours, theirs, &both);
    free(both.buffer);
    return bench_finish(&bench);
}
