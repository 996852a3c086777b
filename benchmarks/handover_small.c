/*
 * handover_small - the right to write 64 bytes goes from rank to rank
 * (handover_row.h).  The holder changes all of it.
 */
#include "benchmarks/handover_row.h"

#define BYTES      64
#define COUNT      20000
#define COUNT_TINY 100

int main(int argc, char **argv)
{
    static struct handover_row row = {
        .bench =
            {
                .name = "handover_small",
                .unit = "ns",
                .what = "WRITE handover of a 64-byte region, one way; a shared "
                        "window with a token of\n1 byte, a ticket lock, an MCS "
                        "lock; MPI_Send and MPI_Recv of 64 bytes.\n",
                .runs = 15,
                .jobs = 3,
                .rivals = handover_rivals,
                .rivals_count = HANDOVER_SEND + 1,
            },
        .bytes = BYTES,
        .words = BYTES / sizeof(uint64_t),
        .stride = 1,
        .unit_ns = 1,
    };

    bench_start(&row.bench, argc, argv, 2);
    row.count = row.bench.tiny ? COUNT_TINY : COUNT;
    row.count_send = row.count;
    return handover_row_main(&row);
}
