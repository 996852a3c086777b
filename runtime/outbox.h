/*
 * outbox.h - messages for other nodes, queued by any rank of this one and sent
 * by its progress thread in the order in which they were queued.
 */
#ifndef DRASYNC_RUNTIME_OUTBOX_H
#define DRASYNC_RUNTIME_OUTBOX_H

#include <stdbool.h>

#include "transport/transport.h"

struct runtime_shared;

/* What `asleep` says of the progress thread. */
#define OUTBOX_AWAKE  0
#define OUTBOX_NAPS   1 /* for some 50 us */
#define OUTBOX_SLEEPS 2

/* Let the progress thread look, if it sleeps. */
void outbox_wake(void);

/* Give what is queued to @transport; on the progress thread.  How many, or a
 * negative code. */
int outbox_drain(struct transport *transport);

/* Is there nothing queued? */
bool outbox_empty(void);

#endif /* DRASYNC_RUNTIME_OUTBOX_H */
