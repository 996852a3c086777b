/* reacquire_touched - see reacquire.h; one page in a hundred was changed in
 * between, a word in each. */
#include "benchmarks/reacquire.h"

int main(int argc, char **argv)
{
    static struct bench bench = {
        .name = "reacquire_touched",
        .unit = "us",
        .what = "READ again of 64 MiB of another node after 1 % of the pages "
                "changed; the\nfirst READ.\n",
        .runs = 9,
    };

    return reacquire_main(&bench, argc, argv, 100);
}
