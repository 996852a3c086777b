/*
 * What both forms of the key-value store share: the store's hash, the updates,
 * and the command line.
 */
#include "kv.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/measure.h"
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

static const struct option long_options[] = {
    {"single", no_argument, NULL, '1'},
    {"batch", required_argument, NULL, 'b'},
    {"updates", required_argument, NULL, 'u'},
    {"keys", required_argument, NULL, 'k'},
    {"skew", required_argument, NULL, 'z'},
    {"seed", required_argument, NULL, 's'},
    {"runs", required_argument, NULL, 'r'},
    {"tiny", no_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* One option with a value; NULL, or what is wrong with it. */
static const char *take_value(struct kv_options *options, int option,
                              const char *text)
{
    uint64_t value = 0;

    switch (option) {
    case 'b':
        if (report_parse_u64(text, 1, UPDATES_MAX, &value))
            return "--batch takes a number from 1: ";
        options->batch = value;
        return NULL;
    case 'u':
        if (report_parse_u64(text, 1, UPDATES_MAX, &value))
            return "--updates takes a number from 1: ";
        options->updates = value;
        return NULL;
    case 'k':
        if (report_parse_u64(text, 1, KEYS_MAX, &value))
            return "--keys takes a number from 1: ";
        options->keys = value;
        return NULL;
    case 'z':
        return report_parse_double(text, 0, 5, &options->skew)
                   ? "--skew takes a number from 0 to 5: "
                   : NULL;
    case 's':
        return report_parse_u64(text, 0, UINT64_MAX, &options->seed)
                   ? "--seed takes a number: "
                   : NULL;
    default:
        if (report_parse_u64(text, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX, &value))
            return "--runs takes a number from 2 to 1000: ";
        options->runs = (int)value;
        return NULL;
    }
}

int kv_options(struct kv_options *options, const char *name, int argc,
               char **argv)
{
    const char *wrong;
    int option;

    *options = (struct kv_options){.batch = 4096,
                                   .updates = 100000,
                                   .keys = 65536,
                                   .seed = 1,
                                   .runs = MEASURE_RUNS_DEFAULT};
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        switch (option) {
        case '?':
            return report_usage_error(
                name,
                "not an option, or without its value: ", argv[optind - 1]);
        case 'h':
        case 'V':
            return report_help(name, option == 'h' ? usage : NULL);
        case '1':
            options->batch = 1;
            break;
        case 't':
            options->updates = 1000;
            options->keys = 256;
            options->runs = MEASURE_RUNS_MIN;
            break;
        default:
            wrong = take_value(options, option, optarg);
            if (wrong)
                return report_usage_error(name, wrong, optarg);
        }
    }
    if (optind < argc)
        return report_usage_error(name, "not an option: ", argv[optind]);
    return -1;
}

void kv_details(const struct kv_options *options, char *text, size_t bytes)
{
    snprintf(text, bytes, "batch=%zu updates=%zu keys=%zu skew=%g",
             options->batch, options->updates, options->keys, options->skew);
}
