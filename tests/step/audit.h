/* audit.h - which memory orders the scenarios need; for memory.c and main.c. */
#ifndef TESTS_STEP_AUDIT_H
#define TESTS_STEP_AUDIT_H

#include "engine.h"

/* The code does this operation; if the run is audited. */
void audit_note(const struct operation *op);

/* After the scenarios have run, audited: relax what was noted. */
void audit_print(const struct step_test *test,
                 bool (*holds)(const struct step_scenario *scenario));

#endif /* TESTS_STEP_AUDIT_H */
