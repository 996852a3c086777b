/*
 * program.h - what both forms of the program share around the triangulation:
 * the command line, the input and the last line.
 */
#ifndef DELAUNAY_PROGRAM_H
#define DELAUNAY_PROGRAM_H

#include "cell.h"
#include "partition.h"

enum {
    EXIT_VERIFY = 1, /* the result is wrong */
    EXIT_INPUT = 2,  /* the command line, the input or the workers are */
};

struct program {
    const char *name;
    const char *path; /* NULL: random points */
    uint64_t random_points;
    uint64_t seed;
    int verify;
    int worker, workers, levels;
    int leaves; /* of each worker, one after the other */

    struct point *points; /* the whole input */
    size_t count;
    uint64_t fingerprint;
    int failed; /* 1: this worker could not read it */
    char error[CSV_ERROR_BYTES];
    struct box boxes[LEVELS_MAX + 1]; /* of the last leaf and above it */
    double start_seconds;
};

/*
 * Read the command line, before MPI starts.  Returns -1 to go on, or the status
 * to exit with, after --help, --version or an error.
 */
int program_options(struct program *program, const char *name, int argc,
                    char **argv);

/*
 * Check the number of workers, of which each can have up to @leaves_max leaves,
 * 1 or 2, and read the input.  Returns 0, or the status to exit with if no
 * number of workers like this is possible; worker 0 has said so.  A worker that
 * could not read its input goes on with failed leaves: they travel up the tree
 * like every other, so that nobody waits in vain and worker 0 has one error to
 * print, its own if it has one.
 */
int program_input(struct program *program, int worker, int workers,
                  int leaves_max);

/*
 * Triangulate leaf @leaf, one of this worker's, in their order, into *cell, in
 * @store's region.
 */
void program_leaf(struct program *program, int leaf, struct cell *cell,
                  struct store *store);

/* Join four cells into *cell, the node @level levels above the leaves. */
void program_join(struct program *program, int level, struct cell *cell,
                  struct store *store, struct cell *children[4]);

/* The same in two parts: see cell.h. */
void program_join_begin(struct program *program, int level, struct join *join,
                        struct cell *cell, struct store *store,
                        struct cell *children[4]);
void program_join_end(struct program *program, int level, struct join *join,
                      struct cell *cell, struct store *store,
                      struct cell *children[4]);

/*
 * Worker 0, whose @root is complete: print the result.  Returns the status to
 * exit with.
 */
int program_result(struct program *program, const struct cell *root);

/* The other workers: the status to exit with. */
int program_status(const struct program *program);

void program_free(struct program *program);

#endif /* DELAUNAY_PROGRAM_H */
