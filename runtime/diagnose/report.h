/*
 * report.h - the reports for a job: what it waits for, what it does, and who waits
 * for each other in a ring.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_REPORT_H
#define DRASYNC_RUNTIME_DIAGNOSE_REPORT_H

#include "runtime/diagnose/facts.h"

/* Ask all nodes what their ranks wait for, who has that, and print it.  From a
 * thread of the program that holds no lock; takes as long as the nodes do. */
void report_stall(void);

/* The same when somebody asks for it, with what each node does, as drasync-ps
 * prints it. */
void report_asked(void);

/* A wait, and who is in its way: of a rank that waits for a region; or, if
 * inside.call says so, for messages or a collective call, of @next. */
struct report_link {
    struct facts_wait wait;
    struct facts_region region;
    struct facts_mpi mpi;
    struct waiting_need need; /* count 0: a collective call */
    int32_t rank, next;
};

/* @count links: each one's blocker is the next one's rank, and the last one's the
 * first one's. */
void report_deadlock(const struct report_link *links, size_t count);

/* Of all @count ranks of the job: rank i waits for what is in @links[i], or, if that
 * is nothing, in MPI_Finalize. */
void report_standstill(const struct report_link *links, size_t count);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_REPORT_H */
