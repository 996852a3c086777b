/*
 * program.h - what both forms of conjugate gradient share around the solution:
 * the command line, which rows are whose, and the result.
 */
#ifndef CG_PROGRAM_H
#define CG_PROGRAM_H

#include <stdint.h>

#include "../common/measure.h"
#include "matrix.h"

enum {
    EXIT_SOLUTION = 1, /* not found, or not the right one */
};

struct program {
    const char *name;
    uint64_t side, seed;
    double tolerance; /* of the residual, as a part of the right hand side's */
    int runs;
};

/*
 * Read the command line, before MPI starts.  Returns -1 to go on, or the status
 * to exit with, after --help, --version or an error.
 */
int program_options(struct program *program, const char *name, int argc,
                    char **argv);

/* Begin @matrix: which rows are this rank's.  After MPI_Init. */
void program_matrix(const struct program *program, struct matrix *matrix);

/*
 * Compare @x with the solution and print the result.  Collective; returns the
 * status to exit with.
 */
int program_result(const struct program *program, const struct matrix *matrix,
                   const double *x, int iterations, struct measure *measure);

#endif /* CG_PROGRAM_H */
