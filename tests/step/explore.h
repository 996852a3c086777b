/* explore.h - ways through the choices of a scenario; for main.c. */
#ifndef TESTS_STEP_EXPLORE_H
#define TESTS_STEP_EXPLORE_H

#include "engine.h"

/* All of these: true if the scenario held; else `run` says why. */

/* All schedules with up to @deviations from the simplest, at most @runs_max;
 * *runs counts. */
bool explore_bounded(const struct step_scenario *scenario, unsigned deviations,
                     uint64_t runs_max, uint64_t *runs);
bool explore_seed(const struct step_scenario *scenario, uint64_t seed);

/* @text as report_schedule_text() wrote it. */
bool explore_given(const struct step_scenario *scenario, const char *text);

/* After a failure: find a simpler schedule that fails, and run that, traced. */
void explore_shrink(const struct step_scenario *scenario);

const struct choices *explore_made(void);

#endif /* TESTS_STEP_EXPLORE_H */
