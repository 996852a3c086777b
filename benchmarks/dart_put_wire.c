/*
 * dart_put_wire - ours: dart_put_blocking() of a unit's memory on another host;
 * theirs: MPI_Put() and MPI_Win_flush() on a window that is locked for all.
 */
#include "benchmarks/dart_wire.h"

static void dart(struct wire_row *row, size_t bytes)
{
    dart_check(dart_put_blocking(row->memory.there, row->buffer, bytes,
                                 DART_TYPE_BYTE, DART_TYPE_BYTE),
               "dart_put_blocking");
}

static void mpi(struct wire_row *row, size_t bytes)
{
    const struct dart_memory *m = &row->memory;

    MPI_Put(row->buffer, (int)bytes, MPI_BYTE, m->other, 0, (int)bytes,
            MPI_BYTE, m->win);
    MPI_Win_flush(m->other, m->win);
}

static double ours(void *row)
{
    return wire_time(row, dart, true);
}

static double theirs(void *row)
{
    return wire_time(row, mpi, false);
}

int main(int argc, char **argv)
{
    static struct wire_row row = {
        .bench =
            {
                .name = "dart_put_wire",
                .unit = "us",
                .what = "dart_put_blocking() between hosts; MPI_Put() and "
                        "MPI_Win_flush().\n",
                .runs = 12,
                .jobs = 4,
            },
    };

    return wire_main(&row, argc, argv, ours, theirs);
}
