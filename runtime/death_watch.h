/*
 * death_watch.h - a thread of each rank that sleeps until another one dies.
 *
 * The ranks of a node watch each other in a ring, by pidfds, so each death wakes
 * one thread at once, whatever the others do: they may all be inside MPI, where
 * nobody looks.  If the job goes on (survive.h) the thread closes the ring, and
 * watches the next one.  It costs nothing until then.  A node of one rank has none:
 * there are other nodes then, whose progress threads look.
 */
#ifndef DRASYNC_RUNTIME_DEATH_WATCH_H
#define DRASYNC_RUNTIME_DEATH_WATCH_H

#include "runtime/peer.h"

/* Watch @process, another rank of this node; once the runtime runs.  Where there
 * can be no thread, those who wait find out what it would have. */
void death_watch_start(const struct process *process);

/* It tells of no death any more.  The thread sleeps on until that process or this
 * one ends: to be woken it would need a descriptor, which a program may close. */
void death_watch_stop(void);

#endif /* DRASYNC_RUNTIME_DEATH_WATCH_H */
