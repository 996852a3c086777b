/*
 * ahead_halo - ranks that each have all others as neighbours, each on a host of
 * its own (3, 5 or 9 ranks): an iteration looks at what the neighbours wrote in
 * the one before, writes what they look at in the next, and computes.
 *
 * ours  regions that are acquired, two of each rank in turn; exchanging and
 *       computing are phases, so what is exchanged next is asked ahead when
 *       computing begins; DRASYNC_AHEAD=token
 * off   the same with DRASYNC_AHEAD=off
 * mpi   MPI_Irecv() and MPI_Isend() by hand, with two buffers for each neighbour:
 *       what the next iteration needs comes while this one computes
 *
 * Timed: an iteration.
 */
#include <mpi.h>
#include <stdlib.h>

#include "benchmarks/common.h"
#include "benchmarks/pages.h"

enum { NEIGHBOURS_MAX = 8, RANKS_MAX = NEIGHBOURS_MAX + 1, COUNT_TINY = 6 };

static const struct {
    size_t bytes;
    double ms;
    int count;
} what[] = {{(size_t)16 << 10, 1, 100}, {(size_t)256 << 10, 5, 40}};

#define BYTES_MAX ((size_t)256 << 10)
#define BY_MPI    (BENCH_THEIRS + 1) /* the second rival */

static const char *const cases[] = {"16K", "256K"};
static const char *const rivals[] = {"off", "mpi"};

static struct bench bench = {
    .name = "ahead_halo",
    .unit = "us",
    .what = "An iteration that reads what 2 to 8 neighbours on other hosts "
            "wrote, with phases;\nwith DRASYNC_AHEAD=off; MPI_Irecv and "
            "MPI_Isend.\n",
    .runs = 9,
    .jobs = 3,
    .cases = cases,
    .cases_count = 2,
    .rivals = rivals,
    .rivals_count = 2,
};

static uint64_t sum;

static int count_of(void)
{
    return bench.tiny ? COUNT_TINY : what[bench.now].count;
}

static void compute(void)
{
    double end = bench_now_ns() + what[bench.now].ms * 1e6;

    while (bench_now_ns() < end)
        continue;
}

/* --- With regions --------------------------------------------------------- */

/* What a rank shows its neighbours, in even iterations and in odd ones. */
static struct border {
    drasync_region_t region;
    uint64_t *object;
} border[RANKS_MAX][2];

/* Objects of a case, as only what is used travels. */
static void make(size_t bytes)
{
    for (int i = 0; i < 2; i++) {
        struct border *own = &border[bench.rank][i];
        void *object;

        bench_check(drasync_new_region(&own->region), "new_region");
        bench_check(drasync_alloc(own->region, bytes, &object), "alloc");
        own->object = object;
        pages_change(object, bytes, 1);
        bench_check(drasync_release(own->region), "release");
    }
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, border, sizeof(border[0]),
                  MPI_BYTE, MPI_COMM_WORLD);
}

static void unmake(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        bench_check(drasync_delete(border[bench.rank][i].region), "delete");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All neighbours have come so far: they have written, and looked. */
static void meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static double with_regions(void *arg)
{
    const size_t bytes = what[bench.now].bytes;
    const int count = count_of();
    double begin;

    (void)arg;
    make(bytes);
    meet();
    begin = bench_now_ns();
    for (int i = 0; i < count; i++) {
        struct border *own = &border[bench.rank][(i + 1) % 2];

        if (i % 2 == 0)
            bench_check(drasync_iteration(), "iteration");
        bench_check(drasync_phase(i % 2 * 2), "phase");
        for (int r = 1; r < bench.ranks; r++) {
            struct border *b = &border[(bench.rank + r) % bench.ranks][i % 2];

            bench_check(drasync_acquire(b->region, DRASYNC_READ), "acquire");
            sum += pages_read(b->object, bytes);
            bench_check(drasync_release(b->region), "release");
        }
        bench_check(drasync_acquire(own->region, DRASYNC_WRITE), "acquire");
        pages_change(own->object, bytes, 1);
        bench_check(drasync_release(own->region), "release");
        bench_check(drasync_phase(i % 2 * 2 + 1), "phase");
        compute();
        meet();
    }
    begin = (bench_now_ns() - begin) * 1e-3 / count;
    bench_require(sum > 0, "what was read");
    unmake();
    return bench_told(begin, 0);
}

/* --- With messages -------------------------------------------------------- */

static uint64_t *sent[2], *received[NEIGHBOURS_MAX][2];

/* Send what iteration @i + 1 looks at, and receive it. */
static void exchange(int i, MPI_Request *request)
{
    const int bytes = (int)what[bench.now].bytes;

    for (int r = 1; r < bench.ranks; r++)
        MPI_Irecv(received[r - 1][i % 2], bytes, MPI_BYTE,
                  (bench.rank + r) % bench.ranks, i % 2, MPI_COMM_WORLD,
                  request++);
    for (int r = 1; r < bench.ranks; r++)
        MPI_Isend(sent[i % 2], bytes, MPI_BYTE, (bench.rank + r) % bench.ranks,
                  i % 2, MPI_COMM_WORLD, request++);
}

static double with_messages(void)
{
    const int count = count_of(), requests = 2 * (bench.ranks - 1);
    MPI_Request request[2][2 * NEIGHBOURS_MAX];
    MPI_Status statuses[2 * NEIGHBOURS_MAX];
    double begin;

    for (int i = 0; i < 2 && !sent[i]; i++) {
        sent[i] = bench_buffer(BYTES_MAX);
        for (int r = 0; r < NEIGHBOURS_MAX; r++)
            received[r][i] = bench_buffer(BYTES_MAX);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    pages_change(sent[1], what[bench.now].bytes, 1);
    exchange(1, request[1]);
    for (int i = 0; i < count; i++) {
        MPI_Waitall(requests, request[(i + 1) % 2], statuses);
        for (int r = 1; r < bench.ranks; r++)
            sum +=
                pages_read(received[r - 1][(i + 1) % 2], what[bench.now].bytes);
        pages_change(sent[i % 2], what[bench.now].bytes, 1);
        exchange(i, request[i % 2]);
        compute();
    }
    MPI_Waitall(requests, request[(count + 1) % 2], statuses);
    begin = (bench_now_ns() - begin) * 1e-3 / count;
    bench_require(sum > 0, "what was received");
    return bench_told(begin, 0);
}

static double theirs(void *arg)
{
    return bench.side == BY_MPI ? with_messages() : with_regions(arg);
}

int main(int argc, char **argv)
{
    bench_begin(&bench, argc, argv);
    setenv("DRASYNC_AHEAD", bench.side == BENCH_OURS ? "token" : "off", 1);
    if (bench.side == BY_MPI)
        bench_mpi_start(&bench, 3);
    else
        bench_drasync_start(&bench, 3);
    bench_require(bench.ranks <= RANKS_MAX, "at most 9 ranks");
    bench_compare(&bench, with_regions, theirs, NULL);
    return bench_finish(&bench);
}
