/*
 * frameset.h - a set of frames for the extents of a region: one copy of it.
 *
 * A set lives in control memory and says, for each extent, at which offset of
 * the data file its frames are.  It owns the alternate frames in it; primary
 * frames belong to the extents.  Any process of the node may copy, map and free
 * a set.
 *
 * Callers guarantee that one set is not changed and used at the same time, and
 * that nobody maps or reads a set that is freed.  On error nothing has changed.
 * Any call may return DRASYNC_EPEER.
 */
#ifndef MEMORY_FRAMESET_H
#define MEMORY_FRAMESET_H

#include "memory/space.h"

#include <stdint.h>

/* Extents in one set. */
#define FRAMESET_RUNS_MAX ((uint64_t)1 << 24)

struct frameset_run {
    uint64_t first_page;
    uint64_t pages;
    uint64_t offset;     /* of the frames in the data file */
    uint64_t used_bytes; /* how much frameset_copy() copies; all at first */
};

struct frameset {
    uint64_t runs;
    uint64_t capacity;
    uint64_t bulk_offset; /* one allocation that several runs share */
    uint64_t bulk_pages;  /* 0: none */
    struct frameset_run run[];
};

/* What of an extent a set is made for; used_bytes 0 means all of it. */
struct frameset_extent {
    uint64_t first_page;
    uint64_t pages;
    uint64_t used_bytes;
};

/* A set over primary frames, which are the caller's.
 *   DRASYNC_EINVAL (a run outside the space), DRASYNC_ELIMIT, DRASYNC_ENOMEM */
int frameset_new_primary(const struct space *space,
                         const struct frameset_extent *extents, uint64_t count,
                         struct frameset **set_out);

/* A set over alternate frames, reserved now; contents undefined.  The same
 * errors, and DRASYNC_ENOSPACE if the alternate part is full. */
int frameset_new(const struct space *space,
                 const struct frameset_extent *extents, uint64_t count,
                 struct frameset **set_out);

/*
 * Add an extent with its primary frames: the region has grown.  The set may
 * move: *set is then the new one.
 */
int frameset_add_primary(const struct space *space, struct frameset **set,
                         const struct frameset_extent *extent);

/* Free the set and the alternate frames in it; NULL is ignored. */
int frameset_free(const struct space *space, struct frameset *set);

/*
 * Copy the used bytes of each extent of @from into the same extent of @to;
 * extents that are in one of them only are left alone.  Both sets list their
 * extents in the same order.  *bytes_out (NULL allowed): how many were copied.
 */
int frameset_copy(const struct space *space, const struct frameset *to,
                  const struct frameset *from, uint64_t *bytes_out);

/* Does the set use alternate frames anywhere? */
int frameset_has_alternate(const struct space *space,
                           const struct frameset *set);

#endif
