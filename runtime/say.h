/*
 * say.h - lines on stderr, why the job ends, and its end.
 *
 * Any thread of any rank; before the start too.
 */
#ifndef DRASYNC_RUNTIME_SAY_H
#define DRASYNC_RUNTIME_SAY_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The job cannot go on: remember why (the first one counts), print one line,
 * wake every waiter of the node with DRASYNC_EPEER, tell the other nodes.
 * Every runtime_enter() gives DRASYNC_EPEER from now on.
 */
void runtime_poison(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * The same for what cannot be: our own state, or a message of our own, is
 * broken.  The line says that it is our mistake, the version, and what a report
 * of it needs.
 */
void runtime_broken(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* A poison that came from another node. */
void runtime_poisoned_by(int node, const char *text, size_t bytes);

/* Of a node that is poisoned: wait at most so long until the line has been said,
 * and read by the launcher, which drops what comes later.  False: it has not. */
bool runtime_await_said(uint32_t ms);

/* This rank has said why it is about to die: no other one of its node needs to.
 * From a signal's handler too. */
void runtime_told(void);

/* The text of the poison, or "". */
const char *runtime_poison_text(void);

/*
 * Print "drasync: rank R (HOST): ..." and end the job through MPI.  For the
 * calls that promise to end the job, and for messages that cannot be true.
 */
void runtime_die(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* The same without a line: it has been said. */
void runtime_end_job(void) __attribute__((noreturn));

/* One line "drasync: rank R (HOST): ..." on stderr. */
void runtime_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Called in the process that poisons its node, after all its ranks were woken:
 * the messages' way of telling the other nodes.  Set at the start, once. */
void runtime_poison_tells(void (*tell)(void));

#endif /* DRASYNC_RUNTIME_SAY_H */
