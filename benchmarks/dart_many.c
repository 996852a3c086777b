/*
 * dart_many - do teams, locks and what is done with them become slower with
 * their number?  2 units on a node.
 *
 * ours    number 10,000 (100 of them, the last)
 * theirs  number 100 (the first hundred)
 *
 * Cases: making a team, making a lock, a unit's number in a team from its global
 * one and back.
 */
#include "benchmarks/dart.h"

#define COUNT      10000
#define COUNT_TINY 200
#define PART       100

enum { TEAM, LOCK, TRANSLATE };
static const char *const names[] = {"team", "lock", "translate"};

struct row {
    struct bench bench;
    int count;
    dart_team_t teams[COUNT];
    dart_lock_t locks[COUNT];
};

/* Microseconds to make one of teams [from, to), or locks. */
static double make(struct row *row, int from, int to)
{
    double begin;

    MPI_Barrier(MPI_COMM_WORLD);
    begin = bench_now_ns();
    for (int i = from; i < to; i++)
        dart_check(row->bench.now == LOCK
                       ? dart_team_lock_init(DART_TEAM_ALL, &row->locks[i])
                       : dart_team_clone(DART_TEAM_ALL, &row->teams[i]),
                   "making one");
    return (bench_now_ns() - begin) * 1e-3 / (to - from);
}

static double translate(struct row *row, int from, int to)
{
    double begin = bench_now_ns();

    for (int i = from; i < to; i++) {
        dart_team_unit_t local;
        dart_global_unit_t global;

        dart_check(
            dart_team_unit_g2l(row->teams[i], DART_GLOBAL_UNIT_ID(1), &local),
            "dart_team_unit_g2l");
        dart_check(dart_team_unit_l2g(row->teams[i], local, &global),
                   "dart_team_unit_l2g");
        bench_keep(&global);
    }
    return (bench_now_ns() - begin) * 1e-3 / (to - from);
}

static void end_all(struct row *row)
{
    for (int i = 0; i < row->count; i++)
        dart_check(row->bench.now == LOCK
                       ? dart_team_lock_destroy(&row->locks[i])
                       : dart_team_destroy(&row->teams[i]),
                   "ending one");
}

static void measure(struct row *row, bool counts)
{
    double first = make(row, 0, PART), last;

    make(row, PART, row->count - PART);
    last = make(row, row->count - PART, row->count);
    if (row->bench.now == TRANSLATE) {
        translate(row, 0, PART);
        first = translate(row, 0, PART);
        translate(row, row->count - PART, row->count);
        last = translate(row, row->count - PART, row->count);
    }
    end_all(row);
    if (counts) {
        bench_add(&row->bench, BENCH_OURS, last);
        bench_add(&row->bench, BENCH_THEIRS, first);
    }
}

int main(int argc, char **argv)
{
    static struct row row = {
        .bench =
            {
                .name = "dart_many",
                .unit = "us",
                .what = "Making team or lock number 10,000; number 100.\n",
                .runs = 5,
                .cases = names,
                .cases_count = 3,
            },
    };
    struct bench *b = &row.bench;

    bench_start(b, argc, argv, 2);
    dart_check(dart_init(NULL, NULL), "dart_init");
    row.count = b->tiny ? COUNT_TINY : COUNT;
    for (int i = 0; i <= b->runs; i++)
        for (b->now = 0; b->now < b->cases_count; b->now++)
            measure(&row, i > 0);
    b->now = 0;
    dart_check(dart_exit(), "dart_exit");
    return bench_finish(b);
}
