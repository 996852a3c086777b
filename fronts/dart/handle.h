/*
 * handle.h - operations under way that the program may wait for one by one.
 */
#ifndef DRASYNC_FRONTS_DART_HANDLE_H
#define DRASYNC_FRONTS_DART_HANDLE_H

#include <mpi.h>
#include <stdbool.h>

#include "fronts/dart/front.h"

struct dart_handle_struct {
    MPI_Request request; /* MPI_REQUEST_NULL: a flush of @node tells... */
    rma_ticket ticket;   /* ...but if this is not 0: it is by messages... */
    int node;
    bool put; /* done there only after a flush */
    bool by_flush;
    bool copied; /* ...or if it was small, and put; copied already */
    struct dart_handle_struct *next;
};

/* NULL: no memory.  From what this thread has given back, most times. */
dart_handle_t handle_take(void);
void handle_give(dart_handle_t handle);

/* Wait for what dart_handle_free() left under way; before the window goes. */
void handles_stop(void);

#endif /* DRASYNC_FRONTS_DART_HANDLE_H */
