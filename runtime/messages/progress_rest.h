/*
 * progress_rest.h - how the progress thread lets others have the core while
 * nothing moves: it polls on, yields, naps, or sleeps and listens to sockets.
 *
 * For runtime/messages/progress.c.  Times are runtime_now_us().
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_REST_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_REST_H

#include <stdbool.h>
#include <stdint.h>

/* While somebody here waits for another node, or data is on its way, this long
 * is polled after traffic. */
#define REST_POLL_WAITED_US 2000

/* What comes from other nodes makes sockets readable: those are listened to
 * while the thread sleeps; or no longer. */
void rest_listen(void);
void rest_deaf(void);

/* A thread does the work, so let what comes not wake the progress thread, if
 * that sleeps now: true, and then rest_unhush() is due. */
bool rest_hush(void);
void rest_unhush(void);

/* Something moved; when did anything last?  Any thread. */
void rest_note(uint64_t now);
uint64_t rest_noted(void);

/* Let others have the core.  Did they want it?  Any thread. */
bool rest_yield(uint64_t now);

/* Nothing moved since @active, and now it is @now; @by: somebody waits; @moves:
 * data is under way. */
void rest(uint64_t now, uint64_t active, bool by, bool moves);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_REST_H */
