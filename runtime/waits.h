/*
 * waits.h - DRASYNC_STATS=waits: where this rank's waits were, by the places in
 * the program that made the calls.
 *
 * Each wait that waiting_begin() and waiting_end() enclose is counted, from some
 * microseconds on.  Waits inside MPI are not DRASync's, and are not.
 * Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_WAITS_H
#define DRASYNC_RUNTIME_WAITS_H

/* From here on they are counted, by waiting_counter() of waiting.h. */
void waits_start(void);

/* The places with the longest waits, each as a line on stderr. */
void waits_print(void);

#endif /* DRASYNC_RUNTIME_WAITS_H */
