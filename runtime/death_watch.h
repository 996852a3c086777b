/*
 * death_watch.h - a thread of each rank that sleeps until another one dies.
 *
 * The ranks of a node watch each other in a ring, by a mutex that each thread has
 * (alive.h), so each death wakes one thread at once, whatever the others do: they
 * may all be inside MPI, where nobody looks.  Once a second, and more often where
 * there is no such mutex, it looks at the pidfd too; so it does when the job goes on
 * (survive.h), as then the dead process has to be gone first.  After that it closes
 * the ring, and watches the next one.  A node of one rank has no such thread: there
 * are other nodes then, whose progress threads look.
 */
#ifndef DRASYNC_RUNTIME_DEATH_WATCH_H
#define DRASYNC_RUNTIME_DEATH_WATCH_H

/* Locks tell of their holders' deaths from now on (death_told()).  Watch the next
 * rank of this node, if there is one, and be watched; once the runtime runs.
 * Where there can be no thread, those who wait find out what it would have. */
void death_watch_start(void);

/* It tells of no death any more, and has ended. */
void death_watch_stop(void);

#endif /* DRASYNC_RUNTIME_DEATH_WATCH_H */
