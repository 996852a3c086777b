/*
 * frames.h - the memory behind pages: ranges of the data file.
 *
 * Primary frames (offset = page * PAGE_BYTES) come and go with page runs
 * (pages.h) and adopted extents; alternate frames are allocated here.  All of
 * them are reserved before anybody may touch them and charged to the limit.
 *
 * Frames say nothing about what a process has mapped: frames_map() changes what
 * this process sees at some addresses, and only in this process.
 *
 * Callers guarantee that they do not give back frames that somebody still uses.
 * Thread-safe and process-safe.  On error nothing has changed.
 */
#ifndef MEMORY_FRAMES_H
#define MEMORY_FRAMES_H

#include "memory/space.h"

#include <stdbool.h>
#include <stdint.h>

/* Freed alternate frames kept for reuse, per node. */
#define FRAMES_CACHED_BYTES_MAX ((uint64_t)512 << 20)

/*
 * Reserve [offset, offset + bytes) of the data file, none of which is reserved.
 * It reads as 0.
 *   DRASYNC_EINVAL  outside the file, or not whole pages
 *   DRASYNC_ENOMEM
 */
int frames_reserve(const struct space *space, uint64_t offset, uint64_t bytes);

/* Give back what was reserved.  0, DRASYNC_EINVAL or DRASYNC_EINTERNAL. */
int frames_unreserve(const struct space *space, uint64_t offset,
                     uint64_t bytes);

/*
 * This process is about to give memory of the space to MPI, or has got some that
 * the program may give: what its network adapters hold of frames that are gone
 * ends (punched.h).  Nothing without adapters, which is said once, at the start;
 * cheap if there is nothing to do.
 */
void frames_catch_up(const struct space *space);
void frames_set_adapters(bool are_there);

/*
 * @pages consecutive alternate frames; *offset_out is where, in the data file.
 * Contents are undefined.
 *   DRASYNC_ENOMEM   no memory
 *   DRASYNC_ENOSPACE no run of that length is left in the alternate part
 *   DRASYNC_EPEER
 */
int frames_take(const struct space *space, uint64_t pages,
                uint64_t *offset_out);

/* Give them back, all at once.  DRASYNC_EINVAL if they are not exactly what
 * frames_take() gave. */
int frames_give(const struct space *space, uint64_t offset, uint64_t pages);

/* Is @offset in the alternate part? */
static inline int frames_alternate(const struct space *space, uint64_t offset)
{
    return offset >= space->layout.data_bytes;
}

/*
 * Copy @bytes between frames, through the window.  Both ranges are reserved.
 * DRASYNC_EINVAL if a range is outside the file.
 */
int frames_copy(const struct space *space, uint64_t to_offset,
                uint64_t from_offset, uint64_t bytes);

/*
 * Let pages [first, first + pages) of this process show the frames at @offset.
 * The caller knows that no thread of this process uses the pages meanwhile.
 *   DRASYNC_EINVAL  a range is outside
 *   DRASYNC_ELIMIT  this process has too many mappings
 *   DRASYNC_ENOMEM
 */
int frames_map(const struct space *space, uint64_t first, uint64_t pages,
               uint64_t offset);

/*
 * A layer that leaves mappings of dead copies in place, to use them again, says
 * here how to undo those within [first, first + pages); once, at its start,
 * before anybody calls frames_forget().
 */
typedef int frames_forget_hook(uint64_t first, uint64_t pages);
void frames_on_forget(frames_forget_hook *hook);

/* Somebody else is going to map or use these pages: what was left mapped there
 * shows the primary frames again.  0, or what the hook returned. */
int frames_forget(uint64_t first, uint64_t pages);

/*
 * This process will use all of these pages, which are mapped, and whose frames
 * are reserved: one call enters them, instead of a page fault for each.  Short
 * runs are left to the faults.  It need not succeed.
 */
void frames_enter(const struct space *space, uint64_t first, uint64_t pages);

/* The same for reserved frames [offset, offset + bytes) in the window. */
void frames_enter_window(const struct space *space, uint64_t offset,
                         uint64_t bytes);

/* Show the primary frames again.  A process with too many mappings can do
 * that, too. */
static inline int frames_map_primary(const struct space *space, uint64_t first,
                                     uint64_t pages)
{
    return frames_map(space, first, pages, space_page_offset(first));
}

#endif
