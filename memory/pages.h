/*
 * pages.h - who gets which addresses: lanes, chunks and page runs.
 *
 * With n nodes the lower half of the data part is cut into n equal lanes; node
 * i cuts runs from lane i without asking.  With one node its lane is
 * everything.  When the lane is used up, managers grant chunks of the upper
 * half: a quarter of all pages is cut into equal districts, of a few nodes
 * each, the first of which is the district's manager; when that has none left,
 * node 0 grants of the last quarter.  Runs come from a buddy allocator: a run
 * of n pages lies at a multiple of the next power of two, and only the n pages
 * get frames.  Freed runs keep their frames, up to limit_kept_bytes(), for the
 * next taker.
 *
 * State is in control memory; the caller has mapped the space and the leader
 * has called control_create().  Thread-safe and process-safe.  On error nothing
 * has changed.
 */
#ifndef MEMORY_PAGES_H
#define MEMORY_PAGES_H

#include "memory/space.h"

#include <stddef.h>
#include <stdint.h>

/* Chunks that a manager can grant in one job. */
#define CHUNKS_MAX 65536

enum pages_flags {
    PAGES_FRAMES = 0,    /* with primary frames */
    PAGES_ADDRESSES = 1, /* addresses only: frames are the caller's matter */
};

/*
 * Take a run of @pages.  Contents of frames are undefined.
 *   DRASYNC_EINVAL   @pages is 0
 *   DRASYNC_ENOSPACE this node has no addresses left: ask a manager for a
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

/* What a manager has granted.  A node's own is in its control memory. */
struct chunk_book;

size_t chunk_book_bytes(void);
struct chunk_book *chunk_book_of(const struct space *space);

/* The book of @node, zeroed memory, with what that may grant.  0, or
 * DRASYNC_ENOMEM. */
int chunk_book_open(const struct space *space, struct chunk_book *book,
                    int node);

/* Whom @node asks first; then node 0. */
int chunks_manager_of(const struct space *space, int node);

/* Who can tell the home of @page: its district's manager, or node 0; -1: it is
 * not in the upper half. */
int chunks_manager(const struct space *space, uint64_t page);

/* How many pages a node asks for that has @had from managers: a first chunk, a
 * part of a lane, or as many as it has, so that few chunks are many pages. */
uint64_t chunks_wanted(const struct space *space, uint64_t had);

/* What this node has from managers. */
uint64_t chunks_had(const struct space *space);

/*
 * Grant node @node a chunk of at least @pages, of @wanted if there is room.
 * Chunks are powers of two.
 *   DRASYNC_EINVAL   no such node, 0 pages
 *   DRASYNC_ENOSPACE no chunk that large is left
 *   DRASYNC_ELIMIT   CHUNKS_MAX
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int chunks_grant(const struct space *space, struct chunk_book *book, int node,
                 uint64_t pages, uint64_t wanted, uint64_t *first_out,
                 uint64_t *pages_out);

/* The node that hands @page out, as far as @book or lanes say; -1: nobody. */
int chunks_home(const struct space *space, struct chunk_book *book,
                uint64_t page);

#endif
