/* The environment variables, good and bad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "drasync.h"
#include "runtime/options.h"
#include "tap.h"

static uint64_t bytes_of(const char *text)
{
    uint64_t bytes = 0;

    return options_parse_bytes(text, &bytes) ? UINT64_MAX : bytes;
}

static void clear(void)
{
    static const char *const names[] = {
        "DRASYNC_SPACE",    "DRASYNC_MEMORY",        "DRASYNC_NODE",
        "DRASYNC_PROGRESS", "DRASYNC_MYRMICS",       "DRASYNC_CHECK",
        "DRASYNC_STATS",    "DRASYNC_WIRE",          "DRASYNC_RMA",
        "DRASYNC_CORE",     "DRASYNC_FANOUT",        "DRASYNC_STALL_S",
        "DRASYNC_DEADLOCK", "DRASYNC_REPORT_SIGNAL", "DRASYNC_CHECK_ACTION",
        "DRASYNC_AHEAD",    "DRASYNC_LINK_S",        "DRASYNC_ON_DEATH"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
}

/* Is @value of @name refused with a line that names both? */
static int refused(const char *name, const char *value)
{
    struct runtime_options options;
    char why[256] = "";

    clear();
    setenv(name, value, 1);
    int err = options_read(&options, why, sizeof(why));
    clear();
    return err == DRASYNC_EINVAL && strstr(why, name) && strstr(why, value);
}

/* What is said of the environment's names, when @name is one of them. */
static const char *said_of(const char *name)
{
    static char line[OPTIONS_LINE_BYTES];
    size_t at = 0;

    clear();
    setenv(name, "1", 1);
    if (!options_unknown(&at, line, sizeof(line)))
        strcpy(line, "");
    else if (options_unknown(&at, line, sizeof(line)))
        strcpy(line, "two lines");
    unsetenv(name);
    return line;
}

static int meant(const char *name, const char *known)
{
    const char *said = said_of(name);
    char end[64];

    snprintf(end, sizeof(end), "is %s meant?", known);
    return !strncmp(said, name, strlen(name)) && strstr(said, end);
}

static void names(void)
{
    tap_ok(meant("DRASYNC_MEMROY", "DRASYNC_MEMORY") &&
               meant("DRASYNC_PROGRES", "DRASYNC_PROGRESS") &&
               meant("DRASYNC_NODES", "DRASYNC_NODE") &&
               meant("DRASYNC_MODE", "DRASYNC_NODE") &&
               meant("DRASYNC_RMAS", "DRASYNC_RMA") &&
               meant("DRASYNC_STALL", "DRASYNC_STALL_S") &&
               meant("DRASYNC_MYRIMCS", "DRASYNC_MYRMICS"),
           "a misspelt name is said, with the one that is meant");
    tap_ok(
        strstr(said_of("DRASYNC_FRUIT"), "DRASYNC_FRUIT is not a variable") &&
            (WIRE_PAGED || strstr(said_of("DRASYNC_WIRE"),
                                  "DRASYNC_WIRE is not a variable")) &&
            !strstr(said_of("DRASYNC_FRUIT"), "meant") &&
            strstr(
                said_of("DRASYNC_A_NAME_OF_MORE_LETTERS_THAN_ANY_OF_OURS_HAS"),
                "is not a variable"),
        "one that resembles none is said too");
    tap_ok(!*said_of("DRASYNC_ROOT") && !*said_of("DRASYNC_DIR") &&
               !*said_of("DRASYNC_TEST_SECONDS") &&
               !*said_of("DRASYNC_RECORD") && !*said_of("DRASYNC_SPACE") &&
               !*said_of("MYRMICS_SPCE"),
           "those of packages, scripts and others are not");
}

static void differences(void)
{
    struct runtime_options here = {.space_bytes = UINT64_C(64) << 30,
                                   .node_ranks = 1};
    struct runtime_options first = here;
    char line[OPTIONS_LINE_BYTES];

    tap_ok(!options_differ(&here, &first, line, sizeof(line)), "equal options");
    first.space_bytes = 0;
    tap_ok(options_differ(&here, &first, line, sizeof(line)) &&
               strstr(line, "DRASYNC_SPACE is 64G here and not set on rank 0"),
           "a size that differs is named with both values");
    first = here;
    first.node_ranks = 2;
    tap_ok(options_differ(&here, &first, line, sizeof(line)) &&
               strstr(line, "DRASYNC_NODE is rank here and 2 on rank 0"),
           "so are words and numbers");
}

int main(void)
{
    struct runtime_options options;
    char why[256];

    names();
    differences();

    tap_ok(bytes_of("0") == 0 && bytes_of("4096") == 4096 &&
               bytes_of("64k") == 64 << 10 && bytes_of("64M") == 64 << 20 &&
               bytes_of("3GiB") == UINT64_C(3) << 30 &&
               bytes_of("16TB") == UINT64_C(16) << 40 && bytes_of("7B") == 7 &&
               bytes_of("64gb") == bytes_of("64G") &&
               bytes_of("2mIb") == 2 << 20 &&
               bytes_of("18446744073709551615") == UINT64_MAX,
           "sizes with and without units");
    tap_ok(bytes_of("") == UINT64_MAX && bytes_of("-1") == UINT64_MAX &&
               bytes_of("1X") == UINT64_MAX && bytes_of("1Kx") == UINT64_MAX &&
               bytes_of("M") == UINT64_MAX && bytes_of("1 M") == UINT64_MAX &&
               bytes_of("1 ") == UINT64_MAX && bytes_of("1 B") == UINT64_MAX &&
               bytes_of("1iB") == UINT64_MAX &&
               bytes_of("64GG") == UINT64_MAX && bytes_of(" 1") == UINT64_MAX &&
               bytes_of("0x10") == UINT64_MAX &&
               bytes_of("18446744073709551616") == UINT64_MAX &&
               bytes_of("99999999999999999999") == UINT64_MAX &&
               bytes_of("99999999999T") == UINT64_MAX,
           "what is no size, or too large");
    clear();
    tap_ok(!options_read(&options, why, sizeof(why)) && !options.node_ranks &&
               !options.space_bytes && !options.memory_bytes &&
               options.progress == RUNTIME_PROGRESS_ADAPTIVE &&
               options.wire == RUNTIME_WIRE_BULK &&
               options.rma == RUNTIME_RMA_AUTO && !options.fanout &&
               options.report_signal == RUNTIME_REPORT_USR2 &&
               options.ahead == RUNTIME_AHEAD_AUTO &&
               options.myrmics == RUNTIME_MYRMICS_COPY,
           "nothing set: the defaults");
    setenv("DRASYNC_NODE", "rank", 1);
    setenv("DRASYNC_MYRMICS", "move", 1);
    setenv("DRASYNC_PROGRESS", "spin", 1);
    setenv("DRASYNC_WIRE", "paged", 1);
    setenv("DRASYNC_RMA", "messages", 1);
    setenv("DRASYNC_FANOUT", "2", 1);
    setenv("DRASYNC_AHEAD", "token", 1);
    setenv("DRASYNC_SPACE", "1G", 1);
    setenv("DRASYNC_CHECK", "leaks,objects,deadlock", 1);
    setenv("DRASYNC_CHECK_ACTION", "continue", 1);
    setenv("DRASYNC_REPORT_SIGNAL", "USR1", 1);
    setenv("DRASYNC_ON_DEATH", "continue", 1);
    setenv("DRASYNC_MEMORY", "", 1);
    tap_ok(
        !options_read(&options, why, sizeof(why)) && options.node_ranks == 1 &&
            options.space_bytes == UINT64_C(1) << 30 && !options.memory_bytes &&
            options.progress == RUNTIME_PROGRESS_SPIN &&
            options.wire ==
                (WIRE_PAGED ? RUNTIME_WIRE_PAGED : RUNTIME_WIRE_BULK) &&
            options.rma == RUNTIME_RMA_MESSAGES && options.fanout == 2 &&
            options.check == (OPTIONS_CHECK_OBJECTS | OPTIONS_CHECK_LEAKS |
                              OPTIONS_CHECK_DEADLOCK) &&
            options.ahead == RUNTIME_AHEAD_TOKEN &&
            options.check_action == OPTIONS_CHECK_CONTINUE &&
            options.report_signal == RUNTIME_REPORT_USR1 &&
            options.on_death == RUNTIME_ON_DEATH_CONTINUE &&
            options.myrmics == RUNTIME_MYRMICS_MOVE,
        "all set; an empty one counts as not set");
    setenv("DRASYNC_CHECK", "1,deadlock", 1);
    tap_ok(!options_read(&options, why, sizeof(why)) &&
               options.check == (OPTIONS_CHECK_ACCESS | OPTIONS_CHECK_DEADLOCK),
           "1 is access, also among others");
    setenv("DRASYNC_CHECK", "all", 1);
    tap_ok(!options_read(&options, why, sizeof(why)) &&
               options.check ==
                   (OPTIONS_CHECK_ACCESS | OPTIONS_CHECK_LEAKS |
                    OPTIONS_CHECK_OBJECTS | OPTIONS_CHECK_DEADLOCK),
           "all is all that finds mistakes only");
    setenv("DRASYNC_CHECK", "all,pointers,links", 1);
    tap_ok(!options_read(&options, why, sizeof(why)) &&
               options.check == (OPTIONS_CHECK_ALL | OPTIONS_CHECK_POINTERS |
                                 OPTIONS_CHECK_LINKS),
           "the others are said");
    tap_ok(
        refused("DRASYNC_NODE", "ranks") && refused("DRASYNC_NODE", "0") &&
            refused("DRASYNC_PROGRESS", "fast") &&
            refused("DRASYNC_MYRMICS", "Move") &&
            (!WIRE_PAGED || refused("DRASYNC_WIRE", "pages")) &&
            refused("DRASYNC_RMA", "tcp") && refused("DRASYNC_SPACE", "0") &&
            refused("DRASYNC_MEMORY", "lots") &&
            refused("DRASYNC_MEMORY", "1K") && refused("DRASYNC_NODE", "2K") &&
            refused("DRASYNC_CHECK", "2") && refused("DRASYNC_CHECK", ",") &&
            refused("DRASYNC_CHECK", "access,") &&
            refused("DRASYNC_CHECK", "all,some") &&
            refused("DRASYNC_CHECK", "0,leaks") &&
            refused("DRASYNC_CHECK_ACTION", "stop") &&
            refused("DRASYNC_ON_DEATH", "1") &&
            refused("DRASYNC_CORE", "all") && refused("DRASYNC_STATS", "yes") &&
            refused("DRASYNC_FANOUT", "0") &&
            refused("DRASYNC_FANOUT", "many") &&
            refused("DRASYNC_STALL_S", "1m") &&
            refused("DRASYNC_LINK_S", "-1") &&
            refused("DRASYNC_REPORT_SIGNAL", "SIGUSR2") &&
            refused("DRASYNC_DEADLOCK", "1") && refused("DRASYNC_AHEAD", "1") &&
            refused("DRASYNC_AHEAD", "all"),
        "bad values are named");
    clear();
    setenv("DRASYNC_AHEAD", "off", 1);
    tap_ok(!options_read(&options, why, sizeof(why)) &&
               options.ahead == RUNTIME_AHEAD_OFF,
           "DRASYNC_AHEAD=off");
    return tap_end();
}
