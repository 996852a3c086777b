/*
 * progress_turns.h - who uses this process's transport: one thread at a time.
 *
 * Who uses it has the *turns*, a mutex: the progress thread for one turn, a
 * sender for one message, a *helper* for as long as it does the work of others.
 * All atomic operations by which these threads agree are in progress_turns.c.
 *
 * What always holds:
 *
 * 1. The transport is used with the turns, and only by a thread that has seen
 *    `open` with them.  turns_close() clears `open`, then takes the turns once:
 *    afterwards nobody uses the transport, and no helper that has ended the
 *    timer or the sockets' silence.  A look at `open` without the turns
 *    only spares the mutex.
 *
 * 2. `helped` is FREE, SHORT or LONG.  The thread that changes FREE into SHORT
 *    is the helper, and alone changes it further: to LONG, and back to FREE.  A
 *    thread that is refused changes nothing.
 *
 * 3. While `helped` is not FREE the progress thread keeps away.  It sleeps on
 *    the timer only, and does so only if `helped`, looked at again after the
 *    timer was set, is still what the timer was set for.
 *
 * 4. A SHORT helper pushes the timer at each turn, so the progress thread is
 *    back about PROGRESS_AWAY_US after the last one (idle_push()), or as soon as
 *    something comes through sockets, which are silent for it only while a thread
 *    helps.  A LONG helper need not push, but ends the timer when it ends.
 *
 * 5. A helper ends the timer when it ends (`more`) if anything is left that
 *    must not wait for PROGRESS_AWAY_US:
 *      - it was LONG;
 *      - what it waited for is not there: from now on it sleeps;
 *      - others of this node wait for other nodes (`remote_waits`, but for the
 *        helper's own);
 *      - messages are queued (`pending`), or this node's data is in flight.
 *    It gives the turns first: the thread that it wakes may run at once, on its
 *    core, and would find them taken.  Whoever helps next may begin before the
 *    sockets are heard again; each looks at `helped` with `muting` held, so the
 *    last of them leaves them as they should be.
 *    It looks at `remote_waits` and `pending` after `helped` is FREE; who waits
 *    or queues counts itself there before it looks at `helped`.  So of two that
 *    meet one sees the other: the helper calls the progress thread, or the
 *    newcomer helps.  What may wait: messages that are late anyway, what other
 *    nodes begin, and what a rank queues that comes after that look.
 *
 * 6. Where there is no progress thread, who waits and is refused sleeps on the
 *    engine's doorbell, read before it asked.  It rings when `helped` has
 *    become FREE, when a turn has moved something, and after turns_close().
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_TURNS_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* There is a transport; `progress.thread` says whether a progress thread looks
 * after it. */
void turns_open(void);
bool turns_opened(void);

/* The transport is about to be closed: see 1.  Or nobody is to begin anything,
 * who has the turns keeps them: the process exits. */
void turns_close(void);
void turns_refuse(void);

/* Take them if they are free; or wait for them.  False: not free, or no
 * transport. */
bool turns_try(void);
bool turns_take(void);
void turns_give(void);

/* Does this thread have them; as the helper?  Does another one wait in
 * turns_take()? */
bool turns_mine(void);
bool turns_helping(void);
bool turns_wanted(void);

/* The progress thread: keep away for as long as a thread helps, then take them;
 * there is a transport. */
void turns_take_kept(void);

/* Become the helper.  False: there is one, or this thread has the turns, or
 * there is no transport. */
bool turns_help(void);

/* The helper will help for long; does it? */
void turns_help_long(void);
bool turns_helps_long(void);

/* End helping.  @own: how many of `remote_waits` are this thread's.  @more: the
 * progress thread is to come, whatever else. */
void turns_help_end(uint32_t own, bool more);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_TURNS_H */
