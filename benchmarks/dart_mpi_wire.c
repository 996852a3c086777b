/*
 * dart_mpi_wire - puts and gets while the target waits in MPI_Barrier() on both sides.
 */
#include "benchmarks/dart_wire_cases.h"

int main(int argc, char **argv)
{
    static struct cases_row row = {
        .bench =
            {
                .name = "dart_mpi_wire",
                .unit = "us",
                .what = "Blocking put and get; the target waits in "
                        "MPI_Barrier().\n",
                .runs = 12,
                .jobs = 4,
                .cases = plain_names,
                .cases_count = sizeof(plain_names) / sizeof(plain_names[0]),
            },
        .cases = plain_cases,
        .actor = 0,
        .target = 1,
        .units = 2,
        .plainly = true,
        .team = DART_TEAM_NULL,
    };

    return cases_main(&row, argc, argv);
}
