/*
 * What both forms of the key-value store share: the store's hash, the updates,
 * and the command line.
 */
#include "kv.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "../common/measure.h"
#include "../common/options.h"
#include "../common/report.h"

#define UPDATES_MAX UINT64_C(100000000)
#define KEYS_MAX    UINT64_C(100000000)

uint64_t shard_hash(const struct shard *shard)
{
    const struct entry *entry;
    uint64_t sum = 0;

    for (size_t i = 0; i < KV_BUCKETS; i++)
        for (entry = shard->buckets[i]; entry; entry = entry->next)
            sum += report_hash(entry->key, entry->value);
    return sum;
}

/* --- Updates -------------------------------------------------------------- */

double *kv_likelihood(const struct kv_options *options)
{
    double *below, sum = 0;

    if (options->skew <= 0)
        return NULL;
    below = report_malloc(options->keys * sizeof(*below));
    for (size_t i = 0; i < options->keys; i++) {
        sum += pow((double)(i + 1), -options->skew);
        below[i] = sum;
    }
    for (size_t i = 0; i < options->keys; i++)
        below[i] /= sum;
    return below;
}

/* The first of @count whose share ends above @at. */
static size_t find_share(const double *below, size_t count, double at)
{
    size_t low = 0, high = count - 1, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (below[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void kv_updates(const struct kv_options *options, const double *likelihood,
                int rank, int run, struct update *updates)
{
    struct report_random random;
    size_t key;

    report_random_seed(
        &random,
        report_hash(report_hash(options->seed, (uint64_t)rank), (uint64_t)run));
    for (size_t i = 0; i < options->updates; i++) {
        if (likelihood)
            key = find_share(likelihood, options->keys,
                             report_random_unit(&random));
        else
            key = report_random_u64(&random) % options->keys;
        updates[i].key = report_mix(key + 1);
        updates[i].value = report_random_u64(&random);
    }
}

/* --- The command line ----------------------------------------------------- */

static const char usage[] =
    "Usage: mpirun -n RANKS %s [--single | --batch N] [OPTION]...\n"
    "\n"
    "A key-value store of 64 hash tables that all ranks update.\n"
    "\n"
    "  --single       each update is applied before the next is looked at, "
    "where\n"
    "                 the form can do that\n"
    "  --batch N      a rank collects N updates first (default 4096)\n"
    "  --updates N    updates of each rank in a run (default 100000)\n"
    "  --keys N       keys to draw from (default 65536)\n"
    "  --skew S       draw them by Zipf's law with the exponent S, 0 to 5; "
    "default\n"
    "                 0: all are equally likely\n"
    "  --seed S       of the random numbers (default 1)\n"
    "  --runs N       runs; the first one is not counted (default 6)\n"
    "  --tiny         1000 updates, 256 keys, 2 runs\n"
    "  --help         this text\n"
    "  --version      the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N batch=N updates=N keys=N skew=S\n"
    "HASH is that of the store at the end, S the median time of a run.\n"
    "\n"
    "Exit status: 0, or 2 if the command line is wrong.\n";

int kv_options(struct kv_options *options, const char *name, int argc,
               char **argv)
{
    uint64_t runs;
    int single, status;
    const struct program_option table[] = {
        OPTION_NUMBER("batch", &options->batch, 1, UPDATES_MAX, 4096, 4096),
        OPTION_NUMBER("updates", &options->updates, 1, UPDATES_MAX, 100000,
                      1000),
        OPTION_NUMBER("keys", &options->keys, 1, KEYS_MAX, 65536, 256),
        OPTION_NUMBER("seed", &options->seed, 0, UINT64_MAX, 1, 1),
        OPTION_NUMBER("runs", &runs, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX,
                      MEASURE_RUNS_DEFAULT, MEASURE_RUNS_MIN),
        OPTION_REAL("skew", &options->skew, 0, 5, 0),
        OPTION_FLAG("single", &single),
    };

    status = options_read(name, usage, table, sizeof(table) / sizeof(table[0]),
                          argc, argv);
    options->runs = (int)runs;
    if (single)
        options->batch = 1;
    return status;
}

void kv_details(const struct kv_options *options, char *text, size_t bytes)
{
    snprintf(text, bytes,
             "batch=%" PRIu64 " updates=%" PRIu64 " keys=%" PRIu64 " skew=%g",
             options->batch, options->updates, options->keys, options->skew);
}
