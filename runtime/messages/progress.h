/*
 * progress.h - who sends and receives for a node: a thread of its leader, only
 * where there are several nodes.
 *
 * The thread never blocks inside MPI: it polls while there is traffic, and
 * sleeps when there is none, each time for a sixteenth of the time that it has
 * been quiet.  Over TCP what comes from another node ends that sleep
 * (transport/sockets.h).  Elsewhere a message that comes after a silence waits
 * at most that much longer (and at most PROGRESS_SLEEP_US_MAX), half of it on
 * average; and a thread with nothing to do wakes a hundred times a second.  The
 * program's own messages wake it too: in vain, so it does not listen all the
 * time, and they wake it no more often than the clock does.  Where the core is
 * wanted by others it naps rather than yields: a yield may last milliseconds, a
 * nap ends in time.
 *
 * Threads of the leader's process work without it: they send at once if they
 * can (progress_send()), and one that waits for another node polls itself,
 * while the progress thread keeps away (progress_help()).  A READ between two
 * leaders then passes no thread but the owner's progress thread.  When the
 * helper has what it waited for, the progress thread takes over within
 * PROGRESS_AWAY_US (without TCP PROGRESS_AWAY_NEAR_US, as a request that comes
 * waits so long), at once if anything is under way.  Until then neither what
 * comes nor its own timer wakes it: it would compete with the helper for the
 * core, and whoever sends would pay for waking it.
 *
 * MPI's one-sided operations are no traffic that the thread sees, though it is
 * its polling that does them; so it is told of them (progress_serve()).
 *
 * Messages that nobody waits for (late) go with the next one to the same node,
 * or in the progress thread's next turn.  While that sleeps they go at once,
 * unless it is a helper who has them to send: it has more urgent things to do,
 * and has set the timer.
 *
 * Whoever uses the transport holds one mutex, `turns`; handlers run under it
 * and may take any lock of the runtime.  So no thread waits for it with a lock
 * held.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_H

#include <stdbool.h>

#include "runtime/messages/messages.h"
#include "runtime/wait.h"
#include "transport/boot.h"

struct runtime_message;

/* Open the transport and start the thread; collective over the leaders, and
 * nothing elsewhere.  Handlers are registered. */
int progress_start(struct boot *boot);

/* Wait until the thread has ended (after STOP or poison), close the
 * transport. */
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

/* Send an answer to what came from @rank; only inside a handler. */
int progress_answer(int rank, const struct transport_message *message);

/*
 * Poll until the event of @waiter is here, @deadline_us has come, or nothing
 * has moved for a while.  Returns at once where this is not the leader's
 * process, or another thread polls already.
 */
void progress_help(const struct waiter *waiter, uint64_t deadline_us);

/* The same until @over, which is asked between two polls, however long that
 * takes.  False: it could not, the job is poisoned, or this process exits. */
bool progress_help_until(bool (*over)(void *arg), void *arg);

/* One poll, if nobody else polls. */
void progress_glance(void);

/* Does what comes from other nodes come through sockets?  On the leader. */
bool progress_on_sockets(void);

/* MPI's one-sided operations are about to come: for some milliseconds the
 * thread does not sleep long, and listens to sockets all the time.  On that
 * thread. */
void progress_serve(void);

/* Let this thread have the core soon after it wakes, where the kernel can. */
void progress_short_slice(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_H */
