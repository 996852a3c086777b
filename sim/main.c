/*
 * main.c - simulate: run seeds, scripts or scenarios.
 *
 *   simulate seeds FROM TO [FAULT]  each seed; stops at the first finding,
 *                                    shrinks it and prints it as a script
 *   simulate script FILE             run a script as ranks do
 *   simulate trace FILE              the same, and show messages
 *   simulate scenario FILE           run it command by command, show messages
 *   simulate nodes N SEED            one run with many nodes
 *   simulate workload NAME RANKS ... what a workload costs (workloads.h)
 *   simulate replay FILE ...         what a recorded run takes elsewhere
 *   simulate references FROM TO [FAULT] | FILE
 *                                    managed regions (references.h)
 */
#include <stdlib.h>
#include <string.h>

#include "sim/references.h"
#include "sim/sim.h"
#include "sim/workloads.h"

static int report(struct sim_script *script, char *finding, bool shrink)
{
    printf("seed %llu: %s\n", (unsigned long long)script->seed, finding);
    if (shrink) {
        sim_shrink(script, finding);
        printf("# shortest found: %s\n", finding);
        sim_print(script, stdout);
    }
    return 1;
}

static int run_seeds(uint64_t from, uint64_t to, uint32_t fault)
{
    uint64_t packets = 0, all = 0;
    char finding[256];
    for (uint64_t seed = from; seed <= to; seed++) {
        struct sim_script script;
        sim_generate(&script, seed);
        script.fault = fault;
        bool ok = sim_run(&script, NULL, finding, &packets);
        all += packets;
        if (!ok)
            report(&script, finding, true);
        sim_script_free(&script);
        if (!ok)
            return 1;
    }
    printf("seeds %llu to %llu: no finding, %llu messages\n",
           (unsigned long long)from, (unsigned long long)to,
           (unsigned long long)all);
    return 0;
}

static int run_file(const char *path, bool scenario, FILE *show)
{
    struct sim_script script;
    char finding[256];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        return 2;
    }
    int line = sim_parse(&script, file);
    fclose(file);
    if (line) {
        fprintf(stderr, "%s:%d: not a setting or command\n", path, line);
        return 2;
    }
    script.scenario = scenario;
    bool ok = sim_run(&script, show, finding, NULL);
    if (!ok)
        report(&script, finding, false);
    else if (!scenario)
        printf("%s: no finding\n", path);
    sim_script_free(&script);
    return !ok;
}

static int run_nodes(uint32_t nodes, uint64_t seed)
{
    struct sim_script script;
    char finding[256];
    uint64_t packets;
    if (nodes < 1 || nodes > SIM_NODES_MAX)
        return 2;
    sim_generate_wide(&script, seed, nodes);
    bool ok = sim_run(&script, NULL, finding, &packets);
    if (!ok)
        report(&script, finding, false);
    else
        printf("%u nodes: no finding, %llu messages\n", nodes,
               (unsigned long long)packets);
    sim_script_free(&script);
    return !ok;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && !strcmp(argv[1], "seeds"))
        return run_seeds(strtoull(argv[2], NULL, 10),
                         strtoull(argv[3], NULL, 10),
                         argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 0);
    if (argc == 3 && !strcmp(argv[1], "script"))
        return run_file(argv[2], false, NULL);
    if (argc == 3 && !strcmp(argv[1], "scenario"))
        return run_file(argv[2], true, stdout);
    if (argc == 3 && !strcmp(argv[1], "trace"))
        return run_file(argv[2], false, stdout);
    if (argc == 4 && !strcmp(argv[1], "nodes"))
        return run_nodes((uint32_t)strtoul(argv[2], NULL, 10),
                         strtoull(argv[3], NULL, 10));
    if (argc >= 2 && !strcmp(argv[1], "workload"))
        return workload_main(argc - 2, argv + 2);
    if (argc >= 2 && !strcmp(argv[1], "replay"))
        return replay_main(argc - 2, argv + 2);
    if (argc >= 3 && !strcmp(argv[1], "references"))
        return refsim_main(argc - 2, argv + 2);
    fprintf(stderr, "usage: simulate seeds FROM TO [FAULT] | script FILE | "
                    "trace FILE | scenario FILE | nodes N SEED | "
                    "workload NAME RANKS | replay FILE | "
                    "references FROM TO [FAULT] | references FILE\n");
    return 2;
}
