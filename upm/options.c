/* The table of the variables: see options.h. */
#include "upm/options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upmlib.h"

/* Options of their own, beside enum upmlib_option. */
enum {
    OPTION_SAMPLE = 100,
    OPTION_PLACE,
    OPTION_STATS,
};

struct option {
    const char *name;
    int option;
    long least, most;
    const char *const *words; /* for values from 0 on; or NULL */
    const char *may_be;
};

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct option options_table[] = {
    {"UPM_SOURCE", UPMLIB_SOURCE, UPMLIB_SOURCE_PROTECT, UPMLIB_SOURCE_NONE,
     WORDS("protect", "userfaultfd", "perf", "file", "none"),
     "protect (default), userfaultfd, perf, file:NAME or none"},
    {"UPM_SAMPLE", OPTION_SAMPLE, 0, UPM_SAMPLE_MS_MAX, NULL,
     "milliseconds from 1 to 3600000, or 0: no sampling (default)"},
    {"UPM_PLACE", OPTION_PLACE, 0, 0,
     WORDS("first", "round-robin", "random", "worst"),
     "round-robin, random, worst or first (default)"},
    {"UPM_THRESHOLD", UPMLIB_THRESHOLD, 0, 1000000, NULL,
     "percent from 0 to 1000000 (default 100)"},
    {"UPM_CRITICAL", UPMLIB_CRITICAL, 0, INT_MAX, NULL,
     "a number of pages from 0 on (default 20)"},
    {"UPM_FREEZE", UPMLIB_FREEZE, -1, 100, NULL,
     "a number from 0 to 100 (default 1), or -1: never"},
    {"UPM_BATCH", UPMLIB_BATCH, 1, 65536, NULL,
     "a number of pages from 1 to 65536 (default 512)"},
    {"UPM_STATS", OPTION_STATS, 0, 1, NULL, "1 or 0 (default)"},
};

#define OPTIONS_COUNT (sizeof(options_table) / sizeof(options_table[0]))

static void assign(struct upm_options *options, int option, long value)
{
    switch (option) {
    case UPMLIB_THRESHOLD:
        options->tuning.threshold_pct = (unsigned)value;
        break;
    case UPMLIB_CRITICAL:
        options->tuning.critical = (size_t)value;
        break;
    case UPMLIB_FREEZE:
        options->tuning.freeze = (int)value;
        break;
    case UPMLIB_SOURCE:
        options->source = value;
        break;
    case UPMLIB_BATCH:
        options->batch = (size_t)value;
        break;
    case OPTION_SAMPLE:
        options->sample_ms = (unsigned)value;
        break;
    case OPTION_PLACE:
        options->place = (enum upm_place)value;
        break;
    default:
        options->stats = value != 0;
    }
}

/* A word of the table, or a number between its limits. */
static int parse(const struct option *option, const char *text, long *value)
{
    char *end;

    for (long i = 0; option->words && option->words[i]; i++) {
        if (!strcmp(text, option->words[i])) {
            *value = i;
            return 0;
        }
    }
    if (option->words)
        return -EINVAL;
    errno = 0;
    *value = strtol(text, &end, 10);
    return end == text || *end || errno || *value < option->least ||
                   *value > option->most
               ? -EINVAL
               : 0;
}

/* UPM_SOURCE=file:NAME. */
static int parse_file(struct upm_options *options, const char *text)
{
    if (strncmp(text, "file:", 5) != 0 || !text[5] ||
        strlen(text + 5) >= sizeof(options->file))
        return -EINVAL;
    strcpy(options->file, text + 5);
    options->source = UPMLIB_SOURCE_FILE;
    return 0;
}

int upm_options_read(struct upm_options *options, char why[UPM_LINE_BYTES])
{
    *options = (struct upm_options){
        .tuning = {.threshold_pct = 100, .critical = 20, .freeze = 1},
        .batch = 512,
        .source = UPMLIB_SOURCE_PROTECT};
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct option *option = &options_table[i];
        const char *text = getenv(option->name);
        long value = 0;

        if (!text || !*text)
            continue;
        if (option->option == UPMLIB_SOURCE && !parse_file(options, text))
            continue;
        if (parse(option, text, &value) ||
            (option->option == UPMLIB_SOURCE && value == UPMLIB_SOURCE_FILE)) {
            snprintf(why, UPM_LINE_BYTES,
                     "%s=%.100s is not valid: it may be %s", option->name, text,
                     option->may_be);
            return -EINVAL;
        }
        assign(options, option->option, value);
    }
    return 0;
}

int upm_options_set(struct upm_options *options, int option, long value,
                    char why[UPM_LINE_BYTES])
{
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct option *known = &options_table[i];

        if (known->option != option || option >= OPTION_SAMPLE)
            continue;
        if (value < known->least || value > known->most) {
            snprintf(why, UPM_LINE_BYTES,
                     "option %d may not be %ld: it is %s's and may be %s",
                     option, value, known->name, known->may_be);
            return -EINVAL;
        }
        if (option == UPMLIB_SOURCE && value == UPMLIB_SOURCE_FILE &&
            !options->file[0]) {
            snprintf(why, UPM_LINE_BYTES,
                     "no file of counts is named: set UPM_SOURCE=file:NAME");
            return -EINVAL;
        }
        assign(options, option, value);
        return 0;
    }
    snprintf(why, UPM_LINE_BYTES,
             "there is no option %d: see enum upmlib_option in upmlib.h",
             option);
    return -EINVAL;
}
