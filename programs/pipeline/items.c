/*
 * What both forms of the pipeline share: items, pairs of ranks, and the command
 * line.
 */
#include "items.h"

#include <inttypes.h>
#include <stdio.h>

#include "../common/measure.h"
#include "../common/options.h"
#include "../common/report.h"

#define LISTS_MAX UINT64_C(1000000)
#define ITEMS_MAX UINT64_C(1000000) /* a list fits in a message */

/* --- Items ---------------------------------------------------------------- */

int pipeline_partner(int rank, int ranks)
{
    return (rank ^ 1) < ranks ? rank ^ 1 : rank;
}

uint64_t list_seed(const struct pipeline_options *options, int rank, int run,
                   uint64_t list)
{
    uint64_t hash = report_hash(options->seed, (uint64_t)(rank / 2));

    return report_hash(report_hash(hash, (uint64_t)run), list);
}

size_t item_bytes(uint64_t seed, uint64_t number)
{
    size_t sizes = (ITEM_BYTES_MAX - ITEM_BYTES_MIN) / sizeof(uint64_t) + 1;

    return ITEM_BYTES_MIN +
           report_mix(seed + number) % sizes * sizeof(uint64_t);
}

/* Data is made and hashed with little work, so that a run is about moving
 * it. */
void item_make(struct item *item, size_t bytes, uint64_t seed, uint64_t number,
               struct item *next)
{
    uint64_t word = report_mix(seed ^ number);

    item->next = next;
    item->words = (bytes - sizeof(*item)) / sizeof(word);
    for (size_t i = 0; i < item->words; i++) {
        item->data[i] = word;
        word += UINT64_C(0x9e3779b97f4a7c15);
    }
}

uint64_t list_hash(const struct item *head)
{
    uint64_t hash = 0;

    for (const struct item *item = head; item; item = item->next)
        for (size_t i = 0; i < item->words; i++)
            hash = (hash ^ item->data[i]) * UINT64_C(0x100000001b3);
    return report_mix(hash);
}

/* --- The command line ----------------------------------------------------- */

static const char usage[] =
    "Usage: mpirun -n RANKS %s [OPTION]...\n"
    "\n"
    "Ranks 0 and 1, 2 and 3 ... are pairs: the first makes linked lists of "
    "items of\n"
    "32 to 256 bytes, the second walks and deletes them.\n"
    "\n"
    "  --lists N      lists of each pair in a run (default 200)\n"
    "  --items N      items of a list (default 500)\n"
    "  --seed S       of the random numbers (default 1)\n"
    "  --runs N       runs; the first one is not counted (default 6)\n"
    "  --tiny         10 lists of 50 items, 2 runs\n"
    "  --help         this text\n"
    "  --version      the version\n"
    "\n"
    "The result is one line on standard output:\n"
    "  NAME answer=HASH seconds=S ranks=N lists=N items=N\n"
    "HASH is that of all lists, S the median time of a run.\n"
    "\n"
    "Exit status: 0, or 2 if the command line is wrong.\n";

int pipeline_options(struct pipeline_options *options, const char *name,
                     int argc, char **argv)
{
    uint64_t runs;
    int status;
    const struct program_option table[] = {
        OPTION_NUMBER("lists", &options->lists, 1, LISTS_MAX, 200, 10),
        OPTION_NUMBER("items", &options->items, 1, ITEMS_MAX, 500, 50),
        OPTION_NUMBER("seed", &options->seed, 0, UINT64_MAX, 1, 1),
        OPTION_NUMBER("runs", &runs, MEASURE_RUNS_MIN, MEASURE_RUNS_MAX,
                      MEASURE_RUNS_DEFAULT, MEASURE_RUNS_MIN),
    };

    status = options_read(name, usage, table, sizeof(table) / sizeof(table[0]),
                          argc, argv);
    options->runs = (int)runs;
    return status;
}

void pipeline_details(const struct pipeline_options *options, char *text,
                      size_t bytes)
{
    snprintf(text, bytes, "lists=%" PRIu64 " items=%" PRIu64, options->lists,
             options->items);
}
