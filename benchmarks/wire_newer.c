/*
 * wire_newer - a rank waits for what another host's rank writes; 2 ranks on 2
 * hosts.
 *
 * ours    drasync_acquire_newer()
 * theirs  MPI_Send(), MPI_Recv() and MPI_Sendrecv() of the same bytes, all of
 *         which are written by who sends, and read by who gets them
 *
 * Case ball: both ranks WRITE one region of 64 bytes in turn.  Cases swap_BYTES:
 * each rank writes a region of its own and READs the other's, of two of each that
 * are used in turn.  Timed: to and fro; one exchange.
 */
#include <stdlib.h>
#include <string.h>

#include "benchmarks/common.h"
#include "drasync.h"

#include <mpi.h>

#define COUNT_TINY 4

static const struct {
    size_t bytes;
    int count;
} what[] = {{64, 400}, {64, 400}, {8 << 10, 400}, {256 << 10, 100}};
static const char *const cases[] = {"ball", "swap_64", "swap_8K", "swap_256K"};

#define CASES ((int)(sizeof(what) / sizeof(what[0])))

static struct bench bench = {
    .name = "wire_newer",
    .unit = "us",
    .what = "a region that another host's rank writes is waited for and read; "
            "MPI messages\nof the same bytes.\n",
    .runs = 9,
    .jobs = 3,
    .cases = cases,
    .cases_count = CASES,
};

struct box {
    drasync_region_t region;
    uint64_t *words;
    uint64_t seen;
};

struct both {
    struct box mine[2], others[2]; /* of the case */
    uint64_t *words[2], *came;
    uint64_t sum;
};

static size_t words(void)
{
    return what[bench.now].bytes / sizeof(uint64_t);
}

static void fill(uint64_t *word, uint64_t with)
{
    for (size_t i = 0; i < words(); i++)
        word[i] = with + i;
}

static void look(struct both *b, const uint64_t *word)
{
    for (size_t i = 0; i < words(); i++)
        b->sum += word[i];
}

static void newer(struct box *box, enum drasync_mode mode)
{
    bench_check(
        drasync_acquire_newer(box->region, mode, &box->seen, DRASYNC_FOREVER),
        "acquire");
}

static void make(struct both *b)
{
    for (int k = 0; k < 2; k++) {
        struct box *box = &b->mine[k];
        void *v;

        bench_check(drasync_new_region(&box->region), "new");
        bench_check(drasync_alloc(box->region, what[bench.now].bytes, &v),
                    "alloc");
        box->words = v;
        fill(box->words, 0);
        bench_check(drasync_get_version(box->region, &box->seen), "version");
        bench_check(drasync_release(box->region), "release");
    }
    MPI_Sendrecv(b->mine, sizeof(b->mine), MPI_BYTE, 1 - bench.rank, 0,
                 b->others, sizeof(b->others), MPI_BYTE, 1 - bench.rank, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void unmake(struct both *b)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 2; k++)
        bench_check(drasync_delete(b->mine[k].region), "delete");
}

/* Rank 0 begins. */
static void ball(struct both *b, int count)
{
    struct box *box = bench.rank ? b->others : b->mine;

    if (bench.rank == 0)
        box->seen = 0;
    for (int i = 0; i < count; i++) {
        newer(box, DRASYNC_WRITE);
        look(b, box->words);
        fill(box->words, (uint64_t)i);
        bench_check(drasync_release(box->region), "release");
    }
}

static void swap(struct both *b, int count)
{
    for (int i = 0; i < count; i++) {
        struct box *box = &b->mine[i % 2];

        bench_check(drasync_acquire(box->region, DRASYNC_WRITE), "acquire");
        fill(box->words, (uint64_t)i);
        bench_check(drasync_release(box->region), "release");
        box = &b->others[i % 2];
        newer(box, DRASYNC_READ);
        look(b, box->words);
        bench_check(drasync_release(box->region), "release");
    }
}

static double ours(void *arg)
{
    int count = bench.tiny ? COUNT_TINY : what[bench.now].count;
    struct both *b = arg;
    double begin;

    make(b);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    (bench.now ? swap : ball)(b, count);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = (bench_now_ns() - begin) * 1e-3 / count;
    unmake(b);
    return bench_told(begin, 0);
}

static void theirs_ball(struct both *b, int count)
{
    int bytes = (int)what[bench.now].bytes, other = 1 - bench.rank;

    for (int i = 0; i < count; i++) {
        if (bench.rank || i)
            MPI_Recv(b->came, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        look(b, b->came);
        fill(b->came, (uint64_t)i);
        MPI_Send(b->came, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
    if (!bench.rank)
        MPI_Recv(b->came, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void theirs_swap(struct both *b, int count)
{
    int bytes = (int)what[bench.now].bytes, other = 1 - bench.rank;

    for (int i = 0; i < count; i++) {
        fill(b->words[0], (uint64_t)i);
        MPI_Sendrecv(b->words[0], bytes, MPI_BYTE, other, 0, b->came, bytes,
                     MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        look(b, b->came);
    }
}

static double theirs(void *arg)
{
    int count = bench.tiny ? COUNT_TINY : what[bench.now].count;
    struct both *b = arg;
    double begin;

    b->words[0] = calloc(words(), sizeof(uint64_t));
    b->came = calloc(words(), sizeof(uint64_t));
    if (!b->words[0] || !b->came)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    (bench.now ? theirs_swap : theirs_ball)(b, count);
    MPI_Barrier(MPI_COMM_WORLD);
    begin = (bench_now_ns() - begin) * 1e-3 / count;
    free(b->words[0]);
    free(b->came);
    return bench_told(begin, 0);
}

int main(int argc, char **argv)
{
    struct both both = {.sum = 0};

    setenv("DRASYNC_AHEAD", "auto", 1); /* the default */
    bench_start(&bench, argc, argv, 2);
    bench_compare(&bench, ours, theirs, &both);
    return bench_finish(&bench);
}
