/*
 * frames.h - frames of copies, and extents of regions (frames.c, trim.c,
 * quarantine.c).  Under the lock of the region's tree, unless it says otherwise.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_FRAMES_H
#define DRASYNC_RUNTIME_NATIVE_FRAMES_H

#include "runtime/native/state.h"

/* The frames of a copy with @memory's extents: primary ones if no other copy
 * uses any of them, else alternate ones. DRASYNC_ENOMEM, DRASYNC_ENOSPACE ...
 */
int native_frames_new(const struct native_memory *memory,
                      struct native_frames **frames_out);
void native_frames_free(struct native_frames *frames);

/* The same in two parts, as the second may take long: it reserves memory. Under
 * the lock, but if the frames are not the primary ones the second need not be,
 * as long as a hold keeps the region's extents. */
struct native_plan {
    struct frameset_extent *list; /* NULL: made, or given up */
    uint64_t extents;
    bool primary;
};
int native_frames_plan(const struct native_memory *memory,
                       struct native_plan *plan_out);
int native_frames_make(struct native_plan *plan,
                       struct native_frames **frames_out);
void native_plan_free(struct native_plan *plan);

/* How much of the extent of run @i matters, from its start. */
uint64_t native_used_bytes(const struct native_frames *frames, uint64_t i);

/* What matters of them changes no more. */
void native_frames_fix(struct native_frames *frames);

/* The heap in them is about to change. */
void native_frames_loosen(struct native_frames *frames);

/* Copy what matters of the extents that both have; @to is fixed then, as @from
 * is.  Nobody else copies @from meanwhile. */
int native_frames_copy(struct native_frames *to,
                       const struct native_frames *from);

/* The set has grown by @extent, in the current copy. */
int native_frames_grow(struct native_frames *frames, struct extent *extent);

/* It has lost all but the first, with primary frames: no process has seen the
 * set as it is now. */
void native_frames_shrink(struct native_frames *frames);

int native_memory_new(uint64_t address, uint64_t incarnation,
                      struct native_memory **memory_out);
void native_memory_append(struct native_memory *memory, struct extent *extent);
/* All extents but the first are gone. */
void native_memory_shrink(struct native_memory *memory);
/* All extents are gone, with their frames; nobody has the region here, and its
 * next copy brings what it needs. */
void native_memory_empty(struct native_memory *memory);
/* The record goes; @dead: the region was deleted. */
void native_memory_free(struct native_memory *memory, bool dead);

/* An address run that this node cut comes back. */
void native_extent_back(uint64_t address, uint64_t pages);
/* The same, past quarantine. */
void native_extent_back_now(uint64_t address, uint64_t pages);

/* Checked mode (quarantine.c): runs that came back, until they are used again.
 * Any moment. */
int native_quarantine_new(struct native_quarantine **quarantine_out);
void native_quarantine_put(struct native_quarantine *quarantine,
                           uint64_t address, uint64_t pages);
void native_quarantine_clear(struct native_quarantine *quarantine);
/* Was there a region until not long ago? */
bool native_quarantined(uint64_t address);

/* Any moment, no lock held: cut an extent of @pages, or fewer but @pages_min,
 * for @memory; asks the manager for addresses and drops cached copies if it
 * must.  This process sees its primary frames.
 */
int native_extent_new(struct native_memory *memory, uint64_t pages_min,
                      uint64_t pages, struct extent **extent_out);

/* No lock held: drop copies of all trees that nothing refers to, the frames of
 * regions that are elsewhere only, and what is in quarantine (trim.c). */
void native_evict(void);

/* No lock held: give back what has no objects of the regions that only this node
 * has, and this rank holds for WRITE or nobody holds.  False: nothing
 * was there. */
bool native_trim(void);

#endif /* DRASYNC_RUNTIME_NATIVE_FRAMES_H */
