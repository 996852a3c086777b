/*
 * workloads.h - the commands of simulate that say what things cost: synthetic
 * workloads at any size, and the replay of records.
 */
#ifndef DRASYNC_SIM_WORKLOADS_H
#define DRASYNC_SIM_WORKLOADS_H

#include "sim/model.h"

/* `simulate workload ...` and `simulate replay ...`, arguments after that word.
 * The exit status. */
int workload_main(int argc, char **argv);
int replay_main(int argc, char **argv);

/*
 * The options of the network and the cores that both have.  1 if argv[*at] is
 * one and has its value (*at is then at that), 0 if it is none, -1 if the value
 * is wrong.
 */
int cost_option(struct model_cost *cost, int argc, char **argv, int *at);

extern const char cost_usage[];

#endif
