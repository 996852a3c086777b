/*
 * kv.h - what both forms of the key-value store share: its tables, the updates
 * that ranks make, and the command line.
 *
 * The store is KV_SHARDS hash tables.  An update adds a value to that of its
 * key, so updates commute and all forms end with the same store.
 */
#ifndef KV_KV_H
#define KV_KV_H

#include <stddef.h>
#include <stdint.h>

#define KV_SHARDS  64
#define KV_BUCKETS 2048 /* of a shard; a power of two */

struct entry {
    struct entry *next; /* in the same bucket */
    uint64_t key, value;
};

struct shard {
    struct entry *buckets[KV_BUCKETS];
};

struct update {
    uint64_t key, value;
};

/* Keys are mixed, so that some of their bits name a shard and others a
 * bucket. */
static inline int shard_number(uint64_t key)
{
    return (int)(key % KV_SHARDS);
}

static inline struct entry **shard_bucket(struct shard *shard, uint64_t key)
{
    return &shard->buckets[key / KV_SHARDS % KV_BUCKETS];
}

/* The entry of @key, or NULL. */
static inline struct entry *shard_find(struct shard *shard, uint64_t key)
{
    struct entry *entry = *shard_bucket(shard, key);

    while (entry && entry->key != key)
        entry = entry->next;
    return entry;
}

/* Put the new entry @entry, with the key and value of @update, into @shard,
 * which has none of that key. */
static inline void shard_insert(struct shard *shard, struct entry *entry,
                                const struct update *update)
{
    struct entry **bucket = shard_bucket(shard, update->key);

    entry->next = *bucket;
    entry->key = update->key;
    entry->value = update->value;
    *bucket = entry;
}

/* A hash of all entries, whatever their order. */
uint64_t shard_hash(const struct shard *shard);

struct kv_options {
    uint64_t batch; /* updates that a rank collects; with --single, 1 */
    uint64_t updates;
    uint64_t keys;
    double skew; /* 0: uniform; else the exponent of Zipf's law */
    uint64_t seed;
    int runs;
};

/*
 * Read the command line, before MPI starts.  Returns -1 to go on, or the status
 * to exit with, after --help, --version or an error.
 */
int kv_options(struct kv_options *options, const char *name, int argc,
               char **argv);

/* How likely keys are: what kv_updates() draws them by.  The caller frees the
 * table, which is NULL where they are equally likely. */
double *kv_likelihood(const struct kv_options *options);

/* The updates of @rank in run @run, options->updates of them. */
void kv_updates(const struct kv_options *options, const double *likelihood,
                int rank, int run, struct update *updates);

/* The end of the result line. */
void kv_details(const struct kv_options *options, char *text, size_t bytes);

#endif /* KV_KV_H */
