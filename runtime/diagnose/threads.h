/*
 * threads.h - does a process have threads besides the one that waits?  Another one
 * may give back what that holds, or write what it waits for, by its first call.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_THREADS_H
#define DRASYNC_RUNTIME_DIAGNOSE_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* The thread that MPI has made in this process, by the time that it starts us; 0:
 * none. */
int32_t threads_of_mpi(void);

/* Has process @pid of this host threads that are neither its first one nor this
 * library's nor @mpi_thread?  True if that cannot be told. */
bool threads_others(int32_t pid, int32_t mpi_thread);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_THREADS_H */
