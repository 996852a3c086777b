/* ahead_pair - the time that acquires take with hints and without (ahead_row.h). */
#include "benchmarks/ahead_row.h"

static double ours(void *arg)
{
    struct ahead_row *row = arg;

    ahead_measure(row, true);
    return row->exposed_us;
}

static double theirs(void *arg)
{
    struct ahead_row *row = arg;

    ahead_measure(row, false);
    return row->exposed_us;
}

int main(int argc, char **argv)
{
    static struct ahead_row row = {
        .bench =
            {
                .name = "ahead_pair",
                .unit = "us",
                .what =
                    "An acquire of what another host wrote, asked ahead; not "
                    "asked ahead.\n",
                .runs = 9,
                .cases = ahead_cases,
                .cases_count = AHEAD_CASES,
            },
    };

    ahead_wanted();
    bench_options(&row.bench, argc, argv);
    bench_drasync_start(&row.bench, 2);
    ahead_make(&row);
    bench_compare(&row.bench, ours, theirs, &row);
    return bench_finish(&row.bench);
}
