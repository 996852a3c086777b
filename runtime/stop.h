/*
 * stop.h - the end, in order or not: what the start asks of it, and the take-over
 * of MPI_Finalize.  runtime_stop() is in process.h.
 */
#ifndef DRASYNC_RUNTIME_STOP_H
#define DRASYNC_RUNTIME_STOP_H

#include <stdbool.h>

/* Handlers for exit, fork and a rank that is buried, once. */
void stop_watch_process(void);

/* MPI_Finalize has begun, seen through MPI or the take-over. */
void stop_at_finalize(void);

/* After that: MPI must be left as it is, since a rank has died without which
 * MPI_Finalize does not end (survive.h). */
bool stop_leaves_mpi(void);

/* This rank's end without MPI_Finalize; waits for nobody. */
void stop_alone(void);

#endif /* DRASYNC_RUNTIME_STOP_H */
