/*
 * progress_state.h - inside runtime/messages/progress*.c: this process's
 * engine.
 *
 * A process has one at most: a leader the node's, another rank its own if it
 * asked for one.  They are the same but for what comes with `thread`.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_PROGRESS_STATE_H
#define DRASYNC_RUNTIME_MESSAGES_PROGRESS_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/wait.h"
#include "transport/boot.h"

/* How often who polls looks whether ranks of this host live. */
#define PROGRESS_LOOK_US 500000

struct progress {
    struct transport *transport; /* used with the turns: progress_turns.h */
    uint64_t late_us;            /* since when messages wait; likewise */
    bool again;                  /* runtime_each_turn(); likewise */
    /* The node's: a progress thread, the outbox, the shutdown. */
    bool thread;
    _Atomic bool abandoned; /* the process exits: nobody helps any more */
    struct doorbell bell;   /* without a thread: progress_turns.h, 6 */
};

extern struct progress progress;

/* Open the transport.  The errors of boot_transport(). */
int progress_transport(struct boot *boot, bool few);

/* With the turns: has what is late waited for long enough, or does the job end? */
bool progress_late_due(uint64_t now);

/* When they are, by the clock alone; UINT64_MAX: there are none.  With the
 * turns. */
uint64_t progress_late_us(void);

/* With the turns: poll once, and see to what depends on it; how many things
 * moved.  @flush: what is late goes too. */
int progress_turn(bool flush);

/* The process exits: nobody is to begin anything, and this thread, which may be
 * in a handler or a signal's, gives up what it has. */
void progress_leave(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_PROGRESS_STATE_H */
