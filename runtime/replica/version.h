/*
 * version.h - versions of subtrees, and their frames.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_VERSION_H
#define DRASYNC_RUNTIME_REPLICA_VERSION_H

#include "runtime/replica/state.h"

/* --- version.c: frames ---------------------------------------------------- */

int replica_block_new(uint64_t pages, struct replica_block **block_out);
void replica_block_put(struct replica_block *block);

/* All copies of @region on this node are void.  Locked. */
void replica_drop_copies(struct replica_region *region);

/* A version with all but the frames of its pieces, from this worker. */
int replica_version_new(const struct replica_part *parts, uint64_t parts_count,
                        const struct replica_piece *pieces,
                        uint64_t pieces_count,
                        struct replica_version **version_out);

/* One with the frames of @of, from the same worker. */
int replica_version_share(struct replica_version *of,
                          struct replica_version **version_out);

/* Map and copy @version into what this worker sees (install.c).  By one thread at
 * a time, in the order in which versions were taken; no lock is held.
 * DRASYNC_ENOMEM, DRASYNC_EPEER. */
int replica_install(struct replica_version *version);

/* A version and all that it refers to. */
void replica_version_free(struct replica_version *version);

/* Frames for all pieces; their contents are undefined. */
int replica_version_frames(struct replica_version *version);

/* Append to the receiver's queue, and wake it. */
int replica_version_post(struct replica_version *version);

/* Its data is there: wake the receiver, who may free it at once. */
void replica_version_ready(struct replica_version *version);

#endif /* DRASYNC_RUNTIME_REPLICA_VERSION_H */
