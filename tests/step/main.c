/* main.c - a test's command line: what it runs, in TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "explore.h"

#define RUNS_MAX 400000

struct asked {
    const struct step_fault *fault;
    size_t scenario; /* from 1; 0: all */
    uint64_t seed_from, seed_to;
    bool seeds;
    const char *schedule;
    bool audit;
};

static const struct step_test *test;
static unsigned number;

static bool seeds_hold(const struct step_scenario *scenario, uint64_t from,
                       uint64_t to, uint64_t *runs, uint64_t *failed_seed)
{
    for (uint64_t seed = from; seed < to; seed++) {
        ++*runs;
        *failed_seed = seed;
        if (!explore_seed(scenario, seed))
            return false;
    }
    *failed_seed = 0;
    return true;
}

/* Few deviations first: what they find is short. */
static bool holds(const struct step_scenario *scenario, uint64_t *runs,
                  uint64_t *seed)
{
    *seed = 0;
    for (unsigned d = 0; d <= scenario->deviations; d++) {
        uint64_t these = 0;
        bool held = explore_bounded(scenario, d, RUNS_MAX, &these);

        if (!held || d == scenario->deviations)
            *runs += these;
        if (!held)
            return false;
    }
    return seeds_hold(scenario, 1, 1 + (uint64_t)scenario->seeds, runs, seed);
}

static void show(const struct step_scenario *scenario, uint64_t seed)
{
    explore_shrink(scenario);
    printf("#   scenario %zu: %s\n", (size_t)(scenario - test->scenarios) + 1,
           scenario->title);
    if (seed)
        printf("#   seed %llu: --seeds=%llu:%llu\n", (unsigned long long)seed,
               (unsigned long long)seed, (unsigned long long)seed + 1);
    report_failure(explore_made());
}

static bool scenario_holds(const struct step_scenario *scenario,
                           const struct asked *asked)
{
    uint64_t runs = 0, seed = 0;
    bool held = asked->schedule ? explore_given(scenario, asked->schedule)
                : asked->seeds  ? seeds_hold(scenario, asked->seed_from,
                                             asked->seed_to, &runs, &seed)
                                : holds(scenario, &runs, &seed);

    printf("%s %u - %s: %s\n# %llu schedules\n", held ? "ok" : "not ok",
           ++number, test->name, scenario->title, (unsigned long long)runs);
    if (!held && asked->schedule)
        report_failure(explore_made());
    else if (!held)
        show(scenario, seed);
    fflush(stdout);
    return held;
}

/* Is a fault found by one of the scenarios that may? */
static bool fault_found(const struct step_fault *fault)
{
    uint64_t runs = 0, seed;
    bool met = false;

    run.fault = fault;
    for (size_t i = 0; i < test->scenarios_count; i++) {
        const struct step_scenario *scenario = &test->scenarios[i];

        if (fault->scenarios && !(fault->scenarios >> i & 1))
            continue;
        if (holds(scenario, &runs, &seed)) {
            met |= run.fault_met;
            continue;
        }
        explore_shrink(scenario);
        printf("ok %u - %s: it is found that %s\n# schedule %llu, %u steps: "
               "%s\n",
               ++number, test->name, fault->title, (unsigned long long)runs,
               run.traces, run.reason);
        run.fault = NULL;
        return true;
    }
    run.fault = NULL;
    printf("not ok %u - %s: it is found that %s\n# %llu schedules%s\n",
           ++number, test->name, fault->title, (unsigned long long)runs,
           met ? "" : "; the fault met no operation");
    return false;
}

/* --- Arguments ------------------------------------------------------------ */

static const char *value_of(const char *argument, const char *name)
{
    size_t length = strlen(name);

    return strncmp(argument, name, length) ? NULL : argument + length;
}

static void usage(const char *wrong)
{
    fprintf(stderr,
            "%s\nUsage: %s [--scenario=N] [--seeds=FROM:TO] "
            "[--schedule=TEXT] [--fault=NAME] [--audit]\nfaults:\n",
            wrong, test->name);
    for (size_t i = 0; i < test->faults_count; i++)
        fprintf(stderr, "  %s: %s\n", test->faults[i].name,
                test->faults[i].title);
    exit(2);
}

static void read_argument(struct asked *asked, const char *argument)
{
    const char *value;

    if ((value = value_of(argument, "--scenario="))) {
        asked->scenario = strtoul(value, NULL, 10);
    } else if ((value = value_of(argument, "--seeds="))) {
        char *end;

        asked->seeds = true;
        asked->seed_from = strtoull(value, &end, 10);
        asked->seed_to = *end ? strtoull(end + 1, NULL, 10) : 0;
    } else if ((value = value_of(argument, "--schedule="))) {
        asked->schedule = value;
    } else if (!strcmp(argument, "--audit")) {
        asked->audit = true;
    } else if ((value = value_of(argument, "--fault="))) {
        for (size_t i = 0; i < test->faults_count; i++)
            if (!strcmp(value, test->faults[i].name))
                asked->fault = &test->faults[i];
        if (!asked->fault)
            usage("No such fault.");
    } else {
        usage("No such argument.");
    }
}

static bool holds_still(const struct step_scenario *scenario)
{
    uint64_t runs = 0, seed;

    return holds(scenario, &runs, &seed);
}

int step_main(const struct step_test *what, int argc, char **argv)
{
    struct asked asked = {0};
    bool good = true, all;

    test = what;
    for (int i = 1; i < argc; i++)
        read_argument(&asked, argv[i]);
    all = argc == 1;
    run.fault = asked.fault;
    run.audited = asked.audit;
    for (size_t i = 0; i < test->scenarios_count; i++)
        if (!asked.scenario || asked.scenario == i + 1)
            good &= scenario_holds(&test->scenarios[i], &asked);
    for (size_t i = 0; all && i < test->faults_count; i++)
        good &= fault_found(&test->faults[i]);
    if (asked.audit && good)
        audit_print(test, holds_still);
    printf("1..%u\n", number);
    return good ? 0 : 1;
}
