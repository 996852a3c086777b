/*
 * options.h - the environment variables UPM_*, and upmlib_set()'s limits.
 */
#ifndef UPM_OPTIONS_H
#define UPM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "upm/engine.h"

enum upm_place {
    UPM_PLACE_FIRST, /* the kernel's: where it is touched first */
    UPM_PLACE_ROUND_ROBIN,
    UPM_PLACE_RANDOM,
    UPM_PLACE_WORST, /* all on the first node */
};

/* The name of a file of counts. */
#define UPM_FILE_BYTES 1024

struct upm_options {
    struct upm_tuning tuning;
    size_t batch;
    long source; /* enum upmlib_source */
    char file[UPM_FILE_BYTES];
    unsigned sample_ms; /* 0: no sampling */
    enum upm_place place;
    bool stats;
};

/* A line of upm_options_read() fits. */
#define UPM_LINE_BYTES 384

/* Longest interval of sampling, in ms. */
#define UPM_SAMPLE_MS_MAX 3600000

/* Read the environment.  0, or -EINVAL with a line in @why that names the
 * variable, its value and what it may be. */
int upm_options_read(struct upm_options *options, char why[UPM_LINE_BYTES]);

/* upmlib_set(), but for what it says about areas.  0 or -EINVAL with @why. */
int upm_options_set(struct upm_options *options, int option, long value,
                    char why[UPM_LINE_BYTES]);

#endif /* UPM_OPTIONS_H */
