/*
 * holder.h - who has a region now, for a line about a program's mistake.
 *
 * From a thread of the program that holds no lock and is in no step; it may take
 * some round trips between nodes, each of ASK_TIMEOUT_US at most.
 */
#ifndef DRASYNC_RUNTIME_DIAGNOSE_HOLDER_H
#define DRASYNC_RUNTIME_DIAGNOSE_HOLDER_H

#include "drasync.h"

/* For fronts in other libraries; libdrasync.so exports drasync_ only. */
#define holder_of drasync_holder_of

/* The rank, another one than this, that holds @region for WRITE, on whichever node;
 * -1: none does, or its node does not say so. */
int holder_of(drasync_region_t region);

#endif /* DRASYNC_RUNTIME_DIAGNOSE_HOLDER_H */
