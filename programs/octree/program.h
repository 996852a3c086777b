/*
 * program.h - what both forms of the octree exchange share around a step: the
 * command line, the runs and the result.
 */
#ifndef OCTREE_PROGRAM_H
#define OCTREE_PROGRAM_H

#include <stdint.h>

#include "cloud.h"

struct program {
    const char *name;
    uint64_t points, steps, opening_percent, runs;
    int rank, ranks;
    struct cloud cloud;
};

/*
 * Read the command line and start MPI.  Returns -1 to go on, or the status to
 * exit with.
 */
int program_start(struct program *program, const char *name, int *argc,
                  char ***argv);

/*
 * All runs: a run orders the points, calls @look, which adds what all other
 * ranks' trees do to the points of @program's cloud, and moves them, as many
 * times as there are steps; then it calls @end.  Prints the result and returns
 * the status to exit with.
 */
int program_run(struct program *program, void (*look)(void *context),
                void (*end)(void *context), void *context);

#endif /* OCTREE_PROGRAM_H */
