/*
 * death.h - finding out that a rank has died, and telling everybody.
 *
 * The ranks of a host watch each other's processes (runtime/peer.h), from when
 * they have told each other who they are, at the start, until the end.  Those of other
 * nodes on the same host (DRASYNC_NODE=rank) are watched the same way; those of
 * other hosts through MPI and POISON messages.
 */
#ifndef DRASYNC_RUNTIME_DEATH_H
#define DRASYNC_RUNTIME_DEATH_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct start_facts;

/*
 * From now on death_at_start() and, once the runtime runs, the others below
 * watch the ranks of this machine, as @facts ([ranks]) name them.
 */
void death_start(const struct start_facts *facts);

/* During the start, now and then, by whoever waits for other ranks: ends the job
 * when one of this machine has died. */
void death_at_start(void);

/* The end; death_watch_stop() (death_watch.h) comes first. */
void death_stop(void);

/*
 * For somebody who has waited since @since_us: 0 if it makes sense to go on, or
 * DRASYNC_EPEER if the job is poisoned, which this may find out.  Looks at
 * /proc at most a few times a second.
 */
int death_check(uint64_t since_us);

/* For a call that does not wait: DRASYNC_EPEER if the job is poisoned, else
 * @err. */
int death_refused(int err);

/*
 * The node is poisoned: come back when a line has said why, which this may find
 * out.  A lock tells of a death at once, but the system says of a process that
 * it has ended only when all its memory is gone.  Before this has come back no
 * DRASYNC_EPEER reaches the program, which may end the job by it.  Any thread,
 * with any locks.
 */
void death_told(void);

/* Look now, at all ranks of this host: DRASYNC_EPEER, and the job is poisoned, if
 * one has died that the job does not survive (survive.h). */
int death_look(void);

/* Where it does: bury those of this node that are gone.  No lock is held.  False:
 * the job does not go on. */
bool death_bury(void);

/* The rank of this node to watch, by its local number: the next one that may die
 * yet, or is dead and not buried.  -1: there is none.  *@out holds no descriptor of
 * its own. */
int death_next(struct process *out);

#endif /* DRASYNC_RUNTIME_DEATH_H */
