/*
 * dart_unit_wire - a unit that does not lead its node puts and gets; the two leaders' other
 * units sleep.
 */
#include "benchmarks/dart_wire_cases.h"

static const char *const names[] = {"put8", "put4K", "put32K", "put2M",
                                    "get8", "get4K", "get32K", "get2M"};

/* put, bytes, block, how many */
static const struct wire_case cases[] = {
    {true, 8, 0, 500},      {true, 4096, 0, 500},    {true, 32768, 0, 200},
    {true, 2 << 20, 0, 10}, {false, 8, 0, 500},      {false, 4096, 0, 500},
    {false, 32768, 0, 200}, {false, 2 << 20, 0, 10},
};

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
                .cases = names,
                .cases_count = sizeof(names) / sizeof(names[0]),
            },
        .cases = cases,
        .actor = 2,
        .target = 1,
        .units = 4,
        .plainly = false,
        .team = DART_TEAM_NULL,
    };

    return cases_main(&row, argc, argv);
}
