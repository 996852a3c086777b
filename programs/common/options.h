/*
 * options.h - a command line of options that each take a number, as most of the
 * applications in two forms have it.
 */
#ifndef PROGRAMS_COMMON_OPTIONS_H
#define PROGRAMS_COMMON_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* More options than that are not looked at. */
#define OPTIONS_MAX 16

/* An option "--name N". */
struct number_option {
    const char *name;
    uint64_t *value;
    uint64_t min, max;
    uint64_t usual, tiny; /* without it; without it and with --tiny */
};

/*
 * Read the command line of program @name: the @count @options, --tiny, which is
 * for tests, --help and --version.  @usage is a format for the program's name
 * twice.  MPI need not be started.  Returns -1 to go on, or the status to exit
 * with.
 */
int options_read(const char *name, const char *usage,
                 const struct number_option *options, size_t count, int argc,
                 char **argv);

#endif /* PROGRAMS_COMMON_OPTIONS_H */
