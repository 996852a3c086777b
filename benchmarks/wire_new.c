/* wire_new - a new region goes to another host (new_row.h). */
#include "benchmarks/new_row.h"

int main(int argc, char **argv)
{
    static struct new_row row = {
        .bench =
            {
                .name = "wire_new",
                .unit = "us",
                .what = "A new region goes to another host; malloc, MPI_Send, "
                        "MPI_Recv.\n",
                .runs = 9,
                .jobs = 3,
            },
    };

    return new_main(&row, argc, argv);
}
