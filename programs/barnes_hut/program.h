/*
 * program.h - what both forms of the program share around the simulation: the
 * command line, the input, and the last line.
 */
#ifndef BARNES_HUT_PROGRAM_H
#define BARNES_HUT_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "bodies.h"
#include "forces.h"

enum {
    EXIT_VERIFY = 1, /* the forces are too far off */
    EXIT_INPUT = 2,  /* the command line or the input is wrong */
};

/* Bodies change workers every so many steps. */
#define REBALANCE_STEPS 4

struct program {
    const char *name;
    const char *path; /* NULL: a Plummer sphere */
    uint64_t plummer; /* of so many bodies */
    uint64_t seed;
    uint64_t steps;
    double theta;
    double dt;
    struct gravity gravity;
    int verify;
    /* Of the form that saves; zero in others. */
    const char *save; /* a file; NULL: nothing is saved */
    uint64_t save_steps;
    uint64_t parts; /* 0: one a worker, or as the file has them */
};

/*
 * Read the command line, before MPI starts; @saves: with the options that are
 * about saving.  Returns -1 to go on, or the status to exit with, after --help,
 * --version or an error.
 */
int program_options(struct program *program, const char *name, int saves,
                    int argc, char **argv);

/*
 * Worker 0: read or make the bodies, which the caller frees.  Returns 0, or
 * EXIT_INPUT after a line on stderr.
 */
int program_input(const struct program *program, struct body **bodies_out,
                  size_t *count_out);

/*
 * One worker's sums over its bodies: the energy and, if @final and --verify,
 * the errors of its forces.
 */
struct sums program_sums(const struct program *program,
                         const struct body *bodies, size_t count,
                         const struct body *const *all, size_t all_count,
                         int final);

/*
 * Worker 0: print the result.  @before and @after are the sums of all workers.
 * Returns the status to exit with.
 */
int program_result(const struct program *program, int workers, size_t count,
                   const struct sums *before, const struct sums *after,
                   uint64_t hash, double seconds);

#endif /* BARNES_HUT_PROGRAM_H */
