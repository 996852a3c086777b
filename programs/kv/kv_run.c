/*
 * The key-value store on DRASync, with updates that go to the shards: each shard
 * is a region that stays with the rank that made it, where a function adds to
 * it what any rank sends.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/check.h"
#include "../common/measure.h"
#include "../common/report.h"
#include "drasync.h"
#include "kv.h"

#define RUN_UPDATES_MAX (DRASYNC_RUN_BYTES_MAX / sizeof(struct update))

static struct store {
    region regions[KV_SHARDS];
    struct shard *shards[KV_SHARDS];
    drasync_function_t add;
} store;

/* Where the shard's region is: apply the updates in @args, all to that shard. */
static int add_updates(region r, const void *args, size_t bytes, size_t count)
{
    const struct update *update = args;
    const struct update *end = update + count * bytes / sizeof(*update);
    struct shard *shard = store.shards[shard_number(update->key)];

    for (; update < end; update++) {
        struct entry *entry = shard_find(shard, update->key);

        if (entry)
            entry->value += update->value;
        else
            shard_insert(shard, ralloc(r, sizeof(*entry)), update);
    }
    return 0;
}

/* Shards are made by the ranks in turn, and known to all. */
static void store_make(int rank, int ranks)
{
    check(drasync_register_batch("add updates", add_updates, &store.add));
    for (int s = 0; s < KV_SHARDS; s++) {
        if (s % ranks == rank) {
            store.regions[s] = new_region();
            store.shards[s] =
                ralloc(store.regions[s], sizeof(*store.shards[s]));
            memset(store.shards[s], 0, sizeof(*store.shards[s]));
            release_region(store.regions[s]);
        }
        MPI_Bcast(&store.regions[s], sizeof(region), MPI_BYTE, s % ranks,
                  MPI_COMM_WORLD);
        MPI_Bcast(&store.shards[s], sizeof(struct shard *), MPI_BYTE, s % ranks,
                  MPI_COMM_WORLD);
    }
}

static uint64_t store_hash(int rank, int ranks)
{
    uint64_t sum = 0;

    for (int s = rank; s < KV_SHARDS; s += ranks) {
        acquire_region(store.regions[s], READ);
        sum += shard_hash(store.shards[s]);
        release_region(store.regions[s]);
    }
    return sum;
}

/* Updates of one shard. */
static void send(int s, const struct update *updates, size_t count)
{
    check(drasync_run_ff(store.regions[s], store.add, DRASYNC_WRITE, updates,
                         count * sizeof(*updates)));
}

/* Sort @count updates into @sorted by shard, and send those of each together. */
static void apply_batch(const struct update *updates, size_t count,
                        struct update *sorted)
{
    size_t end[KV_SHARDS] = {0}, at = 0, i;

    for (i = 0; i < count; i++)
        end[shard_number(updates[i].key)]++;
    for (int s = 0; s < KV_SHARDS; s++) {
        at += end[s];
        end[s] = at - end[s];
    }
    for (i = 0; i < count; i++)
        sorted[end[shard_number(updates[i].key)]++] = updates[i];
    i = 0;
    for (int s = 0; s < KV_SHARDS; s++)
        while (i < end[s]) {
            size_t left = end[s] - i;
            size_t n = left < RUN_UPDATES_MAX ? left : RUN_UPDATES_MAX;

            send(s, sorted + i, n);
            i += n;
        }
}

static void apply_all(const struct kv_options *options,
                      const struct update *updates, struct update *sorted)
{
    for (size_t i = 0; i < options->updates; i += options->batch) {
        size_t left = options->updates - i;

        if (options->batch == 1)
            send(shard_number(updates[i].key), updates + i, 1);
        else
            apply_batch(updates + i,
                        left < options->batch ? left : options->batch, sorted);
    }
    check(drasync_run_flush());
}

static void run(const struct kv_options *options, int rank, int ranks)
{
    size_t bytes = options->updates * sizeof(struct update);
    struct update *updates = report_malloc(bytes);
    struct update *sorted = report_malloc(bytes);
    double *likelihood = kv_likelihood(options);
    struct measure measure = {0};
    char details[128];

    store_make(rank, ranks);
    for (int i = 0; i < options->runs; i++) {
        kv_updates(options, likelihood, rank, i, updates);
        measure_begin(&measure);
        apply_all(options, updates, sorted);
        measure_end(&measure);
    }
    kv_details(options, details, sizeof(details));
    measure_print(&measure, "kv_run", store_hash(rank, ranks), details);
    free(updates);
    free(sorted);
    free(likelihood);
}

int main(int argc, char **argv)
{
    struct kv_options options;
    int status = kv_options(&options, "kv_run", argc, argv);
    int rank, ranks;

    if (status >= 0)
        return status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run(&options, rank, ranks);
    MPI_Finalize();
    return 0;
}
