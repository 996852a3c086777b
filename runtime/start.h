/*
 * start.h - between the files of runtime/ that start and end it; and the
 * questions that the take-over of MPI_Init asks.
 */
#ifndef DRASYNC_RUNTIME_START_H
#define DRASYNC_RUNTIME_START_H

#include <stdbool.h>

#include "runtime/process.h"

/* Did the library start MPI by itself?  Then MPI_Init has nothing to do. */
bool runtime_started_mpi(void);

/* Before MPI starts threads: what the kernel does at once for a process of one
 * thread, and for one of several only after a grace period of RCU (10 ms and
 * more).  Without it all works, later. */
void start_before_mpi(void);

/* The lowest rank that has @failed says @line: one is enough where many fail
 * alike.  The others wait until it has, as they may end the job next.
 * Collective. */
void start_refused(bool failed, const char *line);

/* What the leader makes and all ranks of its node open. */
enum start_file {
    START_DATA,
    START_CONTROL,
    START_WAKE, /* a pipe: runtime/messages/outbox.h */
    START_FILES,
};

/* Descriptors of the leader's files on this rank, in place of those in @files
 * if it is not the leader.  Collective over the node. */
int start_share_files(int *files);

/* Make and map the node's memory.  Collective over all. */
int start_memory(void);

/* Fill the shared structure, on the leader. */
int start_shared(void);

/* A number that processes share that can see each other's /proc entries.  0, or
 * an error that has been said. */
int start_host_key(uint64_t *key_out);

/* Handlers for exit and fork, once. */
void start_watch_process(void);

/* MPI_Finalize has begun, seen through MPI or the take-over. */
void stop_at_finalize(void);

/* This rank's end without MPI_Finalize; waits for nobody. */
void stop_alone(void);

#endif /* DRASYNC_RUNTIME_START_H */
