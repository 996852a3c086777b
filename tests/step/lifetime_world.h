/* lifetime_world.h - an engine of lifetime/ for tests/step/lifetime.c, and the
 * objects and transients of its scenarios. */
#ifndef TESTS_STEP_LIFETIME_WORLD_H
#define TESTS_STEP_LIFETIME_WORLD_H

#include "step.h"

#include "lifetime/state.h"

#include "tests/step/calls.h"

#define LIFETIME_THREADS 3

extern struct life life;
extern struct life_thread me[LIFETIME_THREADS];
extern life_handle x, y; /* objects */
extern struct life_transient *a, *b;
extern _Atomic(struct life_transient *) handed; /* from thread to thread */
extern int ends;                                /* of objects */

/* What a fault is to leave out, by its number in enum life_rule. */
extern const char *const lifetime_rules[];

/* An engine with x, of which thread 0 has a counted reference, and a, a
 * transient of it that refers to nothing. */
void begin_world(void);

life_handle thing_new(struct life_thread *thread);

/* Who has it finds it whole. */
void use(life_handle handle);

#endif
