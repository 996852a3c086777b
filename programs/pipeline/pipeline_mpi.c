/*
 * The pipeline on MPI: a list is made in a buffer and sent as it is; who
 * receives it moves its pointers to where it lies now.  Several lists are under
 * way at once.
 */
#include <mpi.h>
#include <stdlib.h>

#include "../common/measure.h"
#include "../common/report.h"
#include "items.h"

#define LISTS_UNDER_WAY 8

/* Lies at the start of its buffer, its items behind it. */
struct list {
    char *base; /* the buffer's address where the list was made */
    struct item *head;
    char items[];
};

struct buffers {
    size_t bytes; /* of each: enough for any list */
    struct list *lists[LISTS_UNDER_WAY];
    MPI_Request requests[LISTS_UNDER_WAY];
};

static void buffers_make(struct buffers *buffers, uint64_t items)
{
    buffers->bytes = sizeof(struct list) + items * ITEM_BYTES_MAX;
    for (int b = 0; b < LISTS_UNDER_WAY; b++) {
        buffers->lists[b] = report_malloc(buffers->bytes);
        buffers->requests[b] = MPI_REQUEST_NULL;
    }
}

static void buffers_free(struct buffers *buffers)
{
    for (int b = 0; b < LISTS_UNDER_WAY; b++)
        free(buffers->lists[b]);
}

/* Returns how many bytes of the buffer the list takes. */
static size_t list_make(struct list *list, uint64_t seed, uint64_t items)
{
    char *end = list->items;

    list->base = (char *)list;
    list->head = NULL;
    for (uint64_t i = 0; i < items; i++) {
        size_t bytes = item_bytes(seed, i);
        struct item *item = (struct item *)(void *)end;

        item_make(item, bytes, seed, i, list->head);
        list->head = item;
        end += bytes;
    }
    return (size_t)(end - list->base);
}

static void move_pointer(struct item **pointer, const char *from, char *to)
{
    if (*pointer)
        *pointer = (struct item *)(void *)(to + ((char *)*pointer - from));
}

/* The list lies elsewhere than it was made. */
static void list_move(struct list *list)
{
    move_pointer(&list->head, list->base, (char *)list);
    for (struct item *item = list->head; item; item = item->next)
        move_pointer(&item->next, list->base, (char *)list);
}

static void produce(const struct pipeline_options *options,
                    struct buffers *buffers, int rank, int partner, int run)
{
    for (uint64_t i = 0; i < options->lists; i++) {
        struct list *list = buffers->lists[i % LISTS_UNDER_WAY];
        MPI_Request *request = &buffers->requests[i % LISTS_UNDER_WAY];
        size_t bytes;

        MPI_Wait(request, MPI_STATUS_IGNORE);
        bytes =
            list_make(list, list_seed(options, rank, run, i), options->items);
        MPI_Isend(list, (int)bytes, MPI_BYTE, partner, 0, MPI_COMM_WORLD,
                  request);
    }
    for (int b = 0; b < LISTS_UNDER_WAY; b++)
        MPI_Wait(&buffers->requests[b], MPI_STATUS_IGNORE);
}

static void receive(struct buffers *buffers, uint64_t i, int partner)
{
    MPI_Irecv(buffers->lists[i % LISTS_UNDER_WAY], (int)buffers->bytes,
              MPI_BYTE, partner, 0, MPI_COMM_WORLD,
              &buffers->requests[i % LISTS_UNDER_WAY]);
}

static uint64_t consume(const struct pipeline_options *options,
                        struct buffers *buffers, int partner)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < options->lists && i < LISTS_UNDER_WAY; i++)
        receive(buffers, i, partner);
    for (uint64_t i = 0; i < options->lists; i++) {
        struct list *list = buffers->lists[i % LISTS_UNDER_WAY];

        MPI_Wait(&buffers->requests[i % LISTS_UNDER_WAY], MPI_STATUS_IGNORE);
        list_move(list);
        sum += list_hash(list->head);
        if (i + LISTS_UNDER_WAY < options->lists)
            receive(buffers, i + LISTS_UNDER_WAY, partner);
    }
    return sum;
}

/* One run of this rank; returns the sum of what it consumed. */
static uint64_t work(const struct pipeline_options *options,
                     struct buffers *buffers, int rank, int partner, int run)
{
    struct list *list = buffers->lists[0];
    uint64_t sum = 0;

    if (rank < partner) {
        produce(options, buffers, rank, partner, run);
        return 0;
    }
    if (rank > partner)
        return consume(options, buffers, partner);
    for (uint64_t i = 0; i < options->lists; i++) {
        list_make(list, list_seed(options, rank, run, i), options->items);
        sum += list_hash(list->head);
    }
    return sum;
}

int main(int argc, char **argv)
{
    struct pipeline_options options;
    struct measure measure = {0};
    struct buffers buffers;
    int status = pipeline_options(&options, "pipeline_mpi", argc, argv);
    int rank, ranks;
    uint64_t sum = 0;
    char details[64];

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    buffers_make(&buffers, options.items);
    for (int run = 0; run < options.runs; run++) {
        measure_begin(&measure);
        sum +=
            work(&options, &buffers, rank, pipeline_partner(rank, ranks), run);
        measure_end(&measure);
    }
    pipeline_details(&options, details, sizeof(details));
    measure_print(&measure, "pipeline_mpi", sum, details);
    buffers_free(&buffers);
    MPI_Finalize();
    return 0;
}
