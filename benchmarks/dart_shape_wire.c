/*
 * dart_shape_wire - puts and gets of every other block of 64 bytes; theirs with
 * MPI_Type_vector().
 */
#include "benchmarks/dart_wire_cases.h"

static const char *const names[] = {"put512", "put8K", "put256K",
                                    "get512", "get8K", "get256K"};

/* put, bytes, block, how many */
static const struct wire_case cases[] = {
    {true, 512, 64, 200},  {true, 8192, 64, 200},  {true, 262144, 64, 20},
    {false, 512, 64, 200}, {false, 8192, 64, 200}, {false, 262144, 64, 20},
};

int main(int argc, char **argv)
{
    static struct cases_row row = {
        .bench =
            {
                .name = "dart_shape_wire",
                .unit = "us",
                .what = "Blocking put and get of blocks of 64 B; "
                        "MPI_Type_vector().\n",
                .runs = 12,
                .jobs = 4,
                .cases = names,
                .cases_count = sizeof(names) / sizeof(names[0]),
            },
        .cases = cases,
        .actor = 0,
        .target = 1,
        .units = 2,
        .plainly = false,
        .team = DART_TEAM_NULL,
    };

    return cases_main(&row, argc, argv);
}
