/*
 * front.h - what the files of the DART front share: is it up, and its errors.
 *
 * A wrong call returns DART_ERR_INVAL (or what the interface's header names) and
 * says why in one line on stderr where dart_config()'s log_enabled is set.
 */
#ifndef DRASYNC_FRONTS_DART_FRONT_H
#define DRASYNC_FRONTS_DART_FRONT_H

#include <stdbool.h>

#include "dash/dart/if/dart.h"
#include "runtime/rma.h"

/* Between dart_init and dart_exit. */
extern bool front_up;
extern const struct rma_job *front_job;

/* A dart_ret_t for an error of ours (negative, or 0). */
dart_ret_t front_error(int err);

/* Say why @error is returned, if the program wants to know; returns @error. */
dart_ret_t front_fail(dart_ret_t error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The parts, in order of their start; each stop undoes its start and is called
 * after a failed start of a later one.  Collective over all units. */
dart_ret_t heap_start(void); /* the unit's heap region */
void heap_stop(void);
dart_ret_t window_start(void); /* MPI's window over the nodes' memory */
void window_stop(void);
dart_ret_t locality_start(void);
void locality_stop(void);
void locks_stop(void);

#endif /* DRASYNC_FRONTS_DART_FRONT_H */
