/*
 * progress.h - the engine that sends and receives for a process: one endpoint
 * of the transport, and the threads that take turns at it.
 *
 * A process has one engine at most.  There are two kinds of instances:
 *
 *   the node's    in its leader, where there are several nodes.  It moves what
 *                 any rank of the node sends (outbox.h) and what comes for the
 *                 node, and a thread, the *progress thread*, keeps it going.
 *   a rank's own  in another rank, if it asks (progress_own_open()), for what
 *                 this rank itself sends, and the answers.  There is no thread:
 *                 who waits polls.
 *
 * Any thread of the process works with the engine directly.  It sends at once
 * if it can, and polls itself while it waits for another node (it *helps*),
 * while the progress thread keeps away: a READ between two leaders then passes
 * no thread but the owner's progress thread.  Which thread may do what at which
 * time, and by which orders nothing is lost between two that meet, stands in
 * progress_turns.h; how the progress thread sleeps in progress_idle.h.
 *
 * The progress thread never blocks inside MPI: it polls while there is traffic,
 * and sleeps when there is none, each time for a sixteenth of the time that it
 * has been quiet.  Over TCP what comes from another node ends that sleep
 * (transport/sockets.h).  Elsewhere a message that comes after a silence waits
 * at most that much longer (and at most PROGRESS_SLEEP_US_MAX), half of it on
 * average; and a thread with nothing to do wakes a hundred times a second.  The
 * program's own messages wake it too: in vain, so it does not listen all the
 * time, and they wake it no more often than the clock does.  Where the core is
 * wanted by others it naps rather than yields: a yield may last milliseconds, a
 * nap ends in time.
 *
 * When a helper has what it waited for, the progress thread listens again: what
 * comes through sockets wakes it.  Without TCP it looks after at most
 * PROGRESS_AWAY_NEAR_US; it looks at once if anything is under way.  While a
 * thread helps nothing wakes the progress thread: it would compete with the
 * helper for the core.
 *
 * A thread that waits inside MPI helps too, where we can have it do so
 * (shim/blocking.h), and so does one that releases a region that other nodes want
 * (runtime/native/keep.h).
 *
 * MPI's one-sided operations are no traffic that the thread sees, though it is
 * its polling that does them; so it is told of them (progress_serve()).
 *
 * Messages that nobody waits for (late) go with the next one to the same node,
 * or in the progress thread's next turn.  While that sleeps they go at once,
 * unless it is a helper who has them to send: it has more urgent things to do,
 * and has set the timer.  What nobody waits for yet (soon: acquires under way,
 * hints) collects in the transport while an earlier one is unanswered; whose
 * turn it is sends it on as soon as a thread of the node waits.
 *
 * Handlers run with the turns, and may take any lock of the runtime.  So no
 * thread waits for the turns with a lock held.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_H

#include <stdbool.h>

#include "runtime/messages/messages.h"
#include "runtime/wait.h"
#include "transport/boot.h"

struct runtime_message;

/* --- The node's ----------------------------------------------------------- */

/* Open the transport and start the thread; collective over the leaders, and
 * nothing elsewhere.  Handlers are registered. */
int progress_start(struct boot *boot);

/* Wait until the thread has ended (after STOP or poison); close this process's
 * transport, whichever it is.  Threads that still come are refused. */
void progress_join(void);

/* End it soon, whatever is under way, and whoever helps, which may be this
 * thread: this process exits. */
void progress_abandon(void);

/* Undo the start, which failed on another rank.  Nobody has sent anything. */
void progress_undo(void);

/*
 * Send @message now, on this thread.  False: not possible here and now, queue
 * it; else *err_out is 0 or a negative code.  Never waits; locks may be held.
 */
bool progress_send(const struct runtime_message *message, int *err_out);

/*
 * Poll until the event of one of the waiters is here, @deadline_us has come, or
 * nothing has moved for a while.  Returns at once where this is not the leader's
 * process, or another thread polls already.  The caller is counted in
 * `remote_waits`.
 */
void progress_help(struct waiter *const *waiters, int count,
                   uint64_t deadline_us);

/* The same until @over, which is asked between two polls, however long that
 * takes; the caller is not counted.  False: it could not, the job is poisoned,
 * or this process exits. */
bool progress_help_until(bool (*over)(void *arg), void *arg);

/* Does what comes from other nodes come through sockets?  On the leader. */
bool progress_on_sockets(void);

/* MPI's one-sided operations are about to come: for some milliseconds the
 * thread does not sleep long, and listens to sockets all the time.  On that
 * thread. */
void progress_serve(void);

/* Let this thread have the core soon after it wakes, where the kernel can. */
void progress_short_slice(void);

/* --- Either --------------------------------------------------------------- */

/* Send an answer to what came from @rank; only inside a handler. */
int progress_answer(int rank, const struct transport_message *message);

/* One poll, if nobody else polls. */
void progress_glance(void);

/* A thread of the program is inside a call of MPI's that waits for other ranks,
 * or it is not any more: meanwhile the progress thread looks often, if there was
 * traffic a while ago. */
void progress_inside(bool inside);

/* --- What this rank itself sends and waits for ---------------------------- */

/*
 * On a leader these use the node's engine; another rank opens one of its own,
 * without asking anybody, and progress_join() closes it.  Only kinds that go
 * by_rank (messages.h) may come to it.  The errors of boot_transport().
 */
int progress_own_open(void);

/* runtime_send(), and waiting for what an answer brings: 0, DRASYNC_EPEER,
 * DRASYNC_ENOTREADY (closed).  No locks are held. */
int progress_own_send(const struct runtime_message *message);
int progress_own_wait(struct waiter *waiter);

/* Not on leaders: is nothing that this rank sent in flight?  Poll once; false:
 * it has no engine. */
bool progress_own_still(void);
bool progress_own_push(void);

/* One poll, if something that this rank sent is in flight and nobody else polls.
 * Nothing on leaders, nor without an engine. */
void progress_own_go_on(void);

/* Likewise, until nothing is in flight or the event of one of the waiters is here:
 * 0; or, as waiter_wait(), DRASYNC_EAGAIN after @deadline_us, DRASYNC_EPEER. */
int progress_own_beside(struct waiter *const *waiters, int count,
                        uint64_t deadline_us);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_H */
