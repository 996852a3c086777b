/*
 * window.h - MPI's window over the memory of all nodes, and what this unit has
 * begun on it, or by messages instead of it (rma_far_put()): all units do the
 * one, or all the other, and where it is messages there is no window.
 *
 * Each node's data file belongs to the node's leader, at displacement 0; the
 * other ranks have nothing in it.  Made in window_start() and locked shared
 * until window_stop(); only where there are several nodes.  Made by
 * MPI_Win_create: a window of MPI_Win_allocate with odd sizes is one that MPICH
 * 4.0.2 gets wrong.  Thread-safe but for start and stop.
 */
#ifndef DRASYNC_FRONTS_DART_WINDOW_H
#define DRASYNC_FRONTS_DART_WINDOW_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "fronts/dart/front.h"

extern MPI_Win window_mpi;

/* Transfers do not use the window: rma_far_put(). */
extern bool window_by_messages;

/* What this unit has begun moves on only while it calls; one that asks again and
 * again, and never waits, does so by this. */
extern bool window_moves_own;

static inline void window_go_on(void)
{
    if (window_moves_own)
        rma_go_on();
}

/* Who answers for a node's memory there. */
static inline int window_target(int node)
{
    return front_job->leader_of[node];
}

/*
 * Say that an operation to @node has been begun, after it was, so that
 * window_flush_all() knows of it.
 */
enum { WINDOW_NEVER, WINDOW_EVER, WINDOW_NOW };
extern _Atomic unsigned char *window_used; /* [nodes] */
void window_use_first(int node);

static inline void window_use(int node)
{
    if (atomic_load_explicit(&window_used[node], memory_order_acquire) !=
        WINDOW_NOW)
        window_use_first(node);
}

/* All that this unit has begun on @node is done there... */
dart_ret_t window_flush(int node);
/* ...or its buffers here may be used again. */
dart_ret_t window_flush_local(int node);

/* The same for all nodes that this unit has begun anything on since it last did
 * either. */
dart_ret_t window_flush_all(void);
dart_ret_t window_flush_local_all(void);

/* All that any unit has begun is done; collective, before anything is stopped. */
void window_settle(void);

#endif /* DRASYNC_FRONTS_DART_WINDOW_H */
