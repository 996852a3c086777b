/*
 * progress.h - the one thread of a node that sends and receives, on its leader,
 * only where there are several nodes.
 *
 * It never blocks inside MPI: it polls while there is traffic, and sleeps on the
 * outbox's futex, for longer and longer, when there is none.
 */
#ifndef DRASYNC_RUNTIME_PROGRESS_H
#define DRASYNC_RUNTIME_PROGRESS_H

#include <stdbool.h>

#include "transport/boot.h"

/* Open the transport and start the thread; collective over the leaders, and
 * nothing elsewhere.  Handlers are registered. */
int progress_start(struct boot *boot);

/* Wait until the thread has ended (after STOP or poison), close the transport. */
void progress_join(void);

/* End it soon, whatever is under way: this process exits. */
void progress_abandon(void);

/* Is this the progress thread? */
bool progress_here(void);

#endif /* DRASYNC_RUNTIME_PROGRESS_H */
