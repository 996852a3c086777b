/*
 * The key-value store on MPI: each shard belongs to a rank, to which the others
 * send their updates, packed, a batch in each message.  A batch is packed and
 * sent while the one before it is under way.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/report.h"
#include "kv.h"

/* Nothing is gained by sending updates one by one: with --single, as many go in
 * a message as MPI moves best. */
#define SINGLE_BATCH (512 * 1024 / sizeof(struct update))

struct store {
    int rank, ranks;
    struct shard *shards[KV_SHARDS]; /* of this rank; NULL: another's */
};

/* One of the two batches under way; buffers have a part for each rank. */
struct batch {
    struct update *out, *in;
    size_t *count; /* of updates in out */
    MPI_Request *sends, *receives;
};

static int owner_of(const struct store *store, uint64_t key)
{
    return shard_number(key) % store->ranks;
}

static void store_make(struct store *store)
{
    memset(store->shards, 0, sizeof(store->shards));
    for (int s = store->rank; s < KV_SHARDS; s += store->ranks) {
        store->shards[s] = report_malloc(sizeof(*store->shards[s]));
        memset(store->shards[s], 0, sizeof(*store->shards[s]));
    }
}

static uint64_t store_hash(const struct store *store)
{
    uint64_t sum = 0;

    for (int s = store->rank; s < KV_SHARDS; s += store->ranks)
        sum += shard_hash(store->shards[s]);
    return sum;
}

static void apply(struct store *store, const struct update *update)
{
    struct shard *shard = store->shards[shard_number(update->key)];
    struct entry *entry = shard_find(shard, update->key);

    if (entry)
        entry->value += update->value;
    else
        shard_insert(shard, report_malloc(sizeof(*entry)), update);
}

static void batch_make(struct batch *batch, int ranks, size_t room)
{
    size_t count = (size_t)ranks;

    batch->out = report_malloc(count * room * sizeof(*batch->out));
    batch->in = report_malloc(count * room * sizeof(*batch->in));
    batch->count = report_malloc(count * sizeof(*batch->count));
    batch->sends = report_malloc(count * sizeof(*batch->sends));
    batch->receives = report_malloc(count * sizeof(*batch->receives));
    for (int r = 0; r < ranks; r++)
        batch->sends[r] = batch->receives[r] = MPI_REQUEST_NULL;
}

static void batch_free(struct batch *batch)
{
    free(batch->out);
    free(batch->in);
    free(batch->count);
    free(batch->sends);
    free(batch->receives);
}

/* What was sent from the batch's buffers has left them. */
static void batch_wait(struct batch *batch, int ranks)
{
    for (int r = 0; r < ranks; r++)
        MPI_Wait(&batch->sends[r], MPI_STATUS_IGNORE);
}

/* Apply this rank's own of @count updates and send the others their part, which
 * may be empty. */
static void batch_send(struct batch *batch, struct store *store, size_t room,
                       const struct update *updates, size_t count)
{
    int bytes = (int)(room * sizeof(*updates));

    for (int r = 0; r < store->ranks; r++) {
        batch->count[r] = 0;
        if (r != store->rank)
            MPI_Irecv(batch->in + (size_t)r * room, bytes, MPI_BYTE, r, 0,
                      MPI_COMM_WORLD, &batch->receives[r]);
    }
    batch_wait(batch, store->ranks);
    for (size_t i = 0; i < count; i++) {
        int r = owner_of(store, updates[i].key);

        if (r == store->rank)
            apply(store, &updates[i]);
        else
            batch->out[(size_t)r * room + batch->count[r]++] = updates[i];
    }
    for (int r = 0; r < store->ranks; r++) {
        bytes = (int)(batch->count[r] * sizeof(*updates));
        if (r != store->rank)
            MPI_Isend(batch->out + (size_t)r * room, bytes, MPI_BYTE, r, 0,
                      MPI_COMM_WORLD, &batch->sends[r]);
    }
}

/* Apply what the others sent, in the order in which it comes. */
static void batch_receive(struct batch *batch, struct store *store, size_t room)
{
    MPI_Status status;
    int r, bytes;

    for (int n = 1; n < store->ranks; n++) {
        const struct update *update;

        MPI_Waitany(store->ranks, batch->receives, &r, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        update = batch->in + (size_t)r * room;
        for (size_t i = 0; i < (size_t)bytes / sizeof(*update); i++)
            apply(store, &update[i]);
    }
}

static void apply_all(struct store *store, struct batch batches[2], size_t room,
                      const struct update *updates, size_t count)
{
    size_t number = (count + room - 1) / room;

    for (size_t b = 0; b < number; b++) {
        size_t left = count - b * room;

        batch_send(&batches[b % 2], store, room, updates + b * room,
                   left < room ? left : room);
        if (b > 0)
            batch_receive(&batches[(b - 1) % 2], store, room);
    }
    batch_receive(&batches[(number - 1) % 2], store, room);
    batch_wait(&batches[0], store->ranks);
    batch_wait(&batches[1], store->ranks);
}

static void run(const struct kv_options *options, struct store *store)
{
    size_t room = options->batch > 1 ? options->batch : SINGLE_BATCH;
    struct update *updates = report_malloc(options->updates * sizeof(*updates));
    double *likelihood = kv_likelihood(options);
    struct measure measure = {0};
    struct batch batches[2];
    char details[128];

    if (room > options->updates)
        room = options->updates;
    batch_make(&batches[0], store->ranks, room);
    batch_make(&batches[1], store->ranks, room);
    store_make(store);
    for (int i = 0; i < options->runs; i++) {
        kv_updates(options, likelihood, store->rank, i, updates);
        measure_begin(&measure);
        apply_all(store, batches, room, updates, options->updates);
        measure_end(&measure);
    }
    kv_details(options, details, sizeof(details));
    measure_print(&measure, "kv_mpi", store_hash(store), details);
    batch_free(&batches[0]);
    batch_free(&batches[1]);
    free(updates);
    free(likelihood);
}

int main(int argc, char **argv)
{
    static struct store store; /* so its shards, kept to the end, are no leak */
    struct kv_options options;
    int status = kv_options(&options, "kv_mpi", argc, argv);

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &store.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &store.ranks);
    run(&options, &store);
    MPI_Finalize();
    return 0;
}
