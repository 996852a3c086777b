/*
 * asked.h - a report of what the job does, when a signal asks for it
 * (DRASYNC_REPORT_SIGNAL).
 *
 * The handler rings for a thread that was there from the start, which asks all
 * nodes and prints (report.h).  Where the program has a handler of SIGUSR2 at the
 * start, or sets one later, the signal is the program's; one of SIGUSR1 is called
 * after ours.  Every rank that gets it
 * rings; one of them prints.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_ASKED_H
#define DRASYNC_RUNTIME_DIAGNOSE_ASKED_H

/* DRASYNC_ENOMEM: there can be no thread. */
int asked_start(void);

/* The thread has ended; the signal does nothing from now on. */
void asked_stop(void);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_ASKED_H */
