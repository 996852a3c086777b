/*
 * outbox.h - messages for other nodes, queued by any rank of this one and sent
 * by its progress thread in the order in which they were queued.
 */
#ifndef DRASYNC_RUNTIME_MESSAGES_OUTBOX_H
#define DRASYNC_RUNTIME_MESSAGES_OUTBOX_H

#include <stdbool.h>

#include "transport/transport.h"

struct runtime_shared;

/* What `asleep` says of the progress thread. */
#define OUTBOX_AWAKE  0
#define OUTBOX_NAPS   1 /* for some 50 us */
#define OUTBOX_SLEEPS 2

/*
 * The pipe through which ranks wake their node's progress thread, open for both
 * ends on each of them: a pipe, because that thread waits for descriptors of
 * the network too.  DRASYNC_ENOMEM.
 */
int outbox_pipe_new(int *fd_out);

/* Let the progress thread look, if it sleeps. */
void outbox_wake(void);

/*
 * For the progress thread, after it has set `asleep` and then looked at what
 * others set before they look at that.  Sleep until the pipe, @alarm or @watch
 * (-1: none) is readable.  True if @watch is.
 */
bool outbox_sleep(int alarm, int watch);

/* Give what is queued to @transport; on the progress thread.  How many, or a
 * negative code. */
int outbox_drain(struct transport *transport);

/* Is there nothing queued? */
bool outbox_empty(void);

#endif /* DRASYNC_RUNTIME_MESSAGES_OUTBOX_H */
