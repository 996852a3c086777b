/*
 * standstill.h - a job all of whose ranks wait.
 *
 * Who waits for a newer version (drasync_acquire_newer()) waits for any rank to
 * write, so a ring does not say that it waits for ever; that no rank can write
 * does.  A rank can do nothing more by itself if its only thread waits, without a
 * limit of time,
 *
 *   - for a hold of a region that a rank holds for WRITE,
 *   - for a newer version of a region, where the region's owner has the version
 *     that it knows, or one that a rank still holds for WRITE, and what it asked
 *     for is not on its way to it,
 *   - for one of several requests, each of which is as the two above, and not more
 *     than WAITING_REQUESTS,
 *   - in MPI_Finalize, which ends when all ranks have come to it,
 *   - or, with DRASYNC_CHECK=deadlock, inside a call of MPI's where counts say that
 *     it needs a message that was not sent, or a rank that has not come to a
 *     collective call (deadlock.h).
 *
 * Ranks are looked at one after the other; hence all of them first, then what they
 * wait for, then all of them again.  If they are in the same waits (by their
 * numbers), all of them stood still while the second was looked at.  Whatever
 * was on its way then is no more than what is known: the region's owner, who has
 * its token, has the newest version; who holds it does not give it back; and the
 * first rank to go on would need one of these to change.
 *
 * A lease that its rank has left counts against it, as what was written under it
 * becomes a version when it ends.  So does what a rank has had run by
 * drasync_run(), until all of it is answered, as functions write where no rank
 * does; any thread that is not the library's (threads.h); a rank that has died or
 * left; and all other waits.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_STANDSTILL_H
#define DRASYNC_RUNTIME_DIAGNOSE_STANDSTILL_H

#include <stdbool.h>

#include "runtime/waiting.h"

/* Does @w, a shown wait of this thread, wait for ever, as all ranks do?  As
 * deadlock_look(). */
int standstill_look(const struct waiting *w, bool late);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_STANDSTILL_H */
