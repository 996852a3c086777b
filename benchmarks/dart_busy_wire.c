/* dart_busy_wire - put, get and fetch_and_op of a unit on another host that computes. */
#include "benchmarks/dart_busy.h"

int main(int argc, char **argv)
{
    static struct busy_row row = {
        .bench =
            {
                .name = "dart_busy_wire",
                .unit = "us",
                .what = "Put, get, fetch_and_op of a unit on another host that "
                        "computes; MPI-3's,\nwith and without asynchronous "
                        "progress.\n",
                .runs = 9,
                .jobs = 3,
            },
        .count = 200,
    };

    return busy_main(&row, argc, argv);
}
