/*
 * dart_unit_wire - a unit that does not lead its node puts and gets; the two leaders' other
 * units sleep.
 */
#include "benchmarks/dart_wire_cases.h"

int main(int argc, char **argv)
{
    static struct cases_row row = {
        .bench =
            {
                .name = "dart_unit_wire",
                .unit = "us",
                .what = "Blocking put and get of a unit beside the one that "
                        "leads its node.\n",
                .runs = 12,
                .jobs = 4,
                .cases = plain_names,
                .cases_count = sizeof(plain_names) / sizeof(plain_names[0]),
            },
        .cases = plain_cases,
        .actor = 2,
        .target = 1,
        .units = 4,
        .plainly = false,
        .team = DART_TEAM_NULL,
    };

    return cases_main(&row, argc, argv);
}
