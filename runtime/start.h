/*
 * start.h - between the files of runtime/ that start it; and what the take-over
 * of MPI_Init does first.
 *
 * The start is one exchange of what each rank knows (start_agree.c), from which
 * all conclude the same: whether they can start, who is where (start_places.c),
 * at which address.  Then the ranks of a node meet in a page that their leader
 * makes (start_page.c), and sleep there; only leaders talk through MPI.
 */
#ifndef DRASYNC_RUNTIME_START_H
#define DRASYNC_RUNTIME_START_H

#include "runtime/start_agree.h"

/* Before MPI reads what is set for it, and starts threads: boot_before_mpi(), and
 * what the kernel does at once for a process of one thread, and for one of
 * several only after a grace period of RCU (10 ms and more).  Without it all
 * works, later. */
void start_before_mpi(void);

/* Map the node's memory: as leader into new @files
 * (start_page.h), else into those given.  0,
 * or an error that has been said. */
int start_memory_make(const struct start_agreed *agreed, int *files);
int start_memory_open(const struct start_agreed *agreed, const int *files);

/* Fill the shared structure, on the leader. */
int start_shared(const struct start_facts *facts);

#endif /* DRASYNC_RUNTIME_START_H */
