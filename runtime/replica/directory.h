/*
 * directory.h - regions of this node, and those that it has to ask for.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_DIRECTORY_H
#define DRASYNC_RUNTIME_REPLICA_DIRECTORY_H

#include "runtime/replica/state.h"

/* --- module.c: waiting ---------------------------------------------------- */

/* Wait for @doorbell; @remote: another node may be what rings it. */
int replica_wait(struct doorbell *doorbell, uint32_t seen, int remote);

/* --- directory.c: regions ------------------------------------------------- */

/* Take the directory's lock; replica_unlock() gives it back. */
int replica_lock(void);
void replica_unlock(void);

/* The region with this entry address, in any state.  Locked. */
struct replica_region *replica_find(uint64_t address);

/* The record of a region, and entering it where replica_find() looks. */
int replica_region_make(uint64_t address, struct replica_region **region_out);
void replica_region_enter(struct replica_region *region);

/* The node that knows whose an address is that is not known here. */
int replica_home(uint64_t address);

/* A heap's structure, not live yet; back to the pool; and live, as @worker's in
 * @region.  Locked. */
int replica_heap_new(struct replica_heap **heap_out);
void replica_heap_pool(struct replica_heap *heap);
int replica_heap_open(struct replica_heap *heap, struct replica_region *region,
                      int worker);

/* This rank's heap in a live region, made if need be.  Locked. */
int replica_heap_of(struct replica_region *region,
                    struct replica_heap **heap_out);

/* The owner of the extents that @worker, of another node, cut for @region.
 * Locked. */
int replica_foreign_heap(struct replica_region *region, int worker,
                         struct replica_heap **heap_out);

int replica_dir_open(void);    /* on the leader */
void replica_dir_attach(void); /* on every rank */
int replica_dir_message(int from, const struct replica_message *message);

/* --- region.c ------------------------------------------------------------- */

/* Find a live region, attaching to it if need be.  On success the directory is
 * locked.  DRASYNC_ENOREGION. */
int replica_open(uint32_t rid, struct replica_region **region_out);

/* Ask for those regions of a version that this node does not know; does not
 * wait. */
void replica_attach_early(struct replica_version *version);

/* Make sure that this node knows all regions of a version that are alive. */
int replica_attach_parts(struct replica_version *version);

#endif /* DRASYNC_RUNTIME_REPLICA_DIRECTORY_H */
