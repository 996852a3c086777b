/*
 * iacquire_threads - requests for READ that are granted at once:
 * drasync_iacquire(), drasync_test(), drasync_release().
 *
 * By one thread, by two threads of a rank that ask for the same region, and by
 * two ranks of a node that do.  The row has no rival: MPI has no locks that are
 * asked for.
 */
#include "benchmarks/threads_row.h"

#include <mpi.h>

#define CALLS      10000
#define CALLS_TINY 100

enum { ONE, THREADS, RANKS };

static const char *const cases[] = {"one", "threads", "ranks"};

static struct bench bench = {
    .name = "iacquire_threads",
    .unit = "ns",
    .what = "drasync_iacquire() for READ, drasync_test(), drasync_release(): "
            "one thread,\ntwo threads, two ranks.\n",
    .runs = 9,
    .cases = cases,
    .cases_count = RANKS + 1,
    .figure = true,
};

struct both {
    struct threads_row row;
    drasync_region_t region;
    uint64_t *object;
};

static inline void call(void *arg, size_t i)
{
    const struct both *b = arg;
    drasync_request_t request;
    uint64_t value;
    int done;

    (void)i;
    threads_check(drasync_iacquire(b->region, DRASYNC_READ, &request),
                  "iacquire");
    threads_check(drasync_test(&request, &done), "test");
    if (!done)
        threads_check(drasync_wait(&request, DRASYNC_FOREVER), "wait");
    value = *(const volatile uint64_t *)b->object;
    bench_keep(&value);
    threads_check(drasync_release(b->region), "release");
}

static void work(struct threads_worker *w)
{
    threads_parts(w, call);
}

static double ours(void *arg)
{
    struct both *b = arg;
    double ns = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (bench.rank == 0 || (bench.rank == 1 && bench.now == RANKS))
        ns = threads_row_ns(&b->row, bench.now == THREADS ? 2 : 1, work, b);
    bench_barrier_asleep();
    return ns;
}

static void prepare(struct both *b)
{
    void *object;

    if (bench.rank == 0) {
        bench_check(drasync_new_region(&b->region), "new_region");
        bench_check(drasync_alloc(b->region, 64, &object), "alloc");
        b->object = object;
        *b->object = 1;
        bench_check(drasync_release(b->region), "release");
    }
    MPI_Bcast(b, sizeof(*b), MPI_BYTE, 0, MPI_COMM_WORLD);
    b->row.first = bench.rank;
}

int main(int argc, char **argv)
{
    static struct both both;

    threads_row_cores(&both.row);
    bench_start(&bench, argc, argv, 2);
    if (bench.cores < 2)
        bench_skip(&bench, "two threads that run at once need two cores");
    both.row.calls = bench.tiny ? CALLS_TINY : CALLS;
    prepare(&both);
    bench_compare(&bench, ours, NULL, &both);
    return bench_finish(&bench);
}
