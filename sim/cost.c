/* cost.c - the network and the cores, as options. */
#include <stdlib.h>
#include <string.h>

#include "sim/workloads.h"

const char cost_usage[] =
    "  --latency US      of the network, one way (default 8)\n"
    "  --overhead US     of a progress thread, for each message sent or\n"
    "                    received (default 1)\n"
    "  --bandwidth MB/S  of a node's link, each way (default 1700)\n"
    "  --local US        from rank to rank on one node (default 1)\n"
    "  --local-bandwidth MB/S  of MPI messages on one node (default: no "
    "limit)\n"
    "  --cores N         for all ranks and progress threads (default: one "
    "each)\n"
    "  --together        a node's progress thread shares a rank's core\n";

static int number(const char *text, double *out)
{
    char *end;

    if (!text)
        return -1;
    *out = strtod(text, &end);
    return end == text || *end || !(*out >= 0 && *out < 1e12) ? -1 : 0;
}

int cost_option(struct model_cost *cost, int argc, char **argv, int *at)
{
    const struct {
        const char *name;
        uint64_t *ns;
        double *plain;
    } options[] = {{"--latency", &cost->latency_ns, NULL},
                   {"--overhead", &cost->overhead_ns, NULL},
                   {"--local", &cost->local_ns, NULL},
                   {"--bandwidth", NULL, &cost->bandwidth_mb_s},
                   {"--local-bandwidth", NULL, &cost->local_mb_s}};
    const char *name = argv[*at];
    const char *text = *at + 1 < argc ? argv[*at + 1] : NULL;
    double value;

    if (!strcmp(name, "--together")) {
        cost->together = true;
        return 1;
    }
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (strcmp(name, options[i].name))
            continue;
        if (number(text, &value))
            return -1;
        ++*at;
        if (options[i].ns)
            *options[i].ns = (uint64_t)(value * 1000);
        else
            *options[i].plain = value;
        return 1;
    }
    if (strcmp(name, "--cores"))
        return 0;
    if (number(text, &value) || value > MODEL_RANKS_MAX)
        return -1;
    ++*at;
    cost->cores = (uint32_t)value;
    return 1;
}
