/*
 * wire_changed - a region of which one word in a hundred changes, written by one
 * host and READ by another, again and again; 2 ranks on 2 hosts, regions of
 * 16 KiB, 256 KiB and 1 MiB.
 *
 * ours    rank 0 has WRITE, changes the words where they lie, releases and says
 *         so to rank 1 by an empty MPI message; that READs the region, adds all
 *         of it up, and answers by another one
 * theirs  as one writes it by hand: rank 0 changes the words and packs them with
 *         their places into a message; rank 1 puts them into its own copy, adds
 *         that up, and answers by an empty message
 *
 * Timed: a round, at rank 0.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define EACH 100 /* one word in so many changes */

static const struct {
    size_t words;
    int count;
} what[] = {{2048, 400}, {32768, 200}, {131072, 100}};
static const char *const cases[] = {"16K", "256K", "1M"};

#define CASES      ((int)(sizeof(what) / sizeof(what[0])))
#define COUNT_TINY 6

static struct bench bench = {
    .name = "wire_changed",
    .unit = "us",
    .what = "A region of 16 KiB, 256 KiB, 1 MiB of which one host changes a "
            "hundredth and\nanother one READs all; the words that changed, "
            "packed and sent by MPI.\n",
    .runs = 9,
    .jobs = 3,
    .cases = cases,
    .cases_count = CASES,
};

struct shared {
    drasync_region_t region;
    uint64_t *words;
};

struct change {
    uint64_t at, value;
};

struct both {
    struct shared shared[CASES];
    uint64_t *copy[CASES];
    struct change *changes;
    uint64_t rounds[CASES]; /* made so far */
};

/* Each word has been added to once after EACH rounds.  How many changed, in
 * @changes if that is not NULL. */
static size_t change(uint64_t *words, size_t count, uint64_t round,
                     struct change *changes)
{
    size_t n = 0;

    for (size_t i = round % EACH; i < count; i += EACH) {
        words[i]++;
        if (changes)
            changes[n++] = (struct change){i, words[i]};
    }
    return n;
}

/* The words that @rounds rounds have added. */
static uint64_t sum_after(size_t count, uint64_t rounds)
{
    uint64_t sum = rounds / EACH * count;

    for (uint64_t r = 0; r < rounds % EACH; r++)
        sum += (count - r + EACH - 1) / EACH;
    return sum;
}

static void add_up(const uint64_t *words, size_t count, uint64_t rounds)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += words[i];
    bench_require(sum == sum_after(count, rounds), "what was read");
}

static void say(int to)
{
    MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

static void hear(int from)
{
    MPI_Recv(NULL, 0, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ours_round(struct both *b, size_t count, uint64_t round)
{
    const struct shared *s = &b->shared[bench.now];

    if (bench.rank == 1)
        hear(0);
    bench_check(drasync_acquire(s->region,
                                bench.rank == 0 ? DRASYNC_WRITE : DRASYNC_READ),
                "acquire");
    if (bench.rank == 0)
        change(s->words, count, round, NULL);
    else
        add_up(s->words, count, round + 1);
    bench_check(drasync_release(s->region), "release");
    say(1 - bench.rank);
    if (bench.rank == 0)
        hear(1);
}

static void theirs_round(struct both *b, size_t count, uint64_t round)
{
    const size_t most = count / EACH + 1;

    if (bench.rank == 0) {
        size_t n = change(b->copy[bench.now], count, round, b->changes);

        MPI_Send(b->changes, (int)(n * sizeof(*b->changes)), MPI_BYTE, 1, 0,
                 MPI_COMM_WORLD);
        hear(1);
    } else {
        MPI_Status status;
        int bytes;

        MPI_Recv(b->changes, (int)(most * sizeof(*b->changes)), MPI_BYTE, 0, 0,
                 MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        for (size_t i = 0; i < (size_t)bytes / sizeof(*b->changes); i++)
            b->copy[bench.now][b->changes[i].at] = b->changes[i].value;
        add_up(b->copy[bench.now], count, round + 1);
        say(0);
    }
}

static double rounds(struct both *b,
                     void (*round)(struct both *, size_t, uint64_t))
{
    const int count = bench.tiny ? COUNT_TINY : what[bench.now].count;
    const size_t words = what[bench.now].words;
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    for (int i = 0; i < count; i++)
        round(b, words, b->rounds[bench.now]++);
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
        const size_t bytes = what[i].words * sizeof(*s->words);
        void *words;

        bench_check(drasync_new_region(&s->region), "drasync_new_region");
        bench_check(drasync_alloc(s->region, bytes, &words), "drasync_alloc");
        memset(words, 0, bytes);
        s->words = words;
        bench_check(drasync_release(s->region), "release");
    }
    MPI_Bcast(b->shared, sizeof(b->shared), MPI_BYTE, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static struct both both;
    const size_t most = what[CASES - 1].words;

    setenv("DRASYNC_AHEAD", "auto", 1);
    bench_start(&bench, argc, argv, 2);
    both.changes = malloc((most / EACH + 1) * sizeof(*both.changes));
    bench_require(both.changes != NULL, "malloc");
    for (int i = 0; i < CASES; i++) {
        both.copy[i] = calloc(what[i].words, sizeof(*both.copy[i]));
        bench_require(both.copy[i] != NULL, "malloc");
    }
    if (bench.side == BENCH_OURS)
        make(&both);
    bench_compare(&bench, ours, theirs, &both);
    for (int i = 0; i < CASES; i++)
        free(both.copy[i]);
    free(both.changes);
    return bench_finish(&bench);
}
