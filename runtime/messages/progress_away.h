/*
 * progress_away.h - the progress thread keeps away while other threads do its
 * work, and comes back soon after the last of them.  Whenever it sleeps, it
 * does so on a timer, which they push ahead of them: a thread that woke to see
 * that it is not needed would take the core from one that polls there, for some
 * 30 us in a virtual machine, and a push costs 4.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_AWAY_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_AWAY_H

#include <stdbool.h>
#include <stdint.h>

/* DRASYNC_ENOMEM: no descriptor. */
int away_open(void);
void away_close(void);

/* A thread helps, now: when none has said so for PROGRESS_AWAY_US (where
 * nothing comes through sockets PROGRESS_AWAY_NEAR_US) the timer ends, or up to
 * three quarters of that sooner.  @longer: it will say when it ends. */
void away_push(uint64_t now, bool longer);

/* End the timer now. */
void away_end(void);

/* Set the timer; then, if somebody helps still, sleep until it ends. */
void away_begin(uint64_t now, bool longer);
void away_wait(void);

/* Set the timer, for a sleep of @us; the descriptor to sleep on. */
int away_alarm(uint64_t us);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_AWAY_H */
