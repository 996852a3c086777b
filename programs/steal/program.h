/*
 * program.h - what both forms of work stealing share around the search: the
 * command line, the runs and the result.
 */
#ifndef STEAL_PROGRAM_H
#define STEAL_PROGRAM_H

#include <stdint.h>

#include "../common/report.h"
#include "tree.h"

struct program {
    const char *name;
    struct tree tree;
    uint64_t runs;
    int rank, ranks;
    struct report_random random; /* to choose whom to steal from */

    /* Of this rank and run.  Rank 0 begins with the root's children. */
    struct stack stack;
    struct found found;
};

/*
 * Read the command line and start MPI.  Returns -1 to go on, or the status to
 * exit with.
 */
int program_start(struct program *program, const char *name, int *argc,
                  char ***argv);

/* Another rank, by chance; there must be one. */
int program_victim(struct program *program);

/*
 * All runs: each calls @prepare, which is not timed, and @search, which returns
 * when all nodes were visited by some rank.  Prints the result and returns the
 * status to exit with.
 */
int program_run(struct program *program, void (*prepare)(void *context),
                void (*search)(void *context), void *context);

#endif /* STEAL_PROGRAM_H */
