/*
 * The key-value store on DRASync: each shard is a region, which a rank holds
 * for WRITE while it updates it.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "../common/measure.h"
#include "../common/report.h"
#include "drasync.h"
#include "kv.h"

struct store {
    region regions[KV_SHARDS];
    struct shard *shards[KV_SHARDS];
};

/* Shards are made by the ranks in turn, and known to all. */
static void store_make(struct store *store, int rank, int ranks)
{
    for (int s = 0; s < KV_SHARDS; s++) {
        if (s % ranks == rank) {
            store->regions[s] = new_region();
            store->shards[s] =
                ralloc(store->regions[s], sizeof(*store->shards[s]));
            memset(store->shards[s], 0, sizeof(*store->shards[s]));
            release_region(store->regions[s]);
        }
        MPI_Bcast(&store->regions[s], sizeof(region), MPI_BYTE, s % ranks,
                  MPI_COMM_WORLD);
        MPI_Bcast(&store->shards[s], sizeof(struct shard *), MPI_BYTE,
                  s % ranks, MPI_COMM_WORLD);
    }
}

static uint64_t store_hash(const struct store *store, int rank, int ranks)
{
    uint64_t sum = 0;

    for (int s = rank; s < KV_SHARDS; s += ranks) {
        acquire_region(store->regions[s], READ);
        sum += shard_hash(store->shards[s]);
        release_region(store->regions[s]);
    }
    return sum;
}

/* The shard's region is held for WRITE. */
static void apply(struct store *store, int s, const struct update *update)
{
    struct entry *entry = shard_find(store->shards[s], update->key);

    if (entry)
        entry->value += update->value;
    else
        shard_insert(store->shards[s],
                     ralloc(store->regions[s], sizeof(*entry)), update);
}

static void apply_each(struct store *store, const struct update *updates,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int s = shard_number(updates[i].key);

        acquire_region(store->regions[s], WRITE);
        apply(store, s, &updates[i]);
        release_region(store->regions[s]);
    }
}

/* Sort @count updates into @sorted by shard, and take each shard once.  Ranks
 * begin with different shards. */
static void apply_batch(struct store *store, const struct update *updates,
                        size_t count, struct update *sorted, int first)
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
    for (int n = 0; n < KV_SHARDS; n++) {
        int s = (first + n) % KV_SHARDS;

        i = s > 0 ? end[s - 1] : 0;
        if (i == end[s])
            continue;
        acquire_region(store->regions[s], WRITE);
        for (; i < end[s]; i++)
            apply(store, s, &sorted[i]);
        release_region(store->regions[s]);
    }
}

static void apply_all(const struct kv_options *options, struct store *store,
                      const struct update *updates, struct update *sorted,
                      int first)
{
    if (options->batch == 1) {
        apply_each(store, updates, options->updates);
        return;
    }
    for (size_t i = 0; i < options->updates; i += options->batch) {
        size_t left = options->updates - i;

        apply_batch(store, updates + i,
                    left < options->batch ? left : options->batch, sorted,
                    first);
    }
}

static void run(const struct kv_options *options, int rank, int ranks)
{
    size_t bytes = options->updates * sizeof(struct update);
    struct update *updates = report_malloc(bytes);
    struct update *sorted = report_malloc(bytes);
    double *likelihood = kv_likelihood(options);
    struct measure measure = {0};
    struct store store;
    char details[128];

    store_make(&store, rank, ranks);
    for (int i = 0; i < options->runs; i++) {
        kv_updates(options, likelihood, rank, i, updates);
        measure_begin(&measure);
        apply_all(options, &store, updates, sorted, KV_SHARDS * rank / ranks);
        measure_end(&measure);
    }
    kv_details(options, details, sizeof(details));
    measure_print(&measure, "kv_native", store_hash(&store, rank, ranks),
                  details);
    free(updates);
    free(sorted);
    free(likelihood);
}

int main(int argc, char **argv)
{
    struct kv_options options;
    int status = kv_options(&options, "kv_native", argc, argv);
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
