/* wire_delete - a new region of another host is deleted (new_row.h). */
#include "benchmarks/new_row.h"

int main(int argc, char **argv)
{
    static struct new_row row = {
        .bench =
            {
                .name = "wire_delete",
                .unit = "us",
                .what = "A region that another host made is deleted; free of "
                        "what MPI_Recv brought.\n",
                .runs = 9,
                .jobs = 3,
            },
        .tells_delete = true,
    };

    return new_main(&row, argc, argv);
}
