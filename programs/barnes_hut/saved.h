/*
 * saved.h - the simulation in a file, from which another run goes on: what it
 * is, how many of its steps are done, and all bodies.
 *
 * It is one region, which worker 0 makes or loads, fills and saves.  Everything
 * that the rest of the run depends on is in it: which bodies a part has, and in
 * which order, as sums depend on that to the last bit; and nothing that depends
 * on the workers, who may be others when it is loaded.  Between these calls
 * nobody holds it.
 */
#ifndef BARNES_HUT_SAVED_H
#define BARNES_HUT_SAVED_H

#include <drasync.h>

#include "program.h"

/*
 * What the answer depends on.  A file is of the same simulation if all of this
 * is equal in it: it is the content that counts, not names or times of files.
 */
struct settings {
    uint64_t bodies;
    uint64_t plummer; /* 0: they are from a file, 1: the sphere of @seed */
    uint64_t seed;
    uint64_t input; /* a hash of what was in the file */
    uint64_t parts;
    double dt, theta, softening;
    uint64_t verify; /* energies are summed in another way with it */
};

/* The root of the region; pointers lead to objects of the same region. */
struct saved {
    struct settings settings;
    uint64_t step;      /* so many are done */
    struct sums before; /* when none was */
    struct share *part; /* settings.parts of them */
    struct body *bodies;
};

/* The settings of this run, whose input is the @count @bodies.  With no --parts
 * it has @workers parts. */
struct settings saved_settings(const struct program *program,
                               const struct body *bodies, size_t count,
                               int workers);

/*
 * Load program->save.  Returns 0 with the region, its root and, in @settings,
 * its number of parts, or with NULL if there is no such file; or EXIT_INPUT after
 * a line on stderr: it is not of the simulation of @settings, or past the last
 * step of this run.  Call it before any worker makes a region: the addresses of
 * what is in the file must be free.
 */
int saved_load(const struct program *program, struct settings *settings,
               region *region_out, struct saved **saved_out);

/* Make a new one, without bodies.  Returns 0, or EXIT_INPUT after a line on
 * stderr. */
int saved_new(const struct program *program, const struct settings *settings,
              region *region_out, struct saved **saved_out);

/* Copy all into it that changes, of @part the bodies.  Returns 0 or an error of
 * DRASync. */
int saved_fill(region region, struct saved *saved, uint64_t step,
               const struct sums *before, const struct share *part);

/*
 * Write it to program->save, and say so on stderr.  Returns 0, or EXIT_INPUT
 * after a line on stderr; then the file is what it was.
 */
int saved_write(const struct program *program, region region, uint64_t step);

#endif /* BARNES_HUT_SAVED_H */
