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
 * Give @region, with all below it, to rank @rank, which may be this one: release
 * it, send its data to @rank's node, and tell @rank of it, in one message.  The
 * call waits for nobody.
 *
 * Nobody holds the region then.  @rank acquires it with drasync_take(); others, and
 * this rank too, may acquire it before, as after any release.  So who wants to see
 * what @rank did with it waits until @rank says that it is done, by a message or by
 * giving it back.  What @rank does not take is in nobody's way.
 *
 * Gifts of one thread to one rank arrive in their order.  References to a managed
 * region stay with who has them (drasync_ref_give()): without any it may have ended
 * before it is taken.
 *
 *   DRASYNC_EINVAL    there is no rank @rank, or @tag is negative
 *   DRASYNC_ENOREGION
 *   DRASYNC_EDELETED  it was deleted
 *   DRASYNC_ENOTHELD  this rank has no WRITE hold of @region itself
 *   DRASYNC_ENESTED   it has other holds of it, of what is above it or of what is
 *                     below: of other threads, or of its own, or by a request of
 *                     its own that was granted and is not waited for yet
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
 * any) with @tag (DRASYNC_ANY: with any), and acquire it for WRITE: the first one
 * that can be had at once, though not before another one of the same rank with the
 * same tag.  If there is none the call waits for the first gift, its data, and
 * others who hold it, at most @timeout_us; 0 does not wait.  *gift_out, which may
 * be NULL, says who gave it.  A region that was given twice is taken twice.
 *   DRASYNC_EINVAL    there is no rank @rank, @tag is negative and not
 *                     DRASYNC_ANY, or @region_out is NULL
 *   DRASYNC_EAGAIN    the time passed first; what was given stays to be taken
 *   DRASYNC_EDELETED  *region_out was given, as *gift_out says, and somebody has
 *                     deleted it since
 *   DRASYNC_EPEER     @rank has died and has left none; also where the job goes on
 *   DRASYNC_EDEADLK   with DRASYNC_DEADLOCK=error, as drasync_acquire(), once it
 *                     waits for others who hold the region
 *   DRASYNC_ERUNNING
 * and, if no other gift can be had, of one that stays, *region_out and *gift_out
 * as above,
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
