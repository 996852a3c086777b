/*
 * asked.h - a report of what the job does, when a signal asks for it
 * (DRASYNC_REPORT_SIGNAL).
 *
 * The handler rings for a thread that was there from the start, which asks all
 * nodes and prints (report.h).  Where the program has a handler of SIGUSR2 at the
 * start, or sets one later, the signal is the program's; one of SIGUSR1 is called
 * after ours.  Every rank that gets it rings; one of them prints.  The same thread
 * of a node's leader answers those who ask for what the node does.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_ASKED_H
#define DRASYNC_RUNTIME_DIAGNOSE_ASKED_H

#include <stdbool.h>

#include "runtime/messages/messages.h"

/* DRASYNC_ENOMEM: there can be no thread. */
int asked_start(void);

/* The thread has ended; the signal does nothing from now on. */
void asked_stop(void);

/* The thread answers @caller, which asks for this node's view.  False: there is no
 * thread, or it has enough to do. */
bool asked_later(const struct runtime_caller *caller);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_ASKED_H */
