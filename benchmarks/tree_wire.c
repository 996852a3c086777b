/* tree_wire - a tree goes from host to host (tree_row.h). */
#include "benchmarks/tree_row.h"

int main(int argc, char **argv)
{
    static struct tree_row row = {
        .bench =
            {
                .name = "tree_wire",
                .unit = "ms",
                .what = "A binary tree of 1 M nodes between hosts: acquire and "
                        "walk; a tree of 32-bit\nplaces, sent; pack, send, "
                        "rebuild and walk.\n",
                .runs = 9,
                .jobs = 3,
                .rivals = tree_rivals,
                .rivals_count = TREE_REBUILD + 1,
            },
    };

    return tree_main(&row, argc, argv);
}
