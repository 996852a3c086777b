/*
 * managed.h - regions that end by themselves: what the calls of drasync.h on
 * references do.
 *
 * A node counts the references of its ranks to a region.  The region's home,
 * the node whose addresses it has, keeps a number for each other node that has
 * some, and the region is unused when every number is 0, and the home's own
 * count too.  The numbers are signed: a node may say that it has no reference
 * any more before another one has said that it gave it one, and the sum of what
 * they say is right whatever the order.  (Reference listing, after Birrell,
 * Evers, Nelson, Owicki, Wobber: Distributed Garbage Collection for Network
 * Objects, 1993.)
 *
 * What the home relies on:
 *   - A node that gives a reference away has one until the other node has it,
 *     and tells the home of both in that order.
 *   - A node with no reference gets one from the home itself, by a call that
 *     waits: from a hold, or from a weak handle.
 *   - A node tells the home that it has none by a message that nobody waits for
 *     and that takes back just what it was listed for.
 *
 * A link from one managed region to another is a reference that the home of the
 * first has to the second, and gives back when the first ends.
 *
 * Ending an unused region is drasync_delete(), which does not wait: where
 * somebody holds it, it lingers, and is tried again later.  It is done by a rank
 * of the home, in one of these calls.
 *
 * Nothing here is reached from the calls that acquire, release, allocate or
 * free.  Callers guarantee that runtime_enter() returned 0 and that out-pointers
 * are not NULL.  Any other argument may be anything.  Results are those that
 * drasync.h gives for the call of the same name.  Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_MANAGED_MANAGED_H
#define DRASYNC_RUNTIME_MANAGED_MANAGED_H

#include <stdbool.h>

#include "drasync.h"

int managed_manage(drasync_region_t region);
int managed_ref(drasync_region_t region);
int managed_unref(drasync_region_t region);
int managed_ref_give(drasync_region_t region, int rank);
int managed_link(drasync_region_t from, drasync_region_t to);
int managed_unlink(drasync_region_t from, drasync_region_t to);
int managed_weak(drasync_region_t region, drasync_weak_t *weak_out);
int managed_weak_lock(const drasync_weak_t *weak, drasync_region_t *region_out);
/* Of which region is it?  NULL: it is no handle of this job. */
drasync_region_t managed_weak_region(const drasync_weak_t *weak);
int managed_on_end(drasync_region_t region, drasync_end_fn *call, void *arg);
int managed_collect(void);
int managed_stats(struct drasync_managed_stats *stats_out);

/* Does this node know that @region is managed? */
bool managed_knows(drasync_region_t region);

#endif /* DRASYNC_RUNTIME_MANAGED_MANAGED_H */
