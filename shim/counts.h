/*
 * counts.h - messages on MPI_COMM_WORLD, counted where they are sent and where
 * they are waited for (DRASYNC_CHECK=deadlock): so that a ring of waits through
 * MPI is known for sure.
 *
 * Messages from one rank with one tag match the receives that name both in the
 * order in which these were posted.  So a receive that is the n-th to do so, be
 * it a wait for its request, gets on only when n such messages were sent; what
 * receives from anybody take, or with any tag, only makes that later.  Of
 * receives from anybody, or with any tag, nothing is said.  Likewise a barrier
 * that is a rank's n-th collective call ends only when all have begun n.
 *
 * Messages that cannot be counted (persistent ones, say), cancelled requests,
 * errors, and threads make a rank *unsure* for good: nothing is said of it.  Each
 * call is counted once, in the outermost of the libraries that it passes.
 */
#ifndef DRASYNC_SHIM_COUNTS_H
#define DRASYNC_SHIM_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/waiting.h"

/* A call on this thread is to be counted; until drasync_counts_end() those that
 * it makes itself are not. */
bool drasync_counts_begin(void);
void drasync_counts_end(const bool *counted);

/* Within a call that is counted: a message will be sent, or a receive posted, to
 * or from a rank with a tag; *@need is then what it waits for, or has count 0. */
void drasync_counts_send(int to, int tag);
void drasync_counts_post(int from, int tag, struct waiting_need *need);
/* The posted receive is @request; and what a wait for that needs. */
void drasync_counts_request(uint64_t request, const struct waiting_need *need);
bool drasync_counts_awaited(uint64_t request, struct waiting_need *need);

/* For whom a rank waits in a collective call. */
enum counts_whom {
    COUNTS_ALL,
    COUNTS_FROM_ROOT, /* but for the root itself */
    COUNTS_TO_ROOT,   /* all, but only the root does */
    COUNTS_NOBODY,    /* of whom it is known */
};

/* This rank begins its next collective call, and is inside it. */
void drasync_counts_collective(enum waiting_mpi_call call,
                               enum counts_whom whom, int root, const void *pc);

/* This rank is inside a call until drasync_counts_end(); number and pc are filled
 * in here. */
void drasync_counts_inside(struct waiting_inside *inside, const void *pc);

void drasync_counts_unsure(void);

#endif /* DRASYNC_SHIM_COUNTS_H */
