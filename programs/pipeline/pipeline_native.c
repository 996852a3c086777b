/*
 * The pipeline on DRASync: each list is a region.  The one rank sends its
 * handle; the other takes the region and deletes it, and has asked for the next
 * ones by then.
 */
#include <mpi.h>

#include "../common/measure.h"
#include "drasync.h"
#include "items.h"

/* Lists that are asked for before they are needed. */
#define AHEAD 8

struct list {
    region region;
    struct item *head;
    drasync_request_t request; /* the consumer's */
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

/* The next list of @from, which is on its way then. */
static void list_ask(struct list *list, int from)
{
    MPI_Recv(list, sizeof(*list), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    drasync_iacquire(list->region, DRASYNC_WRITE, &list->request);
}

static uint64_t list_consume(struct list *list)
{
    uint64_t hash;

    drasync_wait(&list->request, DRASYNC_FOREVER);
    hash = list_hash(list->head);
    delete_region(list->region);
    return hash;
}

static void produce(const struct pipeline_options *options, int rank, int to,
                    int run)
{
    for (uint64_t i = 0; i < options->lists; i++) {
        struct list list =
            list_make(list_seed(options, rank, run, i), options->items);

        MPI_Send(&list, sizeof(list), MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
}

static uint64_t consume(const struct pipeline_options *options, int from)
{
    struct list lists[AHEAD];
    uint64_t sum = 0;

    for (uint64_t i = 0; i < options->lists + AHEAD; i++) {
        if (i >= AHEAD)
            sum += list_consume(&lists[i % AHEAD]);
        if (i < options->lists)
            list_ask(&lists[i % AHEAD], from);
    }
    return sum;
}

/* A rank without a partner does both. */
static uint64_t do_both(const struct pipeline_options *options, int rank,
                        int run)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < options->lists; i++) {
        struct list list =
            list_make(list_seed(options, rank, run, i), options->items);

        drasync_iacquire(list.region, DRASYNC_WRITE, &list.request);
        sum += list_consume(&list);
    }
    return sum;
}

/* One run of this rank; returns the sum of what it consumed. */
static uint64_t work(const struct pipeline_options *options, int rank,
                     int partner, int run)
{
    if (rank == partner)
        return do_both(options, rank, run);
    if (rank > partner)
        return consume(options, partner);
    produce(options, rank, partner, run);
    return 0;
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
