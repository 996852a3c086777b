/*
 * extents.h - which region has which pages.
 *
 * An extent is a run of pages given to one region, described by a `struct
 * extent` in control memory; the page map leads from every page of it there.
 * extent_of() finds it in two loads, without a lock, for any pointer value.
 *
 * A long extent that is deleted stays in the page map, with owner NULL, because
 * entering and removing it costs a store for each page: who takes the very same
 * run again finds it entered, and other extents remove what is in their way.
 * extent_of() and extent_find() do not see it.
 *
 * An extent of another node's addresses that is forgotten stays too, with its
 * frames, up to EXTENT_KEPT_PAGES_MAX of it and half of limit_kept_bytes() in
 * all, the oldest given back first: regions that come from elsewhere, and are
 * deleted, mostly have addresses that were used before.
 *
 * The other caches of what was freed, and why these two are none of them:
 * docs/architecture.md, "What is kept of what was just freed".
 *
 * What extent_of() returns may be removed at any moment unless the caller holds
 * whatever keeps the region's extents in place.  A caller without that copies
 * what it needs with extent_find().
 *
 * Callers guarantee that one extent is not removed twice.  Thread-safe and
 * process-safe.  On error nothing has changed.
 */
#ifndef MEMORY_EXTENTS_H
#define MEMORY_EXTENTS_H

#include "memory/space.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The longest extent, in pages (8 TiB). */
#define EXTENT_PAGES_MAX ((uint64_t)1 << 31)

/* From this many pages on, a deleted extent stays entered. */
#define EXTENT_SPARE_PAGES_MIN 32

/* The longest one that keeps its frames when it is forgotten; the kernel takes
 * a millisecond at most for so many. */
#define EXTENT_KEPT_PAGES_MAX 4096

struct extent {
    /* The allocator's free list writes here; nothing may live in it. */
    uint64_t reserved_by_control[2];
    _Atomic(void *) owner; /* the region; opaque here; NULL: deleted */
    _Atomic uint64_t first_page;
    _Atomic uint64_t pages;
    _Atomic uint64_t incarnation; /* of the region */
    _Atomic uint64_t stamp;       /* no two extents of a node have the same */
    /* For the owner; zero at first, not looked at here. */
    struct extent *next;
    uint64_t frames; /* say, the current file offset */
    uint64_t user[3];
};

/*
 * Enter a run of pages as an extent of @owner.  Frames are not touched.
 *   DRASYNC_EINVAL  outside the space, page 0, longer than EXTENT_PAGES_MAX, or
 *                   @owner NULL
 *   DRASYNC_EEXIST  it overlaps another extent
 *   DRASYNC_ENOMEM, DRASYNC_EPEER
 */
int extent_insert(const struct space *space, uint64_t first, uint64_t pages,
                  void *owner, uint64_t incarnation,
                  struct extent **extent_out);

/* Take it out of the page map and free the descriptor.  Its frames and its
 * addresses stay the caller's to give back.  0 or DRASYNC_EPEER. */
int extent_remove(const struct space *space, struct extent *extent);

/*
 * Cut a run of @pages from this node's addresses (pages_take(), with frames)
 * and enter it.  Errors of both.
 */
int extent_new(const struct space *space, uint64_t pages, void *owner,
               uint64_t incarnation, struct extent **extent_out);

/* Undo extent_new(): remove it and give addresses and frames back. */
int extent_delete(const struct space *space, struct extent *extent);

/* Take it out, but keep the run, which extent_insert() may enter again. */
int extent_park(const struct space *space, struct extent *extent);

/*
 * Enter an extent that another node cut, with primary frames; contents
 * undefined.  Errors of extent_insert() and frames_reserve().
 */
int extent_adopt(const struct space *space, uint64_t first, uint64_t pages,
                 void *owner, uint64_t incarnation, struct extent **extent_out);

/* Undo extent_adopt(); the frames may be kept for the next time. */
int extent_forget(const struct space *space, struct extent *extent);

/* Give some of the frames back that are kept.  @wait: for the lock; a caller
 * who may hold it does not.  How many pages went; 0: there are none, or the lock
 * was not to be had. */
uint64_t extents_trim(const struct space *space, bool wait);

/* extent_delete() will be called for the extent that begins at page @first:
 * fetch what it looks at into the caches. */
void extent_prefetch(const struct space *space, uint64_t first);

/* The extent that has the page @ptr points into, or NULL. */
static inline struct extent *extent_of(const struct space *space,
                                       const void *ptr)
{
    uint64_t page = space_page(space, ptr);
    _Atomic(struct extent *) *map = space->page_map;
    struct extent *extent;

    if (page == SPACE_NO_PAGE)
        return NULL;
    extent = atomic_load_explicit(&map[page], memory_order_acquire);
    return extent && atomic_load_explicit(&extent->owner, memory_order_relaxed)
               ? extent
               : NULL;
}

struct extent_copy {
    struct extent *extent;
    void *owner;
    uint64_t first_page;
    uint64_t pages;
    uint64_t incarnation;
};

/*
 * A consistent copy of the extent that has @ptr's page at some moment of the
 * call.  0, or DRASYNC_ENOREGION.
 */
int extent_find(const struct space *space, const void *ptr,
                struct extent_copy *copy_out);

#endif
