/*
 * dart_get_node - ours: dart_get_blocking() of another unit's memory on the
 * node; theirs: memcpy() of as much.
 */
#include "benchmarks/dart_node.h"

static void dart(struct node_row *row, size_t bytes)
{
    dart_check(dart_get_blocking(row->buffer, row->memory.there, bytes,
                                 DART_TYPE_BYTE, DART_TYPE_BYTE),
               "dart_get_blocking");
}

/* As the compiler does it where the size is known, and where it is not. */
static void copy(struct node_row *row, size_t bytes)
{
    if (bytes == 8)
        memcpy(row->buffer, row->shared, 8);
    else
        memcpy(row->buffer, row->shared, bytes);
    bench_keep(row->buffer);
}

static double ours(void *row)
{
    return node_time(row, dart);
}

static double theirs(void *row)
{
    return node_time(row, copy);
}

int main(int argc, char **argv)
{
    static struct node_row row = {
        .bench =
            {
                .name = "dart_get_node",
                .unit = "ns",
                .what = "dart_get_blocking() of another unit's memory on the "
                        "node; memcpy().\n",
                .runs = 15,
            },
    };

    return node_main(&row, argc, argv, ours, theirs);
}
