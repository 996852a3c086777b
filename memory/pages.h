/*
 * pages.h - who gets which addresses: lanes, chunks and page runs.
 *
 * With n nodes the lower half of the data part is cut into n equal lanes; node
 * i cuts runs from lane i without asking.  With one node its lane is
 * everything.  When the lane is used up, node 0 (the manager) grants chunks of
 * the upper half.  Runs come from a buddy allocator: a run of n pages lies at a
 * multiple of the next power of two, and only the n pages get frames.  Freed
 * runs keep their frames, up to limit_kept_bytes(), for the next taker.
 *
 * State is in control memory; the caller has mapped the space and the leader
 * has called control_create().  Thread-safe and process-safe.  On error nothing
 * has changed.
 */
#ifndef MEMORY_PAGES_H
#define MEMORY_PAGES_H

#include "memory/space.h"

#include <stdint.h>

/* Chunks that the manager can grant in one job. */
#define CHUNKS_MAX 65536

enum pages_flags {
    PAGES_FRAMES = 0,    /* with primary frames */
    PAGES_ADDRESSES = 1, /* addresses only: frames are the caller's matter */
};

/*
 * Take a run of @pages.  Contents of frames are undefined.
 *   DRASYNC_EINVAL   @pages is 0
 *   DRASYNC_ENOSPACE this node has no addresses left: ask the manager for a
 *                    chunk, pages_add_chunk() it, try again
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int pages_take(const struct space *space, uint64_t pages, unsigned flags,
               uint64_t *first_out);

/*
 * Give a run back.  With PAGES_ADDRESSES its frames are gone already; else they
 * are reserved and go with it.
 *   DRASYNC_EINVAL  not a run of that length that this node gave out
 *   DRASYNC_EPEER
 */
int pages_give(const struct space *space, uint64_t first, uint64_t pages,
               unsigned flags);

/*
 * A chunk that the manager granted.
 *   DRASYNC_EINVAL  not a chunk: outside the upper half, not aligned, or here
 *                   already
 *   DRASYNC_ELIMIT  too many chunks
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int pages_add_chunk(const struct space *space, uint64_t first, uint64_t pages);

/* Give cached frames back to the system now.  0 or DRASYNC_EPEER. */
int pages_trim(const struct space *space);

/* The same without waiting for a lock, whatever the caller holds; for memory/.
 * How many pages went. */
uint64_t pages_trim_try(const struct space *space);

/*
 * The node that hands @page out, as far as this node knows by itself: -1 if it
 * is in the upper half and in no chunk of this node (and there are several
 * nodes), or is nobody's.
 */
int page_home(const struct space *space, uint64_t page);

/* This node's number, and how many there are. */
int pages_node(const struct space *space);
int pages_nodes(const struct space *space);

/*
 * Manager only: grant node @node a chunk of at least @pages.  Chunks are powers
 * of two, and double with each grant to the same node as long as there is room.
 *   DRASYNC_EINVAL   no such node, 0 pages
 *   DRASYNC_ENOSPACE no chunk that large is left
 *   DRASYNC_ELIMIT   CHUNKS_MAX
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int chunks_grant(const struct space *space, int node, uint64_t pages,
                 uint64_t *first_out, uint64_t *pages_out);

/* Manager only: the node that hands @page out, lanes included; -1: nobody. */
int chunks_home(const struct space *space, uint64_t page);

struct pages_stats {
    uint64_t taken_pages; /* given out now */
    uint64_t taken_runs;
    uint64_t cached_pages; /* frames kept for reuse */
    uint64_t chunks;       /* added to this node */
};

void pages_get_stats(const struct space *space, struct pages_stats *stats_out);

#endif
