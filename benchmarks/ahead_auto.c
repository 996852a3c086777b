/*
 * ahead_auto - the iteration of ahead_row.h without a call that asks ahead, under
 * DRASYNC_AHEAD=auto; against the same with calls put in by hand.
 */
#include "benchmarks/ahead_row.h"

static double ours(void *arg)
{
    struct ahead_row *row = arg;

    ahead_measure(row, false);
    return row->iteration_us;
}

static double theirs(void *arg)
{
    struct ahead_row *row = arg;

    ahead_measure(row, true);
    return row->iteration_us;
}

int main(int argc, char **argv)
{
    static struct ahead_row row = {
        .bench =
            {
                .name = "ahead_auto",
                .unit = "us",
                .what = "An iteration of a consumer that asks nothing ahead, "
                        "with DRASYNC_AHEAD=auto;\nwith calls of "
                        "drasync_ahead().\n",
                .runs = 9,
                .jobs = 3,
                .cases = ahead_cases,
                .cases_count = AHEAD_CASES,
            },
    };

    bench_begin(&row.bench, argc, argv);
    ahead_wanted();
    if (row.bench.side == BENCH_OURS)
        setenv("DRASYNC_AHEAD", "auto", 1);
    bench_drasync_start(&row.bench, 2);
    ahead_make(&row);
    bench_compare(&row.bench, ours, theirs, &row);
    return bench_finish(&row.bench);
}
