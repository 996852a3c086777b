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
 * next taker.  The other caches of what was freed, and why this is none of
 * them: docs/architecture.md, "What is kept of what was just freed".
 *
 * State is in control memory; the caller has mapped the space and the leader
 * has called control_create().  Thread-safe and process-safe.  On error nothing
 * has changed.
 */
#ifndef MEMORY_PAGES_H
#define MEMORY_PAGES_H

#include "memory/space.h"

#include <stdbool.h>
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

/*
 * Addresses change hands: a node that is to have regions at given addresses
 * claims runs of pages, which must be free, from whoever hands them out.  Each
 * node claims for it what it has of them (pages_claim()), and when all have, all
 * note that they are that node's from now on (pages_move()): page_home() says so
 * on every node, and what is given back there is used again there.
 *
 * In a run only `pages` are wanted; claimed is the power of two of pages that it
 * lies in, as it is when a run is taken.
 */
struct pages_run {
    uint64_t first, pages;
};

/* Runs of which a node knows that they have moved. */
#define MOVED_MAX ((uint64_t)1 << 28)

/* How many pages are claimed for @run. */
uint64_t pages_run_whole(const struct pages_run *run);

/* Does this node hand all of @run out? */
bool pages_run_here(const struct space *space, const struct pages_run *run);

/* Take such a run, without frames.
 *   DRASYNC_EBUSY (not free), DRASYNC_EINVAL (not aligned), DRASYNC_ENOMEM ... */
int pages_take_at(const struct space *space, const struct pages_run *run);

/*
 * Claim what this node hands out of @runs: *pages_out of them, maybe none.
 * pages_move() or pages_unclaim(), which is told that number, follows.
 *   DRASYNC_EBUSY   page *refused_out is not free
 *   DRASYNC_EINVAL  not runs; DRASYNC_ELIMIT (MOVED_MAX), DRASYNC_ENOMEM ...
 */
int pages_claim(const struct space *space, const struct pages_run *runs,
                uint64_t count, uint64_t *pages_out, uint64_t *refused_out);
void pages_unclaim(const struct space *space, const struct pages_run *runs,
                   uint64_t count, uint64_t pages);

/* What all nodes have claimed is @node's from now on; there it is as taken by
 * pages_take() with PAGES_ADDRESSES.
 *   DRASYNC_EINVAL (it was not claimed), DRASYNC_ENOMEM (there) ... */
int pages_move(const struct space *space, const struct pages_run *runs,
               uint64_t count, int node);

/* The node that @page has moved to; -1: none.  For page_home(). */
int page_moved_to(const struct space *space, uint64_t page);

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

/*
 * Of [first, first + pages), which is aligned as a chunk is, nobody has anything,
 * and this node is the manager: it grants itself a chunk there, and adds it.  0
 * too if that is not so.
 *   DRASYNC_ELIMIT, DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int chunks_carve(const struct space *space, uint64_t first, uint64_t pages);

/* The node that hands @page out, as far as @book or lanes say; -1: nobody. */
int chunks_home(const struct space *space, struct chunk_book *book,
                uint64_t page);

#endif
