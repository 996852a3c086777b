/*
 * The command line of the applications in two forms.
 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/* What getopt_long() returns for the options that all programs have. */
enum { OPTION_TINY = OPTIONS_MAX, OPTION_HELP, OPTION_VERSION };

static void set_defaults(const struct program_option *options, size_t count,
                         int argc, char **argv)
{
    int tiny = 0, arg;

    for (arg = 1; arg < argc; arg++)
        tiny |= strcmp(argv[arg], "--tiny") == 0;
    for (const struct program_option *o = options; o < options + count; o++) {
        if (o->number)
            *o->number = tiny ? o->tiny : o->usual;
        else if (o->real)
            *o->real = o->real_usual;
        else
            *o->flag = 0;
    }
}

/* What @option takes. */
static void describe(const struct program_option *option, char *text,
                     size_t bytes)
{
    if (option->real)
        snprintf(text, bytes,
                 "--%s takes a number from %g to %g: ", option->name,
                 option->real_min, option->real_max);
    else if (option->min > 0)
        snprintf(text, bytes,
                 "--%s takes a number from %" PRIu64 " to %" PRIu64 ": ",
                 option->name, option->min, option->max);
    else if (option->max < UINT64_MAX)
        snprintf(text, bytes, "--%s takes a number up to %" PRIu64 ": ",
                 option->name, option->max);
    else
        snprintf(text, bytes, "--%s takes a number: ", option->name);
}

/* -1, or the status to exit with. */
static int take(const char *name, const struct program_option *option,
                const char *text)
{
    char what[128];
    int err = 0;

    if (option->number)
        err = report_parse_u64(text, option->min, option->max, option->number);
    else if (option->real)
        err = report_parse_double(text, option->real_min, option->real_max,
                                  option->real);
    else
        *option->flag = 1;
    if (!err)
        return -1;
    describe(option, what, sizeof(what));
    return report_usage_error(name, what, text);
}

int options_read(const char *name, const char *usage,
                 const struct program_option *options, size_t count, int argc,
                 char **argv)
{
    struct option table[OPTIONS_MAX + 4] = {{0}};
    int option, status;
    size_t i;

    for (i = 0; i < count && i < OPTIONS_MAX; i++)
        table[i] = (struct option){
            options[i].name, options[i].flag ? no_argument : required_argument,
            NULL, (int)i};
    table[i++] = (struct option){"tiny", no_argument, NULL, OPTION_TINY};
    table[i++] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    table[i] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
    set_defaults(options, count, argc, argv);
    opterr = 0;
    while ((option = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (option == '?')
            return report_usage_error(
                name,
                "not an option, or without its value: ", argv[optind - 1]);
        if (option == OPTION_HELP || option == OPTION_VERSION)
            return report_help(name, option == OPTION_HELP ? usage : NULL);
        if (option == OPTION_TINY)
            continue;
        status = take(name, &options[option], optarg);
        if (status >= 0)
            return status;
    }
    if (optind < argc)
        return report_usage_error(name, "not an option: ", argv[optind]);
    return -1;
}
