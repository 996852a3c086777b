/*
 * The pipeline on DRASync: each list is a region.  The one rank sends its
 * handle; the other takes the region and deletes it.
 */
#include <mpi.h>

#include "../common/measure.h"
#include "drasync.h"
#include "items.h"

struct list {
    region region;
    struct item *head;
};

static struct list list_make(uint64_t seed, uint64_t items)
{
    struct list list = {.region = new_region(), .head = NULL};

    for (uint64_t i = 0; i < items; i++) {
        size_t bytes = item_bytes(seed, i);
        struct item *item = ralloc(list.region, bytes);

        item_make(item, bytes, seed, i, list.head);
        list.head = item;
    }
    release_region(list.region);
    return list;
}

static uint64_t list_consume(struct list list)
{
    uint64_t hash;

    acquire_region(list.region, WRITE);
    hash = list_hash(list.head);
    delete_region(list.region);
    return hash;
}

/* One run of this rank; returns the sum of what it consumed. */
static uint64_t work(const struct pipeline_options *options, int rank,
                     int partner, int run)
{
    struct list list;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < options->lists; i++) {
        if (rank <= partner)
            list = list_make(list_seed(options, rank, run, i), options->items);
        if (rank < partner)
            MPI_Send(&list, sizeof(list), MPI_BYTE, partner, 0, MPI_COMM_WORLD);
        if (rank > partner)
            MPI_Recv(&list, sizeof(list), MPI_BYTE, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank >= partner)
            sum += list_consume(list);
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct pipeline_options options;
    struct measure measure = {0};
    int status = pipeline_options(&options, "pipeline_native", argc, argv);
    int rank, ranks;
    uint64_t sum = 0;
    char details[64];

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int run = 0; run < options.runs; run++) {
        measure_begin(&measure);
        sum += work(&options, rank, pipeline_partner(rank, ranks), run);
        measure_end(&measure);
    }
    pipeline_details(&options, details, sizeof(details));
    measure_print(&measure, "pipeline_native", sum, details);
    MPI_Finalize();
    return 0;
}
