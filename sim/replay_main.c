/* replay_main.c - `simulate replay`: its options. */
#include <stdlib.h>
#include <string.h>

#include "sim/replay.h"
#include "sim/workloads.h"

static int usage(FILE *to)
{
    fprintf(
        to,
        "Usage: simulate replay FILE [OPTION]...\n\n"
        "A run that was recorded with DRASYNC_RECORD=FILE, again.  One "
        "line of CSV: what the\nprogram marks as timed, or all, in seconds; "
        "its parts are means over the ranks.\n\n"
        "  --head            a line with the columns' names first\n"
        "  --per-node N      ranks of a node (default: all)\n"
        "  --ahead off|auto  what DRASYNC_AHEAD is (default auto); "
        "drasync_phase() is\n"
        "                    not known here\n"
        "  --schedulers N    of the baseline, each with as many workers "
        "(default 1)\n"
        "  --request US, --query US  what a request for memory, or where data "
        "is,\n"
        "                    costs a scheduler (default: as recorded)\n"
        "%s",
        cost_usage);
    return to == stdout ? 0 : 2;
}

/* A number of the replay's own; 1, 0 or -1 as cost_option(). */
static int replay_option(struct replay *replay, int argc, char **argv, int *at)
{
    const char *name = argv[*at];
    double value;
    char *end;

    if (strcmp(name, "--schedulers") && strcmp(name, "--request") &&
        strcmp(name, "--query") && strcmp(name, "--per-node"))
        return 0;
    if (++*at == argc)
        return -1;
    value = strtod(argv[*at], &end);
    if (*end || end == argv[*at] || !(value > 0 && value < 1e9))
        return -1;
    if (!strcmp(name, "--schedulers"))
        replay->schedulers = (uint32_t)value;
    else if (!strcmp(name, "--request"))
        replay->cost.request_ns = (uint64_t)(value * 1000);
    else if (!strcmp(name, "--query"))
        replay->cost.query_ns = (uint64_t)(value * 1000);
    else
        replay->model.per_node = (uint32_t)value;
    return 1;
}

int replay_main(int argc, char **argv)
{
    /* Static, as what the model leaves to the end of the process hangs on it.
     */
    static struct replay replay = {.schedulers = 1};
    char error[256];
    bool head = false;
    int failed;

    replay.model.cost = model_cost_default;
    if (argc < 1 || !strcmp(argv[0], "--help"))
        return usage(argc < 1 ? stderr : stdout);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--head")) {
            head = true;
        } else if (i + 1 < argc && !strcmp(argv[i], "--ahead") &&
                   (!strcmp(argv[i + 1], "off") ||
                    !strcmp(argv[i + 1], "auto"))) {
            replay.quiet = !strcmp(argv[++i], "off");
        } else if (replay_option(&replay, argc, argv, &i) != 1 &&
                   (i >= argc ||
                    cost_option(&replay.model.cost, argc, argv, &i) != 1)) {
            fprintf(stderr,
                    "simulate: no such option, or not its value: %s "
                    "(see simulate replay --help)\n",
                    argv[i < argc ? i : argc - 1]);
            return 2;
        }
    }
    if (records_read(argv[0], &replay.records, error, sizeof(error))) {
        fprintf(stderr, "simulate: %s\n", error);
        return 2;
    }
    if (replay.model.per_node && replay.records.ranks % replay.model.per_node) {
        fprintf(stderr, "simulate: %u ranks do not fill nodes of %u\n",
                replay.records.ranks, replay.model.per_node);
        return 2;
    }
    if (head)
        printf("record,system,workers,nodes,schedulers,seconds,computation,"
               "communication,idle,messages,bytes,recorded_seconds\n");
    failed = replay_run(&replay, argv[0]);
    records_free(&replay.records);
    return failed;
}
