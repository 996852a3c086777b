/*
 * The pipeline on DRASync: each list is a region, which the one rank gives to
 * the other; that takes it, walks the list and deletes it.
 */
#include <mpi.h>

#include "../common/check.h"
#include "../common/measure.h"
#include "drasync.h"
#include "items.h"

static void list_give(uint64_t seed, uint64_t items, int to)
{
    struct item *head = NULL;
    region list = new_region();

    for (uint64_t i = 0; i < items; i++) {
        size_t bytes = item_bytes(seed, i);
        struct item *item = ralloc(list, bytes);

        item_make(item, bytes, seed, i, head);
        head = item;
    }
    check(drasync_set_root(list, head));
    check(drasync_give(list, to, 0));
}

static uint64_t list_consume(int from)
{
    uint64_t hash;
    region list;
    void *head;

    check(drasync_take(from, 0, DRASYNC_FOREVER, &list, NULL));
    check(drasync_get_root(list, &head));
    hash = list_hash(head);
    delete_region(list);
    return hash;
}

/* One run of this rank, which may be its own partner; returns the sum of what it
 * consumed. */
static uint64_t work(const struct pipeline_options *options, int rank,
                     int partner, int run)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < options->lists; i++) {
        if (rank <= partner)
            list_give(list_seed(options, rank, run, i), options->items,
                      partner);
        if (rank >= partner)
            sum += list_consume(partner);
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
