/* tree_transfer - a tree goes from rank to rank of a node (tree_row.h). */
#include "benchmarks/tree_row.h"

int main(int argc, char **argv)
{
    static struct tree_row row = {
        .bench =
            {
                .name = "tree_transfer",
                .unit = "ms",
                .what = "A binary tree of 1 M nodes: acquire and walk; a tree "
                        "of 32-bit places in a\nshared window, or sent; pack, "
                        "send, rebuild and walk.\n",
                .runs = 9,
                .jobs = 3,
                .rivals = tree_rivals,
                .rivals_count = TREE_WINDOW + 1,
            },
    };

    return tree_main(&row, argc, argv);
}
