/*
 * drasync.h - regions that lie at the same address on every rank of an MPI job
 * and are taken and given back like reader-writer locks.
 *
 * A region is a set of pages with one identity; its handle is its address.  It
 * may have subregions.  Pointers into regions stay valid on every rank.
 *
 * The rules, in short:
 *   - A hold covers the region and its subregions.  WRITE excludes every other
 *     hold granted later.  READ pins the version that was current when it was
 *     granted: a reader sees no later write, and never makes a writer wait.  A
 *     READ within a READ of the same rank sees that version too, so a rank that
 *     forgets to release reads what is old.  On a node, a WRITE while somebody
 *     READs copies the region first: where ranks take turns anyway, let readers
 *     release before (a barrier, or two regions in turn).
 *   - Holds belong to the rank, not to a thread; they nest and count.  A release
 *     gives back what the calling thread took last (see Threads).
 *   - A rank that creates a root region holds it for WRITE until it releases it.
 *     A subregion is created under a WRITE hold of its parent and is covered by
 *     that hold.
 *   - Memory of a region may be read under any hold and written, allocated and
 *     freed under WRITE only.
 *   - An acquire takes a region part by part: itself, then its subregions in the
 *     order in which they were created, each with what is below it.  Ranks that
 *     have several regions at a time never wait in a ring if all take them in
 *     that order; otherwise they may, with a rank that acquires an ancestor.
 *   - Ancestors first: acquiring a region while holding one of its subregions,
 *     but not the region itself, is DRASYNC_EORDER.  Requests of one rank that
 *     wait at once (of several threads, or non-blocking) follow the same rule:
 *     one for a subregion of what was asked for earlier begins when that is
 *     decided; one for what is above an earlier one ends with DRASYNC_EORDER if
 *     the subregion is there first.  In the same way a WRITE request ends with
 *     DRASYNC_EUPGRADE if a READ request of its rank is granted first.
 *
 * Threads of a rank share its holds: while one of them has a region, any may do
 * with it what the hold allows, and a call by any asks as the rank.
 *   - WRITE by two threads nests: each has it until it gives its own back.  The
 *     threads must keep each other from writing at once; DRASync does not.  The
 *     rank has the region as long as one of them does: where their holds overlap
 *     without end, other ranks wait without end.
 *   - READ while another thread has WRITE is granted, and sees what that thread
 *     writes; from the end of that WRITE on it pins what is there then.  If the
 *     rank still holds a part for WRITE then, or memory is short, the READ keeps
 *     the strength of WRITE until its release: other ranks wait for it.
 *   - WRITE while the rank has READ only is DRASYNC_EUPGRADE, whichever threads
 *     they are: it may be asked for again once those have released.
 *   - What is newer (drasync_acquire_newer()) is refused in the same way while
 *     the rank has READ or WRITE, with DRASYNC_ENESTED.  A call that already
 *     waits returns it too, when another thread of the rank gets a hold of an
 *     older version.
 *   - A thread takes a hold when its call returns it: of a request that is the
 *     thread whose drasync_test() or drasync_wait() gives 0.
 *   - A hold may be handed to another thread.  A thread that took nothing of the
 *     region, or has given it all back, gives back what another thread took; if
 *     the rank has READ and WRITE it is not said which of them.  So it is with
 *     what a thread had when it ended.  With DRASYNC_CHECK it is told on
 *     stderr, once for each place of the program.
 *   - As with MPI, a thread that is in a call must not be cancelled, and a
 *     signal handler must not make calls.
 *
 * The library starts inside MPI_Init or MPI_Init_thread when the program refers
 * to any of these calls, or at the first call if MPI was not started, which
 * then starts MPI.  Where it could not see MPI_Init (MPI's library comes before
 * libdrasync in the link order, or DRASync was loaded later), every rank calls
 * drasync_init() after it; until then other calls return DRASYNC_ENOTREADY, the
 * first with a line on stderr, unless the rank is alone.
 *
 * Unless said otherwise a call is thread-safe, not collective, and on error has
 * changed nothing.  Any call may return DRASYNC_ENOTREADY (MPI is finalized, or
 * was started unseen, or this is a child of fork), DRASYNC_ESTART (the library
 * could not start: a variable's value is refused, or a limit of the system is
 * in the way; one line on stderr has said which; or, for other reasons, the error
 * that drasync_init() lists), DRASYNC_EPEER (a rank of the job died; calls that do
 * not wait, such as drasync_try_acquire() and drasync_test(), return it as well)
 * or DRASYNC_EINTERNAL; DRASYNC_EINVAL if a pointer for its result is NULL; and
 * DRASYNC_ERUNNING inside a function that drasync_run() runs, unless it
 * allocates, frees, sets or gets a root, finds an object's region, or is
 * drasync_get_info(), which has the version too, drasync_get_stats(),
 * drasync_register(), drasync_running(), or explains an error.
 * DRASYNC_EINTERNAL from an allocator means, nearly always, that the program wrote
 * over the region's memory.  With DRASYNC_ON_DEATH=continue the ranks of one node
 * go on when one of them dies: then every call that takes a hold of what that was
 * writing, or of what is above it, returns DRASYNC_ELOST until it is deleted
 * (docs/reliability.md).
 *
 * This file has regions, holds, objects, questions, names and the calls of the
 * paper.  It includes drasync/base.h (handles, modes, errors), drasync/give.h
 * (regions from rank to rank), drasync/ahead.h (hints), drasync/managed.h
 * (regions that end by themselves), drasync/request.h (holds without waiting),
 * drasync/save.h (files) and drasync/run.h (work that goes to the data).  After Symeonidou, Pratikakis, Nikolopoulos,
 * Bilas: DRASync, IJHPCA 2014, sec. 2.
 */
#ifndef DRASYNC_H
#define DRASYNC_H

#include <stddef.h>
#include <stdint.h>

#include "drasync/ahead.h"
#include "drasync/base.h"
#include "drasync/give.h"
#include "drasync/managed.h"
#include "drasync/request.h"
#include "drasync/run.h"
#include "drasync/save.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Start and end; both optional ----------------------------------------- */

/*
 * Start the library now.  Collective over MPI_COMM_WORLD, unless it runs
 * already.  Starts MPI (MPI_THREAD_MULTIPLE) if nobody has.  Needed only where
 * the library could not see MPI_Init.
 *
 *   DRASYNC_ETHREAD   MPI cannot be used by several threads, and there are
 *                     several nodes
 *   DRASYNC_EADDRESS  the address range is taken on some rank
 *   DRASYNC_ESTART    a DRASYNC_* variable has a value that is refused, or a
 *                     limit of the system (ulimit, descriptors) is too low, or
 *                     pages of memory have another size than 4 KiB
 *   DRASYNC_ENOMEM
 */
int drasync_init(void);

/*
 * End the library: collective; holds that are left are released, waiting
 * requests of others are served first.  MPI_Finalize does it by itself.  If
 * the library started MPI, it finalizes MPI at exit.  It cannot be started again:
 * calls return DRASYNC_ENOTREADY from then on.
 */
int drasync_finalize(void);

/* 1 if the library runs in this process, else 0. */
int drasync_running(void);

/* --- Regions -------------------------------------------------------------- */

/*
 * Make a root region, held by this rank for WRITE.
 *   DRASYNC_ENOMEM, DRASYNC_ENOSPACE, DRASYNC_ELIMIT
 */
int drasync_new_region(drasync_region_t *region_out);

/*
 * Make a subregion of @parent, which this rank must hold for WRITE (directly or
 * through an ancestor).  The hold of the parent covers the subregion.
 *   DRASYNC_EBUSY     another thread of this rank is deleting @parent
 *   DRASYNC_ELIMIT    4,096 levels of subregions
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_ENOTHELD, DRASYNC_ENOMEM,
 *   DRASYNC_ENOSPACE
 */
int drasync_new_subregion(drasync_region_t parent,
                          drasync_region_t *region_out);

/*
 * Delete @region, its objects and all its subregions, wherever they are.  This
 * rank must hold it for WRITE, or must be able to take it without waiting for a
 * holder (the call waits up to 0.1 s for the end of READs that have just been
 * granted elsewhere); holds of this rank inside the subtree end with it.  Requests
 * that wait for it, on any rank, return DRASYNC_EDELETED; on another node, one that
 * waits behind an earlier request of its rank for a region above does so only after
 * that.  Its addresses may be used again at once, so an old handle may name another
 * region then (DRASYNC_CHECK tells).
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED
 *   DRASYNC_EBUSY     another rank holds a part of it, or is acquiring it, or
 *                     saves it (drasync_save()); or READs an older version, which
 *                     this rank's WRITE hold does not exclude.  So a delete below
 *                     a held region may fail while others READ: try again, or
 *                     manage the region
 *   DRASYNC_EMANAGED  it ends by itself (drasync_manage()); on a node that has no
 *                     reference to it, it may be deleted
 *   DRASYNC_EUPGRADE  this rank holds it, or what is above it, for READ only
 *   DRASYNC_ENOMEM    it is another node's, and there is no place for its data
 *   DRASYNC_ELIMIT    as drasync_acquire() for WRITE
 */
int drasync_delete(drasync_region_t region);

/* What becomes of a region when a rank dies that has it for WRITE, and the others
 * go on (DRASYNC_ON_DEATH=continue). */
enum drasync_recovery {
    DRASYNC_RECOVERY_NONE = 0,     /* it is lost: DRASYNC_ELOST */
    DRASYNC_RECOVERY_PREVIOUS = 1, /* it is what it was before that hold */
};

/*
 * Say so of @region, of all its subregions, and of those that are made there
 * later.  It counts for WRITE holds that are granted from then on: what has not
 * been released since it was made is lost.  Any rank may call it, with or without
 * a hold, and none waits for another.
 *
 * With PREVIOUS each such hold begins with a copy of what it covers, which takes
 * that much more memory until it ends, and is never taken or given without a lock.
 * What the dead rank allocated, freed, grew by or made there is undone; regions
 * that it deleted there stay deleted.
 *
 * Where no death is survived it does nothing: without DRASYNC_ON_DEATH=continue,
 * and where there are several nodes.
 *   DRASYNC_EINVAL    @recovery is neither
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED
 *                     as far as this node knows: no other one is asked
 * Then drasync_acquire() for WRITE, and its other forms, return DRASYNC_ENOMEM where
 * there is no memory for the copy.
 */
int drasync_set_recovery(drasync_region_t region,
                         enum drasync_recovery recovery);

/* --- Holds ---------------------------------------------------------------- */

/*
 * Take a hold on @region and its subregions, however long it takes.
 *   DRASYNC_EINVAL    @mode is neither READ nor WRITE
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_EUPGRADE, DRASYNC_EORDER
 *   DRASYNC_ENOMEM    this node has no memory for the region's data
 *   DRASYNC_ELIMIT    WRITE: a part of it that another node has has more than
 *                     4,194,304 direct subregions
 *   DRASYNC_ELOST     a rank that died was writing it (see the top)
 *   DRASYNC_ENOTHELD  a thread that took nothing gave back this very hold
 *                     before the call was over
 *   DRASYNC_EDEADLK   with DRASYNC_DEADLOCK=error: this rank waits for one that
 *                     waits, maybe for others, for this one; drasync_wait() too
 */
int drasync_acquire(drasync_region_t region, enum drasync_mode mode);

/*
 * The same, waiting at most @timeout_us microseconds; DRASYNC_FOREVER waits
 * without limit.  With 0 the owner is asked, but no other holder is waited for.
 *   DRASYNC_EAGAIN    the time passed first, and no hold was taken
 */
int drasync_acquire_timed(drasync_region_t region, enum drasync_mode mode,
                          uint64_t timeout_us);

/* drasync_acquire_timed() with a timeout of 0. */
int drasync_try_acquire(drasync_region_t region, enum drasync_mode mode);

/*
 * The same, of a version of @region that is newer than *@version, which the
 * caller had from an earlier call; with 0 any is, as of drasync_acquire_timed().
 * It waits until a WRITE hold of the region, or of one above, that was granted
 * after *@version, to this rank or another, has been released.  *@version is then
 * the version held; for WRITE, the one that this rank is about to write.  So a
 * rank learns
 * that another one has written without a message or a barrier, and between hosts
 * the data comes with it:
 *
 *     uint64_t seen = 0;
 *     for (;;) {
 *         drasync_acquire_newer(box, DRASYNC_READ, &seen, DRASYNC_FOREVER);
 *         use(box);
 *         drasync_release(box);
 *     }
 *
 * Each WRITE hold makes a version, whether its rank writes or not, but a rank
 * that takes WRITE several times while nobody else has the region may make one
 * for all of them.  A rank may miss versions that are overwritten before it asks.
 * A call repeated after DRASYNC_EAGAIN may take over the first request, and get
 * the version that answered it.  WRITE of a subregion makes no version of what is
 * above it.  Where a rank died and what it wrote was taken back
 * (drasync_set_recovery()), that counts as written.  A waiting call blocks no other
 * rank's request and is part of no ring; that all ranks wait is reported as a ring
 * is.  But other threads of this rank that ask for a subregion meanwhile wait for
 * it, as for any earlier request above.  docs/guide.md, "Waiting for what others
 * write".
 *   DRASYNC_EINVAL    @version is NULL, or the region has had no such version: it
 *                     is another region's
 *   DRASYNC_ENESTED   *@version is not 0, and this rank holds the region,
 *                     whichever of its threads took it, also if that was while
 *                     this one waited.  Nothing has changed; it may be asked for
 *                     again once that hold has been released
 *   DRASYNC_EAGAIN    nobody wrote in time; *@version is unchanged after errors
 * and as drasync_acquire().
 */
int drasync_acquire_newer(drasync_region_t region, enum drasync_mode mode,
                          uint64_t *version, uint64_t timeout_us);

/*
 * The version of @region that this rank holds; under WRITE that of what it
 * writes.  The creator of a region sends this number with the handle, before or
 * after its release: ranks that pass it to drasync_acquire_newer() wait for the
 * first WRITE after that release.
 *   DRASYNC_EINVAL    @version_out is NULL
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_ENOTHELD
 */
int drasync_get_version(drasync_region_t region, uint64_t *version_out);

/*
 * Give back one hold of @region: what this thread took last, or if it took
 * nothing, what another thread did (see Threads).  What was written under WRITE
 * is the new version once no WRITE is left.
 *   DRASYNC_ENOTHELD  this rank has no hold that was acquired on this region
 *   DRASYNC_ENOREGION
 */
int drasync_release(drasync_region_t region);

/* --- Objects -------------------------------------------------------------- */

/*
 * Allocate @size_bytes in @region, aligned to 16 bytes, not cleared.  Size 0
 * gives an address that is unique and may be freed.  Needs WRITE.
 *   DRASYNC_ENOMEM    also of any size above 4 TiB
 *   DRASYNC_ELIMIT    the region has grown 2^24 times
 *   DRASYNC_ENOREGION, DRASYNC_ENOTHELD, DRASYNC_ENOSPACE
 */
int drasync_alloc(drasync_region_t region, size_t size_bytes, void **ptr_out);

/*
 * Free one object.  Needs WRITE on its region.  NULL is ignored.  Its memory is
 * for objects of about that size of the same region from then on.  When a node
 * runs out of memory, regions give up the runs of pages they grew by that have
 * no objects left, if no other node knows the region, and the rank that needs
 * memory holds it for WRITE or nobody holds it.  The rest goes back when the
 * region is deleted.
 *   DRASYNC_ENOOBJECT (not in a region), DRASYNC_EALIGN, DRASYNC_EFREED,
 *   DRASYNC_ENOTHELD
 */
int drasync_free(void *ptr);

/*
 * Change an object's size and, if @region is not NULL, its region.  *ptr_out
 * is the object, moved or not; on error the old one is as it was.  @ptr NULL
 * allocates in @region.  Needs WRITE on both regions.  Errors are those of
 * drasync_alloc() and drasync_free().
 */
int drasync_realloc(void *ptr, size_t size_bytes, drasync_region_t region,
                    void **ptr_out);

/*
 * One pointer kept with the region's data, by which a rank that has only the
 * handle finds what is inside; NULL in a new region.  Setting needs WRITE,
 * getting any hold.
 *   DRASYNC_ENOREGION, DRASYNC_ENOTHELD
 */
int drasync_set_root(drasync_region_t region, void *ptr);
int drasync_get_root(drasync_region_t region, void **ptr_out);

/* --- Questions ------------------------------------------------------------ */

/*
 * The region whose page @ptr points into, as far as this node knows it.
 *   DRASYNC_ENOREGION
 */
int drasync_region_of(const void *ptr, drasync_region_t *region_out);

struct drasync_info {
    drasync_region_t region;
    drasync_region_t parent; /* NULL: a root region */
    uint64_t reserved_bytes; /* pages given to it, without subregions */
    uint64_t used_bytes;     /* allocated and not freed; 0 unless held */
    uint64_t extents;        /* runs of pages */
    uint64_t subregions;     /* direct ones this node knows */
    uint64_t version;        /* drasync_get_version(): grows with WRITE holds */
    int owner_node;          /* as far as this node knows */
    int owned_here;          /* 1: the current version is on this node */
    int held_read;           /* holds of this rank on this region itself */
    int held_write;
    int waiting; /* requests queued here */
};

/*
 * What is known about @region on this node now.
 *   DRASYNC_ENOREGION
 */
int drasync_get_info(drasync_region_t region, struct drasync_info *info_out);

struct drasync_stats {
    uint64_t acquires;        /* of this rank, granted */
    uint64_t acquires_waited; /* of these, not granted at once */
    uint64_t releases;
    uint64_t allocations;
    uint64_t frees;
    uint64_t messages_sent; /* of this node, all ranks */
    uint64_t messages_received;
    uint64_t bytes_sent; /* region data of this node, on the wire: pages, or
                            words that changed */
    uint64_t bytes_received;
    uint64_t bytes_copied;   /* region data copied inside the node */
    uint64_t chunk_requests; /* for more addresses */
    uint64_t regions;        /* alive and known on this node */
    uint64_t reserved_bytes; /* memory of this node behind region pages */
    int rank, ranks, node, nodes;
    uint64_t ahead_asked;      /* hints and subscriptions of this rank */
    uint64_t ahead_used;       /* on this node: acquired after it had come */
    uint64_t ahead_vain_bytes; /* on this node: sizes of regions that came, and
                                  were not acquired */
    uint64_t ahead_waited_us;  /* by this rank, for what it had asked ahead */
};

/* Counters since the start. */
int drasync_get_stats(struct drasync_stats *stats_out);

/* --- Names ---------------------------------------------------------------- */

/*
 * Give @region a name that every rank can look up.  The name goes with the
 * region when it is deleted; if other nodes know the region, when they have been
 * told, which the delete does not wait for.  Until then the name is taken, and
 * leads to a handle whose use is DRASYNC_EDELETED, or which names another region
 * by then, as any old handle may (drasync_delete()).
 *   DRASYNC_EINVAL    @name is empty or too long
 *   DRASYNC_EEXIST    a region has the name already, maybe this one
 *   DRASYNC_ELIMIT    1,048,576 names
 *   DRASYNC_ENOREGION, DRASYNC_ENOMEM
 */
int drasync_publish(const char *name, drasync_region_t region);

/*
 * The region published as @name, waiting at most @timeout_us for somebody to
 * publish it.
 *   DRASYNC_EAGAIN    nobody did
 *   DRASYNC_EINVAL    @name is empty or too long
 *   DRASYNC_ELIMIT    1,024 lookups of this node wait
 *   DRASYNC_ENOMEM
 */
int drasync_lookup(const char *name, uint64_t timeout_us,
                   drasync_region_t *region_out);

/* --- The calls of the paper, Fig. 1 --------------------------------------- */

/*
 * As printed there.  On error they print one line that says what was wrong and
 * end the job, as MPI does by default.  Define DRASYNC_NO_SHORT_NAMES before
 * including this header to leave them out: where another header has macros READ
 * and WRITE, say, of which the 1 would be taken for DRASYNC_READ.
 */
#ifndef DRASYNC_NO_SHORT_NAMES
typedef drasync_region_t region;
enum { READ = DRASYNC_READ, WRITE = DRASYNC_WRITE };

region new_region(void);
region new_subregion(region r);
void delete_region(region r);
void *ralloc(region r, size_t s);
void acquire_region(region r, int choice);
void release_region(region r);
#endif

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_H */
