/*
 * deadlock.h - rings of waits: found by the last to come, and sure.
 *
 * A thread that has slept WAIT_CHECK_US (wait.c) follows the edges from its own
 * wait: from a wait to who is in its way, as the node says that has the region's
 * token, and on to what that rank waits for (edge chasing, as Chandy, Misra and
 * Haas have it, TOCS 1983; but the one who asks goes round himself, so that no
 * probe is left behind).  Whoever closes a ring comes to itself.  Who comes to a
 * rank that does not wait stops.
 *
 * An edge counts only where one thread of the rank in the way has ever taken or
 * given a hold, and that waits for a region, without a limit of time, in a queue:
 * such a rank gives nothing back before it is granted.
 *
 * (A thread's first call may release another thread's hold, which nobody can
 * foresee.  Such programs set DRASYNC_DEADLOCK=off.)
 *
 * With DRASYNC_CHECK=deadlock so does a rank inside a call of MPI's, where counts
 * say that it waits for a message that a rank has not sent, or for a rank to come
 * to a collective call (shim/counts.h).  In the second round a rank's counts are
 * read between two looks at its own wait, during which it sends nothing.
 *
 * Edges are seen one after the other, so a ring may be of different moments.
 * Hence it is followed twice.  If both times the same waits (by their numbers)
 * are blocked by the same ranks, all of them waited at the moment between the
 * two, and none of them can do anything from then on: it is a deadlock, and no
 * time-out is needed to say so.
 *
 * How old waits are is seen one after the other too, so of waits that began at
 * nearly the same time several may be taken for the youngest.  Of these the first
 * to claim the ring from node 0 fails; it is the same ring if it has the same waits.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_DEADLOCK_H
#define DRASYNC_RUNTIME_DIAGNOSE_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/diagnose/report.h"
#include "runtime/waiting.h"

/*
 * Does @w, a shown wait of this thread, close a ring?  The youngest wait of a
 * ring acts; with @late any does.  It is reported, once; then the job ends, or
 * with DRASYNC_DEADLOCK=error, DRASYNC_EDEADLK for the youngest.  Else 0.
 */
int deadlock_look(const struct waiting *w, bool late);

/* A number of the waits at @links, whatever their order; other waits, of these ranks
 * or others, have another one, but for one case in 2^64. */
uint64_t deadlock_number(const struct report_link *links, size_t count);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_DEADLOCK_H */
