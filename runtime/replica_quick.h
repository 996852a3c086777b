/*
 * replica_quick.h - allocating and freeing where nothing stands in the way; for
 * runtime/replica_*.c only.  What fronts call of it is in replica.h.
 *
 * Nearly all calls are those of the thread that locks lean to (replica_lock.h),
 * in a heap of its own that has a cache (replica_cache.h).  They are done here
 * in one straight piece: what is known of an extent is remembered, and few
 * instructions lie between two misses of the processor's caches, so that it
 * waits for several at a time.  Everything else is answered with "no", and
 * goes the long way (replica_heap.c).
 */
#ifndef DRASYNC_RUNTIME_REPLICA_QUICK_H
#define DRASYNC_RUNTIME_REPLICA_QUICK_H

#include "runtime/replica_cache.h"

/* An object of the heap with this cache, in which the calling thread is, was
 * freed at @ptr: its neighbours may be freed quickly. */
void replica_quick_learn(struct replica_cache *cache, const void *ptr);

/* What is known of the extents of the heap with this cache holds no more. */
void replica_quick_forget(const struct replica_cache *cache);

#endif /* DRASYNC_RUNTIME_REPLICA_QUICK_H */
