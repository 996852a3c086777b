/*
 * mappings.h - frames and mappings of copies that are gone, kept by the
 * process that had them; for this folder only.
 *
 * Programs free a region and make the next one, which gets the same addresses,
 * and send it to the same workers.  To map frames and to undo that takes two
 * system calls and a fault for each page, ten times as long as to copy the data
 * of a small region.  So what a worker had mapped of a region that was freed
 * stays as it is, up to a limit, and is what the next version at this address
 * is copied into.
 *
 * Whoever frees a region puts the copies of others into their inboxes, with
 * their frames while the limit allows it (`stale`); their processes take
 * them from there into the table here.  All of it is under the lock of the
 * worker's inbox.  Where a process is going to use addresses otherwise it says
 * so first.
 *
 * The other caches of what was freed, and why this is none of them:
 * docs/architecture.md, "What is kept of what was just freed".
 */
#ifndef DRASYNC_RUNTIME_REPLICA_MAPPINGS_H
#define DRASYNC_RUNTIME_REPLICA_MAPPINGS_H

#include "runtime/replica/state.h"

/* Runs that a process keeps. */
#define REPLICA_MAPPINGS_MAX 1024

/* How many bytes a process keeps. */
uint64_t replica_mapping_bytes_max(void);

/* Take what others have dropped for this process. */
int replica_settle(void);

/*
 * Something that is kept at [@first, up to @end) and has @pages there becomes
 * the frames of @copy: 1, or 0 if there is nothing.
 */
int replica_mapping_take(uint64_t first, uint64_t pages, uint64_t end,
                         struct replica_copy *copy);

/* Nothing is kept at these pages any more: they show their primary frames, or
 * (replica_mapping_cover()) whatever the caller maps there at once. */
int replica_mapping_clear(uint64_t first, uint64_t pages);
int replica_mapping_cover(uint64_t first, uint64_t pages);

/* Keep nothing: memory or mappings are short.  1 if there was something. */
int replica_mapping_drop(void);

#endif /* DRASYNC_RUNTIME_REPLICA_MAPPINGS_H */
