/*
 * image.h - a subtree as it is saved and loaded: which regions it has, at which
 * addresses, and where their data is (runtime/save/).
 *
 * Callers guarantee that runtime_enter() returned 0, that they hold no locks,
 * and of an image to be made that parents come before children and extents do
 * not overlap.  Thread-safe.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_IMAGE_H
#define DRASYNC_RUNTIME_NATIVE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"

#define NATIVE_IMAGE_NO_PARENT UINT32_MAX

struct native_image_region {
    uint64_t address;
    uint64_t incarnation; /* of one that is there */
    uint32_t
        parent; /* its place in region[]; NATIVE_IMAGE_NO_PARENT: the top */
    uint32_t extents; /* at least 1; they follow each other in extent[] */
    bool nameless;    /* of one that is there: it never had a name */
};

/* The first one of a region begins at the region's address. */
struct native_image_extent {
    uint64_t address, pages;
    uint64_t used_bytes; /* from its start: nothing beyond matters */
    uint64_t offset;     /* in the data file: where its frames are */
};

struct native_image {
    uint64_t regions, extents;
    struct native_image_region *region;
    struct native_image_extent *extent;
    /* Who holds it, of one that was taken. */
    int32_t rank; /* as the protocol numbers ranks */
    bool root;    /* it has no parent */
};

/*
 * A version of @region's subtree, held for READ until native_image_give(): what
 * this rank holds already, or the current one, for which it may have to wait.
 * Frames and extents stay where *image_out says; so does the data, unless this
 * rank holds the region for WRITE and writes.
 *
 * What is not held already is held by a rank of its own: this rank's threads may
 * acquire the region for WRITE meanwhile.
 *
 * @stop, unless it is NULL, is asked now and then while others are waited for, and
 * ends that; such a wait is not taken for this rank's when a ring is looked for.
 * The thread is the library's then: what this rank holds is not its own, and is
 * waited for as any other's.  Having a part of the subtree it keeps writers out of
 * that; so it lets go, and begins anew, if it gets no more for some time.
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_EORDER, DRASYNC_ENOMEM,
 *   DRASYNC_EDEADLK  as native_acquire()
 *   DRASYNC_EAGAIN   @stop
 *   DRASYNC_ELIMIT   more than 2^32 - 2 regions, or extents of one
 */
typedef bool native_stop_fn(void);
int native_image_take(drasync_region_t region, native_stop_fn *stop,
                      struct native_image *image_out);
void native_image_give(struct native_image *image);

/* Of one that was not taken. */
void native_image_free(struct native_image *image);

/*
 * Make the regions of @image, at their addresses, with their extents; the top one
 * is a root that this rank holds for WRITE.  Their data, which the caller is to
 * fill in before anything else is done with them, is undefined; this process
 * sees it at the addresses.
 *   DRASYNC_ETAKEN  *refused_out cannot be had: it is in use, or outside of what
 *                   nodes of this job hand out
 *   DRASYNC_ENOMEM, DRASYNC_ELIMIT (depth)
 */
int native_image_make(const struct native_image *image, uint64_t *refused_out);

/* The data of region @i of @image, which native_image_make() has made, is
 * filled in: does its heap make sense?  0 or DRASYNC_EFORMAT. */
int native_image_check(const struct native_image *image, uint64_t i);

/* The data could not be filled in: delete the regions, @top and below.  Checked
 * mode does not look at what is there, which no program wrote. */
void native_image_drop(const struct native_image *image, drasync_region_t top);

#endif /* DRASYNC_RUNTIME_NATIVE_IMAGE_H */
