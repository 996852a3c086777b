/*
 * token_place - a region that rank 0 made and another host READs 1,000 times
 * between two WRITEs of its own; 2 ranks on 2 hosts, 64 B, DRASYNC_AHEAD=off.
 *
 * ours    rank 1 has had WRITE: the region moved to its host
 * theirs  it has not yet: rank 0 has had WRITE, and owns it
 *
 * Timed: a READ and its release, at rank 1.  By default (DRASYNC_AHEAD=auto) a host
 * that READs one version again and again asks for a promise and sends no message
 * either; that is left out, as it would hide what the move is worth.
 */
#include "benchmarks/common.h"

#include <mpi.h>
#include <stdlib.h>

#define READS      1000
#define READS_TINY 10

static struct bench bench = {
    .name = "token_place",
    .unit = "us",
    .what = "READ of a region after its WRITE moved it here; before that.\n",
    .runs = 9,
};

struct shared {
    drasync_region_t region;
    volatile uint64_t *words;
};

/* WRITE by @rank; nobody is in a call afterwards. */
static void write_at(const struct shared *s, int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (bench.rank == rank) {
        bench_check(drasync_acquire(s->region, DRASYNC_WRITE), "acquire");
        s->words[0]++;
        bench_check(drasync_release(s->region), "release");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A READ by rank 1, in microseconds. */
static double reads(const struct shared *s)
{
    const int count = bench.tiny ? READS_TINY : READS;
    uint64_t first = 0;
    double begin = bench_now_ns(), us = 0;

    for (int i = 0; i < count && bench.rank == 1; i++) {
        bench_check(drasync_acquire(s->region, DRASYNC_READ), "acquire");
        if (i == 0)
            first = s->words[0];
        bench_require(s->words[0] == first, "what was read");
        bench_check(drasync_release(s->region), "release");
    }
    if (bench.rank == 1)
        us = (bench_now_ns() - begin) * 1e-3 / count;
    return bench_told(us, 1);
}

static double ours(void *arg)
{
    write_at(arg, 1);
    return reads(arg);
}

static double theirs(void *arg)
{
    write_at(arg, 0);
    return reads(arg);
}

int main(int argc, char **argv)
{
    struct shared shared = {NULL, NULL};

    setenv("DRASYNC_AHEAD", "off", 1);
    bench_options(&bench, argc, argv);
    bench_drasync_start(&bench, 2);
    if (bench.rank == 0) {
        void *words;

        bench_check(drasync_new_region(&shared.region), "drasync_new_region");
        bench_check(drasync_alloc(shared.region, 64, &words), "drasync_alloc");
        shared.words = words;
        shared.words[0] = 0;
        bench_check(drasync_release(shared.region), "release");
    }
    MPI_Bcast(&shared, sizeof(shared), MPI_BYTE, 0, MPI_COMM_WORLD);
    bench_compare(&bench, ours, theirs, &shared);
    return bench_finish(&bench);
}
