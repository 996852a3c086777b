/*
 * buddy.h - power-of-two aligned runs of pages, with or without frames.
 * Private to memory/: pages.c uses it for addresses and their primary frames,
 * frames.c for alternate frames.
 *
 * What is added first enters the lists block by block, when nothing in them is
 * large enough: a range of 2^32 pages has 32 blocks, and the record of each lies
 * in a piece of the table of its own, 64 KiB that would be reserved for nothing.
 *
 * Free runs without frames merge with their neighbours.  Freed runs with frames
 * are cached as they are, for takers of the same order, until they make up more
 * than the user of the allocator says; then the largest lose their frames
 * first.
 *
 * Numbers are relative to base_page, a page of the data file; number 0 is never
 * given out.  Thread-safe and process-safe; no system call under the lock but
 * for growing the record table.
 */
#ifndef MEMORY_BUDDY_H
#define MEMORY_BUDDY_H

#include "memory/lock.h"
#include "memory/space.h"

#include <stdint.h>

#define BUDDY_ORDERS 33

enum buddy_state {
    BUDDY_NOTHING = 0,
    BUDDY_FREE,
    BUDDY_CACHED, /* free, with frames behind its first `pages` pages */
    BUDDY_TAKEN,  /* `pages` of it */
    BUDDY_MOVING, /* on its way between two states; belongs to one thread */
};

/* For the first page of a run. */
struct buddy_record {
    uint32_t next;
    uint32_t prev;
    uint32_t pages;
    uint8_t order;
    uint8_t state;
    uint16_t unused;
};

struct buddy {
    struct lock trim_lock;
    struct lock lock;
    uint64_t base_page;
    uint64_t pages;
    uint64_t cached_pages;
    uint64_t taken_pages;
    uint64_t taken_runs;
    uint64_t fresh, fresh_pages; /* added, and in no list yet */
    uint32_t free[BUDDY_ORDERS];
    uint32_t cached[BUDDY_ORDERS];
};

/* 0 or DRASYNC_EINTERNAL. */
int buddy_create(const struct space *space, struct buddy *buddy,
                 uint64_t base_page, uint64_t pages);

/* Make [first, first + pages) available.  DRASYNC_EINVAL (outside, or some of
 * it is known already), DRASYNC_ENOMEM (not the first time), DRASYNC_EPEER. */
int buddy_add(const struct space *space, struct buddy *buddy, uint64_t first,
              uint64_t pages);

/* DRASYNC_EINVAL, DRASYNC_ENOSPACE, DRASYNC_ENOMEM, DRASYNC_EPEER. */
int buddy_take(const struct space *space, struct buddy *buddy, uint64_t pages,
               int with_frames, uint64_t *first_out);

/* @cached_pages_max: how many pages of frames may be cached then.
 * DRASYNC_EINVAL (not such a run), DRASYNC_EPEER. */
int buddy_give(const struct space *space, struct buddy *buddy, uint64_t first,
               uint64_t pages, int with_frames, uint64_t cached_pages_max);

/*
 * Take the run of @pages that begins at @first, without frames.
 *   DRASYNC_EINVAL  no run can begin there: it is not aligned as one, or outside
 *   DRASYNC_EBUSY   some of it is taken, or was never added
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int buddy_take_at(const struct space *space, struct buddy *buddy,
                  uint64_t first, uint64_t pages);

/* A run that is taken, without frames, is another node's from now on: it is as
 * if it had never been added.  DRASYNC_EINVAL (not such a run), DRASYNC_EPEER. */
int buddy_forget(const struct space *space, struct buddy *buddy, uint64_t first,
                 uint64_t pages);

/* The reverse: a run of another node's is here, taken.  DRASYNC_EINVAL (some of
 * it is known already), DRASYNC_ENOMEM, DRASYNC_EPEER. */
int buddy_enter_taken(const struct space *space, struct buddy *buddy,
                      uint64_t first, uint64_t pages);

/* Let cached frames go until at most @keep_pages are left. */
int buddy_trim(const struct space *space, struct buddy *buddy,
               uint64_t keep_pages);

/* Let them all go, without waiting for a lock: for a caller who may hold the
 * very one.  How many pages of frames went. */
uint64_t buddy_trim_try(const struct space *space, struct buddy *buddy);

#endif
