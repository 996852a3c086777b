/*
 * The command line of applications whose options are numbers.
 */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

/* What getopt_long() returns for options without a number. */
enum { OPTION_TINY = OPTIONS_MAX, OPTION_HELP, OPTION_VERSION };

static void set_defaults(const struct number_option *options, size_t count,
                         int argc, char **argv)
{
    int tiny = 0, arg;
    size_t i;

    for (arg = 1; arg < argc; arg++)
        tiny |= strcmp(argv[arg], "--tiny") == 0;
    for (i = 0; i < count; i++)
        *options[i].value = tiny ? options[i].tiny : options[i].usual;
}

/* -1, or the status to exit with. */
static int take_number(const char *name, const struct number_option *option,
                       const char *text)
{
    char what[128];

    if (report_parse_u64(text, option->min, option->max, option->value) == 0)
        return -1;
    snprintf(what, sizeof(what),
             "--%s takes a number from %" PRIu64 " to %" PRIu64 ", not ",
             option->name, option->min, option->max);
    return report_usage_error(name, what, text);
}

int options_read(const char *name, const char *usage,
                 const struct number_option *options, size_t count, int argc,
                 char **argv)
{
    struct option table[OPTIONS_MAX + 4] = {{0}};
    int option, status;
    size_t i;

    for (i = 0; i < count && i < OPTIONS_MAX; i++)
        table[i] =
            (struct option){options[i].name, required_argument, NULL, (int)i};
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
        status = take_number(name, &options[option], optarg);
        if (status >= 0)
            return status;
    }
    if (optind < argc)
        return report_usage_error(name, "it takes options only, not ",
                                  argv[optind]);
    return -1;
}
