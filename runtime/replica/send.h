/*
 * send.h - what a worker has of a subtree, on its way into a version;
 * for this folder only.
 */
#ifndef DRASYNC_RUNTIME_REPLICA_SEND_H
#define DRASYNC_RUNTIME_REPLICA_SEND_H

#include "runtime/replica/state.h"

/* Lists that grow.  Pieces are in the order of their addresses, and their
 * offsets those of the worker's own frames. */
struct replica_gathering {
    struct replica_part *parts;
    struct replica_piece *pieces;
    size_t parts_count, parts_room;
    size_t pieces_count, pieces_room;
    struct replica_block **blocks; /* of the copies, a reference each */
    size_t blocks_count, blocks_room;
    uint64_t bytes;
};

/* --- send_repeat.c: the same for several workers -------------------------- */

/*
 * What was sent last, if it is just this and nothing was written since: a
 * version with the same frames.  1, or 0 and *keep_out says whether
 * replica_repeat_keep() is wanted for what is frozen now.
 */
int replica_repeat(uint32_t rid, const struct replica_gathering *g,
                   struct replica_version **version_out, int *keep_out);

/* @version may be the first of several. */
void replica_repeat_keep(uint32_t rid, struct replica_version *version);

/* Hand @version over to the transport, so that the node it goes to has what is
 * kept here once only. */
int replica_repeat_wire(struct replica_version *version);

/* Keep nothing.  1 if there was something. */
int replica_repeat_drop(void);

#endif /* DRASYNC_RUNTIME_REPLICA_SEND_H */
