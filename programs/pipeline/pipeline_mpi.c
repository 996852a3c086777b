/*
 * The pipeline on MPI: a list is made in a buffer and sent as it is; who
 * receives it moves its pointers to where it lies now.  Several lists are under
 * way at once.  On a host the buffers are in a window that both ranks share, and
 * only their turns are sent.
 */
#include <mpi.h>
#include <stdbool.h>
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

enum { TAG_LIST, TAG_CONSUMED };

struct buffers {
    size_t bytes; /* of each: enough for any list */
    struct list *lists[LISTS_UNDER_WAY];
    MPI_Request requests[LISTS_UNDER_WAY];
    MPI_Win window;
    bool shared; /* by both ranks of the pair */
};

/* Can both ranks of a pair see each other's memory? */
static bool pair_shares(MPI_Comm pair)
{
    MPI_Comm host;
    int here, both;

    MPI_Comm_split_type(pair, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &here);
    MPI_Comm_size(pair, &both);
    MPI_Comm_free(&host);
    return both == 2 && here == 2;
}

/* The first rank of the pair has the buffers of a window. */
static void buffers_make(struct buffers *buffers, uint64_t items, int rank,
                         int partner)
{
    bool first = rank < partner;
    MPI_Comm pair;
    MPI_Aint bytes;
    char *base;
    int unit;

    MPI_Comm_split(MPI_COMM_WORLD, first ? rank : partner, rank, &pair);
    buffers->shared = pair_shares(pair);
    buffers->bytes = sizeof(struct list) + items * ITEM_BYTES_MAX;
    bytes = (MPI_Aint)(LISTS_UNDER_WAY * buffers->bytes);
    if (buffers->shared) {
        MPI_Win_allocate_shared(first ? bytes : 0, 1, MPI_INFO_NULL, pair,
                                &base, &buffers->window);
        MPI_Win_shared_query(buffers->window, 0, &bytes, &unit, &base);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, buffers->window);
    } else {
        base = report_malloc((size_t)bytes);
    }
    for (int b = 0; b < LISTS_UNDER_WAY; b++) {
        buffers->lists[b] =
            (struct list *)(void *)(base + (size_t)b * buffers->bytes);
        buffers->requests[b] = MPI_REQUEST_NULL;
    }
    MPI_Comm_free(&pair);
}

static void buffers_free(struct buffers *buffers)
{
    if (buffers->shared) {
        MPI_Win_unlock_all(buffers->window);
        MPI_Win_free(&buffers->window);
    } else {
        free(buffers->lists[0]);
    }
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

/* The buffer may be used again when its request is done. */
static void list_send(struct buffers *buffers, int b, size_t bytes, int partner)
{
    if (buffers->shared) {
        MPI_Irecv(NULL, 0, MPI_BYTE, partner, TAG_CONSUMED, MPI_COMM_WORLD,
                  &buffers->requests[b]);
        MPI_Win_sync(buffers->window);
        MPI_Send(NULL, 0, MPI_BYTE, partner, TAG_LIST, MPI_COMM_WORLD);
    } else {
        MPI_Isend(buffers->lists[b], (int)bytes, MPI_BYTE, partner, TAG_LIST,
                  MPI_COMM_WORLD, &buffers->requests[b]);
    }
}

static void produce(const struct pipeline_options *options,
                    struct buffers *buffers, int rank, int partner, int run)
{
    for (uint64_t i = 0; i < options->lists; i++) {
        int b = (int)(i % LISTS_UNDER_WAY);
        size_t bytes;

        MPI_Wait(&buffers->requests[b], MPI_STATUS_IGNORE);
        bytes = list_make(buffers->lists[b], list_seed(options, rank, run, i),
                          options->items);
        list_send(buffers, b, bytes, partner);
    }
    for (int b = 0; b < LISTS_UNDER_WAY; b++)
        MPI_Wait(&buffers->requests[b], MPI_STATUS_IGNORE);
}

static void list_receive(struct buffers *buffers, int b, int partner)
{
    MPI_Irecv(buffers->lists[b], buffers->shared ? 0 : (int)buffers->bytes,
              MPI_BYTE, partner, TAG_LIST, MPI_COMM_WORLD,
              &buffers->requests[b]);
}

static uint64_t list_consume(struct buffers *buffers, int b, int partner)
{
    struct list *list = buffers->lists[b];
    uint64_t hash;

    MPI_Wait(&buffers->requests[b], MPI_STATUS_IGNORE);
    if (buffers->shared)
        MPI_Win_sync(buffers->window);
    list_move(list);
    hash = list_hash(list->head);
    if (buffers->shared)
        MPI_Send(NULL, 0, MPI_BYTE, partner, TAG_CONSUMED, MPI_COMM_WORLD);
    return hash;
}

static uint64_t consume(const struct pipeline_options *options,
                        struct buffers *buffers, int partner)
{
    uint64_t sum = 0;

    for (int b = 0; b < LISTS_UNDER_WAY && (uint64_t)b < options->lists; b++)
        list_receive(buffers, b, partner);
    for (uint64_t i = 0; i < options->lists; i++) {
        int b = (int)(i % LISTS_UNDER_WAY);

        sum += list_consume(buffers, b, partner);
        if (i + LISTS_UNDER_WAY < options->lists)
            list_receive(buffers, b, partner);
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
    int rank, ranks, partner;
    uint64_t sum = 0;
    char details[64];

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    partner = pipeline_partner(rank, ranks);
    buffers_make(&buffers, options.items, rank, partner);
    for (int run = 0; run < options.runs; run++) {
        measure_begin(&measure);
        sum += work(&options, &buffers, rank, partner, run);
        measure_end(&measure);
    }
    pipeline_details(&options, details, sizeof(details));
    measure_print(&measure, "pipeline_mpi", sum, details);
    buffers_free(&buffers);
    MPI_Finalize();
    return 0;
}
