/*
 * drasync/managed.h - part of drasync.h: regions that end when nobody refers to them.
 */
#ifndef DRASYNC_PART_MANAGED_H
#define DRASYNC_PART_MANAGED_H

#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Where nobody knows who uses a region last, let it be managed: it lives while
 * ranks have references to it, and ends, with its objects and subregions, when
 * the last one is given back.  References belong to ranks and are counted; they
 * are no holds: who refers to a region acquires it as ever, and a region that is
 * held lives on until it is released.  What ends is deleted by a rank of the
 * node that made it, in one of the calls below; while no rank there calls any,
 * it lingers.  What was held when it was to end lingers until drasync_collect() is
 * called there, or drasync_manage() with 64 such regions or more.  Regions that
 * are linked in a circle end in drasync_collect() by a rank of a node that made
 * one of them, wherever the others are.  A rank may acquire such a region by its
 * bare address, without a reference or a link, while the circle ends.  Then it
 * can get no reference, the regions that it links to are gone, and it ends at its
 * release.
 *
 * A call below may end regions, which takes as long as drasync_delete().  All
 * may return DRASYNC_ENOMEM, and DRASYNC_ERUNNING in a function that
 * drasync_run() runs.
 */

/*
 * From now on @region, a root region that this rank holds, ends by itself; this
 * rank has the first reference.  drasync_delete() refuses it; on a node that has
 * no reference to it, it may be deleted.
 *   DRASYNC_EINVAL    it is a subregion, which ends with what is above it
 *   DRASYNC_EMANAGED  it is managed already: drasync_ref()
 *   DRASYNC_ENOTHELD, DRASYNC_ENOREGION
 */
int drasync_manage(drasync_region_t region);

/*
 * One reference more, for a rank of a node that has some, or that holds @region.
 * Without a message where the node has some.
 *   DRASYNC_EINVAL    @region is not managed
 *   DRASYNC_ENOTHELD, DRASYNC_ENOREGION  no rank here refers to it, nor does
 *                     this one hold it
 */
int drasync_ref(drasync_region_t region);

/*
 * Give one back.  Nobody is waited for, unless it was the last of all, and this
 * node made the region: then it ends here.
 * References are counted by node: a rank may give back what another rank of its
 * node was given.  What a link has is not theirs.
 *   DRASYNC_EINVAL    this node's ranks have none
 */
int drasync_unref(drasync_region_t region);

/*
 * Give one of this node's, so its ranks have one less, to @rank: drasync_ref()
 * first, to keep one.  @rank has the reference before this rank loses its own.  The
 * handle is sent by other means, such as MPI_Send() after this call.  One round
 * trip, if @rank is of another node.
 *   DRASYNC_EINVAL    no such rank, or this node's ranks have none
 */
int drasync_ref_give(drasync_region_t region, int rank);

/*
 * The data of @from, a managed region that this rank holds, has pointers into
 * @to, a managed one: that has a reference more, until drasync_unlink(), or
 * until @from has ended.  Each call counts; the rank that unlinks may be another
 * one, of any node.  Who holds an older version of @from
 * for READ does not keep what was unlinked since.
 *   DRASYNC_EINVAL    one of them is not managed; unlink: there is no such link
 *   DRASYNC_ENOTHELD, DRASYNC_ENOREGION  this rank does not hold @from; no rank
 *                     here refers to @to, nor does this one hold it
 */
int drasync_link(drasync_region_t from, drasync_region_t to);
int drasync_unlink(drasync_region_t from, drasync_region_t to);

/* Names a region without keeping it.  It may be copied, sent and stored
 * anywhere, and means the same on all ranks of the job. */
typedef struct {
    uint64_t word[2];
} drasync_weak_t;

/*
 * A weak handle of @region, to which this node refers or which this rank holds.
 *   DRASYNC_EINVAL    @region is not managed
 *   DRASYNC_ENOTHELD, DRASYNC_ENOREGION  as drasync_ref()
 */
int drasync_weak(drasync_region_t region, drasync_weak_t *weak_out);

/*
 * A reference to the region that @weak names, if it is there still; never one to
 * a later region of that address.
 *   DRASYNC_EDELETED  it has ended
 *   DRASYNC_EINVAL    not a weak handle, or one of another job
 */
int drasync_weak_lock(const drasync_weak_t *weak, drasync_region_t *region_out);

/*
 * Have @call called once, when @region, to which this node refers, has ended: on
 * this rank, in one of these calls or in drasync_collect(), without any lock.
 * @region is a name by then: nothing lives there, and the address may be another
 * region's.  Not called for what lives until MPI_Finalize.
 *   DRASYNC_EINVAL    this node's ranks have no reference; or @call is NULL
 */
typedef void drasync_end_fn(drasync_region_t region, void *arg);
int drasync_on_end(drasync_region_t region, drasync_end_fn *call, void *arg);

/*
 * End what nobody refers to and nobody holds, of the regions that this node
 * made, as far as it knows, and circles, also of those that other nodes made or
 * have met; and call what drasync_on_end() asked for.  Circles are looked for if
 * there are links: other ranks of the node wait meanwhile in calls on references.
 * Other nodes are asked, one after another, only if they may refer to such
 * regions.  The data of what ends comes to this node first.  A call for a
 * reference to such a region waits meanwhile.  A circle may be left to the next
 * call if a reference to it, or a message about one, is on its way.
 */
int drasync_collect(void);

struct drasync_managed_stats {
    uint64_t managed; /* regions that this node made, ever */
    uint64_t ended;   /* of these */
    uint64_t unused;  /* of these, not referred to, and not ended yet */
};

int drasync_get_managed_stats(struct drasync_managed_stats *stats_out);

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_MANAGED_H */
