/*
 * map.h - which frames this process sees at the addresses of native regions.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_MAP_H
#define DRASYNC_RUNTIME_NATIVE_MAP_H

#include "runtime/native/state.h"

/* Frames that a hold shows; collected under the tree's lock. */
struct native_mapping {
    struct native_frames **frames;
    size_t count, room;
    bool failed; /* no memory to note them all */
};

/* Does this process, as far as it remembers, show the newest copies of
 * @region's subtree?  And: it does now. */
bool native_mapping_current(const struct proto_region *region);
/* The same by what a grant noted.  No lock is needed. */
bool native_mapping_granted(uint64_t address, const struct native_wait *wait);
void native_mapping_remember(const struct proto_region *region);
/* Do all addresses of native regions show primary frames in this process? */
bool native_mapping_primary(void);
/* Something was shown that is not the newest. */
void native_mapping_disturbed(void);
/* The thread ends. */
void native_mapping_forget(void);

/* Note @frames of region @address unless they are shown already.  Under the
 * map lock, which is kept until native_mapping_show(). */
void native_mapping_add(struct native_mapping *view, uint64_t address,
                        struct native_frames *frames);
/* Show all that was noted; frees the list.  Not under the tree's lock; the
 * frames stay because of the hold.  DRASYNC_ENOMEM. */
int native_mapping_show(struct native_mapping *view);

/* The offset in the data file of what this process sees at @ptr; false if
 * [@ptr, @ptr + @bytes), inside the data part, does not lie there in one
 * piece. */
bool native_mapped(const void *ptr, uint64_t bytes, uint64_t *offset_out);

/* Does this process see the primary frames of @page?  By who has the lock of its
 * region's tree. */
bool native_mapped_primary(uint64_t page);

void native_map_lock(void);
void native_map_unlock(void);

#endif /* DRASYNC_RUNTIME_NATIVE_MAP_H */
