/*
 * options.h - the command line of the applications in two forms: options that
 * each take a number, and a few that take none.
 */
#ifndef PROGRAMS_COMMON_OPTIONS_H
#define PROGRAMS_COMMON_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* More options than that are not looked at. */
#define OPTIONS_MAX 16

/* An option "--name N", "--name X" or "--name", as @number, @real or @flag is
 * set. */
struct program_option {
    const char *name;
    uint64_t *number;
    uint64_t min, max;
    uint64_t usual, tiny; /* without it; without it and with --tiny */
    double *real;
    double real_min, real_max, real_usual;
    int *flag; /* 1 with it, 0 without */
};

/* In a table of options; the last arguments are the defaults. */
#define OPTION_NUMBER(what, value, from, to, without, with_tiny)       \
    {                                                                  \
        .name = (what), .number = (value), .min = (from), .max = (to), \
        .usual = (without), .tiny = (with_tiny)                        \
    }
#define OPTION_REAL(what, value, from, to, without)                            \
    {                                                                          \
        .name = (what), .real = (value), .real_min = (from), .real_max = (to), \
        .real_usual = (without)                                                \
    }
#define OPTION_FLAG(what, value)        \
    {                                   \
        .name = (what), .flag = (value) \
    }

/*
 * Read the command line of program @name: the @count @options, --tiny, which is
 * for tests, --help and --version.  @usage is a format for the program's name
 * twice.  MPI need not be started.  Returns -1 to go on, or the status to exit
 * with.
 */
int options_read(const char *name, const char *usage,
                 const struct program_option *options, size_t count, int argc,
                 char **argv);

#endif /* PROGRAMS_COMMON_OPTIONS_H */
