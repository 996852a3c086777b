/*
 * control.h - the shared memory in which a node keeps what it knows.
 *
 * The control part of the space holds, in order: the header (private to
 * memory/), CONTROL_USER_BYTES for the runtime, sparse tables (page map and
 * others), and the control heap.  Pointers into it are the same on all ranks.
 * Memory is reserved before it is used, and counted against the node's limit
 * (limit.h), so running out is an error at the call.
 *
 * The heap is type-stable: memory given out once for a size is only ever given
 * out again for a size of the same class.  A reader without a lock may thus
 * follow a stale pointer, as long as it checks afterwards that what led to it
 * is unchanged.  control_free() overwrites the first 16 bytes and leaves the
 * rest, and so does control_alloc().
 *
 * Callers guarantee that the space is mapped, and that one process has called
 * control_create() before others use it.  Thread-safe and process-safe.
 * Every call may return DRASYNC_EPEER: a process died inside the allocator.
 */
#ifndef MEMORY_CONTROL_H
#define MEMORY_CONTROL_H

#include "memory/space.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* For the runtime, zero at first, all of it reserved. */
#define CONTROL_USER_BYTES ((uint64_t)1 << 20)

/* Everything the heap gives is aligned to this. */
#define CONTROL_ALIGN_BYTES 64

/* The largest object. */
#define CONTROL_OBJECT_BYTES_MAX ((uint64_t)1 << 38)

/*
 * Fill the header of a fresh control file; done by one process of the node,
 * @node of @nodes, before the others look.  @memory_limit_bytes: see limit.h.
 * Makes the page allocator, the limit and the tables ready too.
 *   DRASYNC_EINVAL  node numbers out of range, or too many nodes for the space
 *   DRASYNC_ENOMEM
 */
int control_create(const struct space *space, int node, int nodes,
                   uint64_t memory_limit_bytes);

/* Is the header there, made by this version, for this layout?  For the other
 * ranks, after the leader said so.  0 or DRASYNC_EINTERNAL. */
int control_check(const struct space *space);

/*
 * Describe the node whose control file somebody else has mapped, for reading, at
 * @control, which is where its ranks have it; @bytes long.  *node_out of
 * *nodes_out.
 *   DRASYNC_EINVAL  it is not there yet, or of another version
 */
int control_look(void *control, uint64_t bytes, struct space *space_out,
                 int *node_out, int *nodes_out);

/* The runtime's area: CONTROL_USER_BYTES, aligned to a page. */
void *control_user(const struct space *space);

/*
 * The poison flag: a process died while it changed shared state, or somebody
 * said that the job is over.  Never cleared.
 */
_Atomic uint32_t *control_poison_flag(const struct space *space);
void control_poison(const struct space *space);

/*
 * An object of @size_bytes (0 counts as 1).  Contents: as the last user of the
 * slot left them, but for the first 16 bytes, which are 0; all 0 if fresh.
 *   DRASYNC_ENOMEM  also for sizes above CONTROL_OBJECT_BYTES_MAX
 */
int control_alloc(const struct space *space, size_t size_bytes, void **ptr_out);

/* The same, cleared. */
int control_alloc_zero(const struct space *space, size_t size_bytes,
                       void **ptr_out);

/* Give an object back; NULL is ignored.  Asserts that it is one. */
void control_free(const struct space *space, void *ptr);

/* How many bytes an object may use: its class's size; 0 if it is none. */
size_t control_usable_bytes(const struct space *space, const void *ptr);

/* Could @ptr be an object of the heap of at least @size_bytes?  True for
 * anything that starts a slot, given out or not.  For pointers that came out of
 * memory one does not trust. */
int control_plausible(const struct space *space, const void *ptr,
                      size_t size_bytes);

#endif
