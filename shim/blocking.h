/*
 * blocking.h - MPI's blocking calls, taken over where this process leads a node
 * of several: while such a call waits, its thread serves what other nodes ask of
 * ours.
 *
 * Without that a request of another node waits for the progress thread.  A
 * thread inside MPI never yields the core, and takes from the sockets what
 * would wake the progress thread; so between hosts that are milliseconds.
 *
 * Where the ranks of a machine outnumber its processors, a rank that waits inside
 * MPI keeps those that it waits for from running, for a time slice each: there the
 * calls of all its ranks are taken over, to yield between two polls.
 *
 * A call for messages is begun as MPI's nonblocking one, and tested between two
 * polls of ours.  It stays MPI's own where this process has no engine, where
 * another thread of it helps already, and where a tool stands between us and
 * MPI, which is to see the call that the program made.
 *
 * A collective call on MPI_COMM_WORLD is begun so too where every rank leads a
 * node, or every machine has more ranks than processors, and no rank has a tool
 * that stands between its collectives and MPI: what one rank begins so the others
 * must.  Any other stays MPI's own, and the progress thread looks more often
 * meanwhile.
 */
#ifndef DRASYNC_SHIM_BLOCKING_H
#define DRASYNC_SHIM_BLOCKING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/waiting.h"

/* Is a thread that waits inside MPI to poll, for other nodes or for who shares its
 * core? */
bool drasync_blocking_polls(void);

/* Do all ranks of the job say so, of their collectives? */
bool drasync_blocking_all_poll(void);

/* Serve other nodes, or yield, until @over, which is asked between two polls.  False: it could
 * not, or not to the end; whoever called waits in MPI. */
bool drasync_blocking_until(bool (*over)(void *arg), void *arg);

/* This thread enters, or leaves, an MPI call from which it cannot poll.
 * Meanwhile the progress thread may poll often, as this core only waits. */
void drasync_blocking_inside(bool inside);

/* This rank is inside @call, which waits for rank @peer (WAITING_NOBODY: it is not
 * said for whom); what drasync_blocking_leave() is to put back. */
uint32_t drasync_blocking_enter(enum waiting_mpi_call call, int peer);
void drasync_blocking_leave(const uint32_t *outer);

/* A test of the program's found nothing: serve them once, if it is time. */
void drasync_blocking_look(void);

/* A call that is taken over: the next function of its name, which may be a
 * tool's, and MPI's own to begin it with, or NULL where a tool is to see it. */
struct drasync_blocking_call {
    _Atomic(void *) next, own;
};

/* Is @call filled in?  The acquire pairs with the release of
 * drasync_blocking_find(): what it stored is seen. */
static inline bool drasync_blocking_found(struct drasync_blocking_call *call)
{
    return atomic_load_explicit(&call->next, memory_order_acquire);
}

/* Fill in @call, by any thread, with the same result: @next is the function
 * @name next to the caller, or NULL: MPI's own is meant.  Both stay NULL where
 * no MPI has it. */
void drasync_blocking_find(struct drasync_blocking_call *call, void *next,
                           const char *name, const char *own);

#endif /* DRASYNC_SHIM_BLOCKING_H */
