/*
 * front.h - what the files of the DART front share: is it up, and its errors.
 *
 * A wrong call returns DART_ERR_INVAL (or what the interface's header names)
 * and says why in one line on stderr, the first time for each reason, unless
 * the program has set dart_config()'s log_enabled to 0.
 */
#ifndef DRASYNC_FRONTS_DART_FRONT_H
#define DRASYNC_FRONTS_DART_FRONT_H

#include <stdbool.h>

#include "dash/dart/if/dart.h"
#include "runtime/rma/rma.h"

/* Between dart_init and dart_exit. */
extern bool front_up;
extern const struct rma_job *front_job;

/* A dart_ret_t for an error of ours (negative, or 0). */
dart_ret_t front_error(int err);

/* Say why @error is returned, if the program wants to know and it has not been
 * said yet: a reason is its @format.  Begin with the call's name, and write for
 * somebody who has never seen our sources.  Returns @error. */
dart_ret_t front_fail(dart_ret_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The parts, in order of their start (the table in init.c); each stop undoes
 * its start and is called after a failed start of a later one.  Collective over
 * all units.  A start that failed has undone itself; where it succeeded, but
 * failed on another unit, its stop is called: so a stop that is collective
 * needs a start that agrees (team_agree()).
 */
dart_ret_t heap_start(void); /* the unit's heap region */
void heap_stop(void);
dart_ret_t window_start(void); /* MPI's window over the nodes' memory */
void window_stop(void);
void segments_stop(void); /* what the program left of them */
dart_ret_t locality_start(void);
void locality_stop(void);
void locks_stop(void);

#endif /* DRASYNC_FRONTS_DART_FRONT_H */
