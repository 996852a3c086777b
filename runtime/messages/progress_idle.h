/*
 * progress_idle.h - the idle policy of the progress thread: how it lets others
 * have the core while nothing moves, and keeps away while another thread does
 * its work.
 *
 * With nothing to do it polls on, yields, naps, or sleeps, each time longer.
 * Where MPI runs over sockets they end its sleep, so that is long from the start;
 * it polls on only where messages that somebody waits for have come one soon after
 * the other.  Where it has found none of those for a while, or ranks that wait take
 * them by themselves, it does not listen for up to PROGRESS_DEAF_US_MAX or
 * PROGRESS_DEAF_US_TAKEN_MAX at a time, for who computes here needs the core; but
 * it always listens while somebody waits or data is under way.
 *
 * Whenever it sleeps, it sleeps on one timer, and threads that help push that
 * ahead of them (idle_push()).  A thread that woke only to see that it is not
 * needed would take the core from one that polls there, for some 30 us in a
 * virtual machine; a push costs 4.
 *
 * Two sleeps, told apart by what ends them:
 *   idle_pause() the timer, a ring of the outbox, what comes through sockets
 *   idle_away()  the timer, what comes through sockets if nobody helps
 * Who helps and ends it with work left calls idle_end(): the timer ends both.
 *
 * For runtime/messages/progress*.c.  Times are runtime_now_us().
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_IDLE_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_IDLE_H

#include <stdbool.h>
#include <stdint.h>

/* While somebody here waits for another node, or data is on its way, this long
 * is polled after traffic. */
#define IDLE_POLL_WAITED_US 2000

/* The timer.  DRASYNC_ENOMEM: no descriptor. */
int idle_open(void);
void idle_close(void);

/* What comes from other nodes makes sockets readable: listen to those that MPI
 * has now, if it has any and nobody listens yet.  With the turns. */
void idle_listen(void);

/* Something moved; when did anything last?  Any thread. */
void idle_note(uint64_t now);
uint64_t idle_noted(void);

/* Without a progress thread, and without the turns: wait until something comes
 * through sockets, IDLE_NAP_MS at most. */
#define IDLE_NAP_MS 1
void idle_nap(void);

/* Let others have the core.  Did they want it?  Any thread. */
bool idle_yield(uint64_t now);

/* The progress thread: another thread has the turns, as it had @times times. */
void idle_rest(int times);

/* The progress thread has had a turn: something moved; of messages that somebody
 * may wait for, so many had come @before it, and have now. */
void idle_turned(uint64_t now, bool moved, uint64_t before, uint64_t urgent);

/* The progress thread: nothing moved since @active, nor by this thread since
 * @mine, and now it is @now.  @waited: somebody waits for another node; @moves:
 * data is under way; @due_us: by then there is something to be done. */
void idle_pause(uint64_t now, uint64_t active, uint64_t mine, bool waited,
                bool moves, uint64_t due_us);

/* --- While a thread helps ------------------------------------------------- */

/* If there are sockets, let those not wake the progress thread: true, and then
 * idle_unmute() is due. */
bool idle_mute(void);
void idle_unmute(void);

/* The helper: if it says so no more, the timer ends in about PROGRESS_AWAY_US
 * (where nothing comes through sockets PROGRESS_AWAY_NEAR_US): up to three
 * quarters of that sooner, or a quarter later, as each setting of it leaves a
 * virtual machine.  @longer: much later, and idle_end() is due. */
void idle_push(uint64_t now, bool longer);

/* Who does not help, and leaves something for the next turn: that comes within
 * PROGRESS_AWAY_US. */
void idle_soon(uint64_t now);

/* A thread is inside MPI, where it takes from the sockets what would end a
 * sleep; or it is not any more. */
void idle_inside(bool inside);

/* End the timer now. */
void idle_end(void);

/* The progress thread: set the timer as idle_push() does, if it ends at another
 * time or has ended; sleep until then.
 * True: what ended it came through sockets. */
void idle_set(uint64_t now, bool longer);
bool idle_away(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_IDLE_H */
