/*
 * death.h - finding out that a rank has died, and telling everybody.
 *
 * A rank is known by its process number and the time it started, since numbers
 * are used again.  Ranks of other nodes that run on the same host
 * (DRASYNC_NODE= rank) are watched the same way; those of other hosts through
 * MPI and POISON messages.
 */
#ifndef DRASYNC_RUNTIME_DEATH_H
#define DRASYNC_RUNTIME_DEATH_H

#include <stdint.h>

#include "transport/boot.h"

/* Collective: every rank says which process it is.  @err is what went wrong on
 * this rank before: all ranks return the worst of any. */
int death_start(struct boot *boot, uint64_t host_key, int err);
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

/* When process @pid started, in ticks; 0 if there is none, or only what is left
 * of it for its parent to see. */
uint64_t death_start_ticks(int pid);

#endif /* DRASYNC_RUNTIME_DEATH_H */
