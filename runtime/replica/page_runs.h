/*
 * page_runs.h - runs of pages that a worker had and will have again; for
 * this folder only.
 *
 * The extents of a region that is gone go to the worker that cut
 * them, as far as the limit allows it, and its next regions are made from
 * there: without the node's page allocator, and at the same addresses, so that
 * those it sends them to can use what they have mapped there
 * (mappings.h).  The kept runs are in the worker's inbox, under its lock.
 *
 * The other caches of what was freed, and why this is none of them:
 * docs/architecture.md, "What is kept of what was just freed".
 */
#ifndef DRASYNC_RUNTIME_REPLICA_PAGE_RUNS_H
#define DRASYNC_RUNTIME_REPLICA_PAGE_RUNS_H

#include "runtime/replica/state.h"

/* @extent is of a heap that is gone, of the worker with this local number.  0
 * or DRASYNC_EPEER. */
int replica_runs_put(struct extent *extent, int local);

/* An extent for a heap of this worker, that shows its primary frames; the
 * heap's lock is held, or nobody else has it.  Errors of extent_new(). */
int replica_extent_new(uint64_t pages, struct replica_heap *heap,
                       struct extent **extent_out);

/* Memory or addresses are short: all that is kept goes.  1 if there was
 * something. */
int replica_make_room(void);

#endif /* DRASYNC_RUNTIME_REPLICA_PAGE_RUNS_H */
