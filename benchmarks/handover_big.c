/*
 * handover_big - the right to write 256 MiB goes from rank to rank
 * (handover_row.h).  The holder reads and changes one word in each 16 MiB, so
 * that what is timed is handing over, not working on the data.
 */
#include "benchmarks/handover_row.h"

#define BYTES      ((size_t)256 << 20)
#define BYTES_TINY ((size_t)1 << 20)
#define WORDS      16
#define COUNT      2000
#define COUNT_SEND 4

int main(int argc, char **argv)
{
    static struct handover_row row = {
        .bench =
            {
                .name = "handover_big",
                .unit = "us",
                .what = "WRITE handover of a 256 MiB region, one way; a shared "
                        "window with a token of\n1 byte, a ticket lock, an MCS "
                        "lock; MPI_Send and MPI_Recv of as much.\n",
                .runs = 9,
                .jobs = 3,
                .rivals = handover_rivals,
                .rivals_count = HANDOVER_SEND + 1,
            },
        .words = WORDS,
        .count = COUNT,
        .count_send = COUNT_SEND,
        .unit_ns = 1e3,
    };

    bench_start(&row.bench, argc, argv, 2);
    row.bytes = row.bench.tiny ? BYTES_TINY : BYTES;
    row.stride = row.bytes / WORDS / sizeof(uint64_t);
    return handover_row_main(&row);
}
