/*
 * death.h - finding out that a rank has died, and telling everybody.
 *
 * The ranks of a host watch each other's processes (runtime/peer.h), from the
 * first thing they tell each other at the start until the end.  Those of other
 * nodes on the same host (DRASYNC_NODE=rank) are watched the same way; those of
 * other hosts through MPI and POISON messages.
 */
#ifndef DRASYNC_RUNTIME_DEATH_H
#define DRASYNC_RUNTIME_DEATH_H

#include <stdint.h>

#include "transport/boot.h"

/*
 * Collective: every rank says which process it is, and that it is on the host
 * @host_key.  From then until death_started() a thread watches the ranks of
 * this host and ends the job when one dies, since what the others do meanwhile
 * is to wait for it inside MPI.
 */
int death_start(struct boot *boot, uint64_t host_key);

/* The start is over, well or not: who waits looks by himself now. */
void death_started(void);
void death_stop(void);

/*
 * For somebody who has waited since @since_us: 0 if it makes sense to go on, or
 * DRASYNC_EPEER if the job is poisoned, which this may find out.  Looks at
 * /proc at most a few times a second.
 */
int death_check(uint64_t since_us);

/*
 * The same for somebody who does not wait, but may ask again and again: @err is
 * why he does not have it, and what he gets unless the job is poisoned.
 */
int death_refused(int err);

/* Look now, at all ranks of this host. */
int death_look(void);


#endif /* DRASYNC_RUNTIME_DEATH_H */
