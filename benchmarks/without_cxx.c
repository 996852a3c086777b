/* A row that compares C++ programs, built without a compiler for C++17. */
#include "benchmarks/common.h"

#include <string.h>

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    struct bench b = {
        .name = slash ? slash + 1 : argv[0],
        .unit = "ms",
        .what = "Built without a compiler for C++17: nothing is measured.\n",
        .runs = 1,
    };

    bench_options(&b, argc, argv);
    bench_skip(&b, "built without a compiler for C++17 (Debian: g++)");
}
