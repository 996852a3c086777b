/* reacquire_unchanged - see reacquire.h; nothing was changed in between. */
#include "benchmarks/reacquire.h"

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "reacquire_unchanged",
        .unit = "us",
        .what = "READ again of 64 MiB of another node that did not change; the "
                "first READ.\n",
        .runs = 9,
    };

    return reacquire_main(&bench, argc, argv, 0);
}
