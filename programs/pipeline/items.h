/*
 * items.h - what both forms of the pipeline share: the items of its lists, who
 * makes and who consumes them, and the command line.
 *
 * Ranks 0 and 1, 2 and 3 ... are pairs: the first makes lists, the second walks
 * and deletes them.  A rank without another does both.
 */
#ifndef PIPELINE_ITEMS_H
#define PIPELINE_ITEMS_H

#include <stddef.h>
#include <stdint.h>

#define ITEM_BYTES_MIN 32
#define ITEM_BYTES_MAX 256

struct item {
    struct item *next;
    size_t words; /* in data */
    uint64_t data[];
};

struct pipeline_options {
    uint64_t lists; /* of each pair in a run */
    uint64_t items; /* of a list */
    uint64_t seed;
    int runs;
};

/*
 * Read the command line, before MPI starts.  Returns -1 to go on, or the status
 * to exit with, after --help, --version or an error.
 */
int pipeline_options(struct pipeline_options *options, const char *name,
                     int argc, char **argv);

/* The end of the result line. */
void pipeline_details(const struct pipeline_options *options, char *text,
                      size_t bytes);

/* The rank that @rank works with: itself if it has no other. */
int pipeline_partner(int rank, int ranks);

/* The seed of list @list of the pair of @rank in run @run. */
uint64_t list_seed(const struct pipeline_options *options, int rank, int run,
                   uint64_t list);

/* The size of a list's item @number, ITEM_BYTES_MIN to ITEM_BYTES_MAX. */
size_t item_bytes(uint64_t seed, uint64_t number);

/* Fill @item, of @bytes, and put it before @next. */
void item_make(struct item *item, size_t bytes, uint64_t seed, uint64_t number,
               struct item *next);

/* Walk a list: a hash of all its data, in order. */
uint64_t list_hash(const struct item *head);

#endif /* PIPELINE_ITEMS_H */
