/*
 * drasync/give.h - part of drasync.h: regions that one rank gives to another.
 */
#ifndef DRASYNC_PART_GIVE_H
#define DRASYNC_PART_GIVE_H

#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* drasync_take(): from any rank, or with any tag. */
#define DRASYNC_ANY (-1)

/*
 * Give @region, with all below it, to rank @rank, which may be this one: its
 * WRITE hold, the data and a note of that go in one message.  The call waits for
 * nobody.  From its return on this rank holds nothing of @region; @rank does as
 * soon as the message is there, whether or not it has called drasync_take(), and
 * nobody has held it in between.  What @rank does not take is released when it
 * ends.  Gifts of one thread to one rank arrive in their order.  References to a
 * managed region stay with who has them (drasync_ref_give()).
 *
 * Where @rank cannot have it yet the region is released instead, until @rank takes
 * it, and others may have it before: if @rank holds it, a part of it or, for READ,
 * what is above it; if it waits for it, a part of it or what is above it, by an
 * acquire, a request, drasync_save() or a function that another node runs there; if
 * it is of another node, which has no memory for the data.  So it is, later, if
 * @rank asks for what is above before it takes the gift.  An acquire of @rank's
 * that waits for what is newer (drasync_acquire_newer()) returns DRASYNC_ENESTED.
 *
 *   DRASYNC_EINVAL    there is no rank @rank, or @tag is negative
 *   DRASYNC_ENOREGION
 *   DRASYNC_EDELETED  it was deleted
 *   DRASYNC_ENOTHELD  this rank has no WRITE hold of @region itself
 *   DRASYNC_ENESTED   it has other holds of it, of what is above it or of what is
 *                     below: of other threads, of its own, or by a gift that
 *                     it has not taken
 *   DRASYNC_EBUSY     another thread of this rank is deleting or acquiring it, a
 *                     part of it or what it is a part of, or a request for one of
 *                     these that failed, as its time had passed or otherwise, is
 *                     still on its way: try again
 *   DRASYNC_ELIMIT    @rank, of this node, has not taken 1,048,576 others; between
 *                     nodes so many end the job.  Or @rank is of another node, and
 *                     the region, or a part of it that this node has, has more
 *                     than 4,194,304 direct subregions
 *   DRASYNC_ENOMEM, DRASYNC_ERUNNING
 */
int drasync_give(drasync_region_t region, int rank, int tag);

/* What else is said of a region that was given. */
struct drasync_gift {
    int from; /* the rank that gave it */
    int tag;
};

/*
 * Take the first region that was given to this rank by @rank (DRASYNC_ANY: by
 * any) with @tag (DRASYNC_ANY: with any), waiting for one and its data at most
 * @timeout_us; 0 does not wait.  It is held for WRITE, as if this thread had
 * acquired it.  *gift_out, which may be NULL, says who gave it.
 *   DRASYNC_EINVAL    there is no rank @rank, @tag is negative, or @region_out
 *                     is NULL
 *   DRASYNC_EAGAIN    the time passed first
 *   DRASYNC_EDELETED  *region_out was given, as *gift_out says, but came back for
 *                     want of memory and was deleted before this rank could take
 *                     it; or this rank has deleted it
 *   DRASYNC_EPEER     @rank has died and has left none; also where the job goes on
 *   DRASYNC_EDEADLK   with DRASYNC_DEADLOCK=error, as drasync_acquire()
 *   DRASYNC_ERUNNING
 * and, of a gift that stays, *region_out and *gift_out as above,
 *   DRASYNC_ENOMEM    or there was no memory to wait with; *region_out is NULL
 *   DRASYNC_EUPGRADE, DRASYNC_EORDER
 *                     this rank holds it or what is above it for READ, or a part
 *                     of it: take it when that is released
 */
int drasync_take(int rank, int tag, uint64_t timeout_us,
                 drasync_region_t *region_out, struct drasync_gift *gift_out);

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_GIVE_H */
