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
 *     that order; else they may, with one that takes a region above.
 *   - Ancestors first: acquiring a region while holding one of its subregions,
 *     but not the region itself, is DRASYNC_EORDER.  Requests of one rank that
 *     wait at once (of several threads, or non-blocking) follow the same rule:
 *     one for a subregion of what was asked for earlier begins when that is
 *     decided; one for what is above an earlier one ends with DRASYNC_EORDER if
 *     the subregion is there first.  So it is with WRITE after READ, and
 *     DRASYNC_EUPGRADE.
 *
 * Threads of a rank share its holds: while one of them has a region, any may do
 * with it what the hold allows, and a call by any asks as the rank.
 *   - WRITE by two threads nests: each has it until it gives its own back, and
 *     it is theirs not to write at once.  The rank has the region as long as one
 *     of them does: where their holds overlap without end, other ranks wait
 *     without end.
 *   - READ while another thread has WRITE is granted, and sees what that thread
 *     writes; from the end of that WRITE on it pins what is there then.  Where
 *     the rank has WRITE of a part of it still, it is as good as WRITE instead,
 *     until it is released.
 *   - WRITE while the rank has READ only is DRASYNC_EUPGRADE, whichever threads
 *     they are: it may be asked for again once those have released.
 *   - What is newer (drasync_acquire_newer()) is refused in the same way while
 *     the rank has READ or WRITE, with DRASYNC_ENESTED; also to a thread that
 *     waits for it when another one gets such a hold, unless that is of what is
 *     newer.
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
 * in the way; one line on stderr has said which), DRASYNC_EPEER (a rank of the
 * job died; who asks in vain again and again is told, too) or
 * DRASYNC_EINTERNAL.  With DRASYNC_ON_DEATH=continue the ranks of one node go on
 * when one of them dies: then every call that takes a hold of what that was
 * writing, or of what is above it, returns DRASYNC_ELOST until it is deleted
 * (docs/reliability.md).  After Symeonidou, Pratikakis, Nikolopoulos, Bilas:
 * DRASync, IJHPCA 2014, sec. 2.
 */
#ifndef DRASYNC_H
#define DRASYNC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DRASYNC_VERSION "0.1.0"

/* A region's handle: its address, the same on every rank.  NULL is none. */
typedef struct drasync_region *drasync_region_t;

enum drasync_mode {
    DRASYNC_READ = 1,
    DRASYNC_WRITE = 2,
};

/*
 * Every error, with its text.  Values are stable.
 */
#define DRASYNC_ERRORS(X)                                                     \
    X(DRASYNC_OK, 0, "success")                                               \
    X(DRASYNC_EINVAL, -1, "an argument is not valid")                         \
    X(DRASYNC_ENOREGION, -2, "no region has this address")                    \
    X(DRASYNC_EDELETED, -3, "the region was deleted")                         \
    X(DRASYNC_EAGAIN, -4, "not available within the time given")              \
    X(DRASYNC_ENOTHELD, -5,                                                   \
      "this rank does not hold the region for what the call does: READ to "   \
      "look, WRITE to change it")                                             \
    X(DRASYNC_EUPGRADE, -6,                                                   \
      "WRITE asked for while this rank holds the region for READ only: "      \
      "release that first")                                                   \
    X(DRASYNC_EORDER, -7,                                                     \
      "this rank holds a subregion of the region it asks for: release that "  \
      "first, since ancestors come first")                                    \
    X(DRASYNC_EBUSY, -8, "another rank holds or waits for the region")        \
    X(DRASYNC_ENOMEM, -9,                                                     \
      "out of memory: DRASYNC_MEMORY, or the machine, gives this node no "    \
      "more")                                                                 \
    X(DRASYNC_ENOSPACE, -10, "out of region addresses: raise DRASYNC_SPACE")  \
    X(DRASYNC_ENOOBJECT, -11, "this node knows no region with this address")  \
    X(DRASYNC_EALIGN, -12, "the address is not aligned as objects are")       \
    X(DRASYNC_EFREED, -13,                                                    \
      "no object that is allocated starts at this address: it was freed, or " \
      "the address lies inside of one")                                       \
    X(DRASYNC_EEXIST, -14, "the name is published already")                   \
    X(DRASYNC_ENOTREADY, -15, "DRASync is not running in this process")       \
    X(DRASYNC_ETHREAD, -16, "MPI does not give MPI_THREAD_MULTIPLE")          \
    X(DRASYNC_EPEER, -17, "a rank of the job died")                           \
    X(DRASYNC_ELIMIT, -18, "a limit of this build was reached")               \
    X(DRASYNC_EADDRESS, -19, "no address range is free on all ranks")         \
    X(DRASYNC_EINTERNAL, -20, "internal error, please report")                \
    X(DRASYNC_EMODE, -21, "the mode this job runs in does not allow this")    \
    X(DRASYNC_ESTART, -22,                                                    \
      "DRASync could not start; a line on stderr says why")                   \
    X(DRASYNC_ENOFUNCTION, -23,                                               \
      "the rank that runs it has registered no function of this name: all "   \
      "ranks register before the first of them runs it")                      \
    X(DRASYNC_ERUNNING, -24,                                                  \
      "a function that drasync_run runs may not call this: it may not wait, " \
      "nor take or give holds; a line on stderr names it")                    \
    X(DRASYNC_EMANAGED, -25,                                                  \
      "the region is managed: it ends when its last reference is given back " \
      "by drasync_unref")                                                     \
    X(DRASYNC_EDEADLK, -26,                                                   \
      "ranks wait for each other in a ring, which this call has closed; the " \
      "report on stderr names them")                                          \
    X(DRASYNC_ENESTED, -27,                                                   \
      "this rank holds the region more than once, or holds what is above or " \
      "below it as well: release that first")                                 \
    X(DRASYNC_EFILE, -28,                                                     \
      "a file could not be written or read; a line on stderr says why")       \
    X(DRASYNC_EFORMAT, -29,                                                   \
      "it is no file of saved regions that this version can read, or not "    \
      "as it was written; a line on stderr says what is wrong")               \
    X(DRASYNC_ETAKEN, -30,                                                    \
      "addresses of saved regions are in use in this job, or outside of its " \
      "space: load before regions are made; a line on stderr names one")      \
    X(DRASYNC_EPHASE, -31,                                                    \
      "no iteration was begun: drasync_iteration comes before drasync_phase") \
    X(DRASYNC_ELOST, -32,                                                     \
      "a rank died that was writing the region, or a part of it, and its "    \
      "data is lost: delete that")

enum drasync_error {
#define DRASYNC_ERROR_ENUM(name, value, text) name = value,
    DRASYNC_ERRORS(DRASYNC_ERROR_ENUM)
#undef DRASYNC_ERROR_ENUM
};

/* The text of an error code; never NULL, not to be freed.  That of
 * DRASYNC_ENOTREADY says why, in this process, now. */
const char *drasync_strerror(int error);

/* The name of an error code, for example "DRASYNC_EAGAIN"; never NULL. */
const char *drasync_errname(int error);

/* The version of the library that runs, for example "0.1.0". */
const char *drasync_version(void);

/* No limit of time. */
#define DRASYNC_FOREVER UINT64_MAX

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
 * the library started MPI, it finalizes MPI at exit.
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
 *   DRASYNC_ENOREGION, DRASYNC_ENOTHELD, DRASYNC_ENOMEM, DRASYNC_ENOSPACE,
 *   DRASYNC_ELIMIT
 */
int drasync_new_subregion(drasync_region_t parent,
                          drasync_region_t *region_out);

/*
 * Delete @region, its objects and all its subregions, wherever they are.  This
 * rank must hold it for WRITE, or must be able to take it at once; holds of
 * this rank inside the subtree end with it.  Requests that wait for it, on any
 * rank, return DRASYNC_EDELETED.  Its addresses may be used again at once, so
 * an old handle may name another region then (DRASYNC_CHECK tells).
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED
 *   DRASYNC_EBUSY     another rank holds a part of it; also a version before
 *                     this rank's, which a WRITE does not wait for.  So a delete
 *                     below a held region may fail while others READ: try again,
 *                     or manage the region
 *   DRASYNC_EMANAGED  it ends by itself (drasync_manage())
 *   DRASYNC_EUPGRADE  this rank holds it for READ only
 *   DRASYNC_ENOMEM    it is another node's, and there is no place for its data
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
 * that it deleted there stay deleted.  A gift goes on with the hold that it is.
 *
 * Where no death is survived it does nothing: without DRASYNC_ON_DEATH=continue,
 * and where there are several nodes.
 *   DRASYNC_EINVAL    @recovery is neither
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED
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
 * It waits until a rank, this one or another, that took the region, or one above
 * it, for WRITE since that version has released it; *@version is that of what is
 * held then, for WRITE of what this rank is about to write.  So a rank learns
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
 * for all of them; versions that are written over before a rank asks are not
 * seen by it, unless it asks again after DRASYNC_EAGAIN: then what comes may be
 * what the first call asked for.  WRITE of a subregion makes none of what is
 * above it.  Where a rank died and what it wrote was taken back
 * (drasync_set_recovery()), that counts as written.  Who waits is an obstacle to
 * nobody, and in no ring; that all ranks wait is found as one.  docs/guide.md,
 * "Waiting for what others write".
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
 * writes.  Who makes a region tells others this with its handle, before or after
 * its release, and what they then wait for is the first that is written after
 * that release.
 *   DRASYNC_EINVAL    @version_out is NULL
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_ENOTHELD
 */
int drasync_get_version(drasync_region_t region, uint64_t *version_out);

/*
 * The non-blocking form.  *request_out is owned by the caller until
 * drasync_wait() returns, drasync_test() says it is done, or drasync_cancel().
 * The hold is there only when test or wait gave 0.  End a request before its
 * region is deleted: one that was granted is not told, and who ends it later may
 * give back a hold of what has the address by then.
 *
 * A request is a number.  Copies of it are the same request: the first call that
 * ends it has its result, and later ones with a copy return DRASYNC_EINVAL, as
 * does a call while another thread's with the same request is under way.
 *   DRASYNC_ELIMIT    4,194,304 requests are waiting or were not tested; and as
 *                     drasync_acquire()
 */
typedef struct drasync_request *drasync_request_t;
int drasync_iacquire(drasync_region_t region, enum drasync_mode mode,
                     drasync_request_t *request_out);

/*
 * Is it done?  *done_out becomes 1 and *request NULL if so, and the result is
 * that of drasync_acquire(), or the error that ends all requests; otherwise
 * *done_out is 0 and the result 0.
 *   DRASYNC_EINVAL    no such request is under way; nothing changes
 */
int drasync_test(drasync_request_t *request, int *done_out);

/* Wait until it is done, at most @timeout_us; the request lives on after
 * DRASYNC_EAGAIN and is NULL after any other result, but for DRASYNC_EINVAL as
 * above. */
int drasync_wait(drasync_request_t *request, uint64_t timeout_us);

/* Give a request up; if it was granted meanwhile, the hold is released.
 *   DRASYNC_EINVAL    as above */
int drasync_cancel(drasync_request_t *request);

/*
 * A hint: a rank of this node will acquire @region for @mode.  What it needs of
 * another node comes meanwhile; with READ the data, with WRITE the region itself,
 * if nobody uses it.  The call waits for nothing and holds nothing, and what it
 * asks for gives way to everybody who acquires.  Each hint is for one acquire,
 * which sends no message if the data is there and nobody has written since.
 *
 * DRASYNC_AHEAD=off ignores it.  A region that was never named in a hint, and is
 * READ again and again, comes without one: docs/ahead.md.
 *   DRASYNC_EINVAL    @mode is neither READ nor WRITE
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED  as far as this node knows
 */
int drasync_ahead(drasync_region_t region, enum drasync_mode mode);

/* Phases that a program may number. */
#define DRASYNC_PHASES_MAX 64

/*
 * Hints of a program that iterates, without naming regions: a rank says where its
 * iterations and their phases begin.  In the first iteration it is noted what the
 * rank acquires of other nodes in each phase, and had to wait for; from the next
 * on a phase begins with hints (as of drasync_ahead()) for what the phase after
 * it acquired, the first of the next iteration after the last.  What was asked in
 * vain is not asked again, and what was missed is added.
 *
 * drasync_iteration() ends the phase before it; what is acquired until the first
 * drasync_phase() is of no phase.  Each rank numbers its own phases, and does not
 * wait for others; of its threads one calls, while the others may acquire.
 * DRASYNC_AHEAD=off notes and asks nothing: docs/ahead.md.
 *   DRASYNC_ENOMEM    none for the notes
 */
int drasync_iteration(void);

/*
 * Phase @phase begins, and the one before it is over.  After the record/replay
 * of UPMlib (docs/migration.md).
 *   DRASYNC_EINVAL    @phase is negative
 *   DRASYNC_ELIMIT    @phase is not below DRASYNC_PHASES_MAX
 *   DRASYNC_EPHASE    no drasync_iteration() came before
 */
int drasync_phase(int phase);

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
 *   DRASYNC_ENOREGION, DRASYNC_ENOTHELD, DRASYNC_ENOMEM, DRASYNC_ENOSPACE
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
 * allocates in @region.  Needs WRITE on both regions.
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

/* --- Regions from rank to rank ------------------------------------------- */

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
 * @rank should neither hold a part of @region for READ, or what is above it, nor
 * wait for them: then it may not have WRITE (DRASYNC_EUPGRADE, DRASYNC_EORDER),
 * and the region is released instead, until @rank takes it.  So it is, between
 * nodes, where @rank's node has no memory for the data.
 *
 *   DRASYNC_EINVAL    there is no rank @rank, or @tag is negative
 *   DRASYNC_ENOREGION
 *   DRASYNC_ENOTHELD  this rank has no WRITE hold of @region itself
 *   DRASYNC_ENESTED   it has other holds of it, of what is above it or of what is
 *                     below: of other threads, or of its own
 *   DRASYNC_EBUSY     another thread of this rank is deleting or acquiring it, a
 *                     part of it or what it is a part of, or a request for one of
 *                     these that failed, as its time had passed or otherwise, is
 *                     still on its way: try again
 *   DRASYNC_ELIMIT    @rank has not taken 1,048,576 others (on its own node)
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
 *   DRASYNC_ERUNNING
 * and, of a region that stays to be taken, DRASYNC_ENOMEM, DRASYNC_EUPGRADE and
 * DRASYNC_EORDER as drasync_acquire().
 */
int drasync_take(int rank, int tag, uint64_t timeout_us,
                 drasync_region_t *region_out, struct drasync_gift *gift_out);

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
    uint64_t version;        /* grows with every WRITE hold released */
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
    uint64_t chunk_requests; /* to the manager */
    uint64_t regions;        /* alive and known on this node */
    uint64_t reserved_bytes; /* memory of this node behind region pages */
    int rank, ranks, node, nodes;
    uint64_t ahead_asked;      /* hints and subscriptions of this rank */
    uint64_t ahead_used;       /* on this node: acquired after it had come */
    uint64_t ahead_vain_bytes; /* on this node: came, and was not acquired */
    uint64_t ahead_waited_us;  /* by this rank, for what it had asked ahead */
};

/* Counters since the start. */
int drasync_get_stats(struct drasync_stats *stats_out);

/* --- Managed regions: they end when nobody refers to them ------------------ */

/*
 * Where nobody knows who uses a region last, let it be managed: it lives while
 * ranks have references to it, and ends, with its objects and subregions, when
 * the last one is given back.  References belong to ranks and are counted; they
 * are no holds: who refers to a region acquires it as ever, and a region that is
 * held lives on until it is released.  What ends is deleted by a rank of the
 * node that made it, in one of the calls below; while no rank there calls any,
 * it lingers.  Regions that are linked in a circle end in drasync_collect(), whoever
 * made them and wherever they are.  A rank that asks for one of them just then, by
 * an address that neither a reference nor a link was good for, may get it: no
 * reference to it is to be had, what it refers to has ended, and it ends when it
 * is released.
 *
 * A call below may end regions, which takes as long as drasync_delete().  All
 * may return DRASYNC_ENOMEM, and DRASYNC_ERUNNING in a function that
 * drasync_run() runs.
 */

/*
 * From now on @region, a root region that this rank holds, ends by itself; this
 * rank has the first reference.  drasync_delete() refuses it.
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
 * node was given.
 *   DRASYNC_EINVAL    this node's ranks have none
 */
int drasync_unref(drasync_region_t region);

/*
 * Give one of this node's, so its ranks have one less, to @rank: drasync_ref()
 * first, to keep one.  @rank has it before this rank has not.  The handle is told
 * it by other means, such as MPI_Send() after this call.  One round trip, if it
 * is on another node.
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
 * Only if other nodes may know more, all nodes are asked, one after another, and
 * what ends comes to this node first; who asks for a reference to that waits.  A
 * circle to which a reference, or a message that one was given back, is on its
 * way may be left to the next call.
 */
int drasync_collect(void);

struct drasync_managed_stats {
    uint64_t managed; /* regions that this node made, ever */
    uint64_t ended;   /* of these */
    uint64_t unused;  /* of these, not referred to, and not ended yet */
};

int drasync_get_managed_stats(struct drasync_managed_stats *stats_out);

/* --- Names ---------------------------------------------------------------- */

/* The longest name, in bytes, without the end. */
#define DRASYNC_NAME_MAX 63

/*
 * Give @region a name that every rank can look up.  The name goes with the
 * region when it is deleted; if other nodes know the region, when they have been
 * told, which the delete does not wait for.  Until then the name is taken, and
 * leads to a handle whose use is DRASYNC_EDELETED.
 *   DRASYNC_EINVAL (empty or too long), DRASYNC_EEXIST, DRASYNC_ENOREGION
 */
int drasync_publish(const char *name, drasync_region_t region);

/*
 * The region published as @name, waiting at most @timeout_us for somebody to
 * publish it.  DRASYNC_EAGAIN if nobody did.
 */
int drasync_lookup(const char *name, uint64_t timeout_us,
                   drasync_region_t *region_out);

/* --- Files of regions ----------------------------------------------------- */

/*
 * Write @region and its subregions to the file @path: their data, roots and
 * names.  What this rank holds for READ is saved as it sees it; else the current
 * version, which may have to be waited for as in drasync_acquire().  Others go on
 * meanwhile, and who writes, other threads of this rank too, does so to a version
 * of his own.  A rank that holds @region for WRITE saves what is there, and does
 * not write meanwhile.  While it is saved @region counts as read by another rank:
 * drasync_delete() is DRASYNC_EBUSY.
 *
 * The file is written under another name beside @path, PATH.saving-HOST-PID-N,
 * and takes the name @path when all of it is on the disk: who dies or fails
 * before that leaves what was there.  After an error nothing is left of it;
 * what a process of this host left that died goes when another one saves to
 * @path.
 * Ranks may save at once, each to a file of its own.  Managed regions are saved
 * as any other.
 *   DRASYNC_EINVAL    @path is NULL or empty
 *   DRASYNC_EFILE     the system refuses, say because the disk is full; or
 *                     DRASync was built without xxHash
 *   DRASYNC_ENOREGION, DRASYNC_EDELETED, DRASYNC_EORDER, DRASYNC_ENOMEM,
 *   DRASYNC_ERUNNING  as drasync_acquire() for READ
 *   DRASYNC_ELIMIT    more than 268,435,456 regions, or runs of pages
 */
int drasync_save(drasync_region_t region, const char *path);

/*
 * Make the regions that the file @path holds, at the addresses they had, so that
 * pointers into them are valid; their names are published.  *region_out is what
 * was saved, a root region now, held by this rank for WRITE as a new one is.  It
 * may be another job, with another number of ranks and nodes.  The addresses must
 * be free: it is best to load before regions are made.  Not collective.
 *   DRASYNC_EINVAL    an argument is NULL
 *   DRASYNC_EFILE     the system refuses
 *   DRASYNC_EFORMAT   not such a file, or of another version, cut, or altered
 *   DRASYNC_ETAKEN    an address is in use, or outside of this job's space
 *   DRASYNC_EEXIST    a name is published already
 *   DRASYNC_ENOMEM, DRASYNC_ELIMIT, DRASYNC_ERUNNING
 */
int drasync_load(const char *path, drasync_region_t *region_out);

/* --- Work that goes to the data ------------------------------------------- */

/*
 * A function that all ranks registered by name is run where a region is, which
 * then need not move: as GASNet's active messages, Grappa's delegate operations
 * and UPC++'s rpc() and rpc_ff() do.
 *
 * It runs on the node that owns the region, as if the caller had acquired the
 * region, called it and released the region.  On the caller's own node the
 * calling thread does just that.  On another node it runs in the process of the
 * node's lowest rank, on a thread that waits there in a call of DRASync's or
 * MPI's or on DRASync's own, and has the region for itself, for READ too.
 *
 * The function
 *   - gets the region, a copy of the argument, aligned to 8 bytes, and
 *     @answer_bytes cleared bytes for its answer (NULL if there are none);
 *   - may read, write, allocate and free in the region and its subregions, by
 *     addresses that are the same everywhere;
 *   - returns 0, or a number that the caller gets; negative ones are DRASync's;
 *   - may not acquire, release, wait, make or delete regions, use names or run:
 *     these calls return DRASYNC_ERUNNING, with a line on stderr that names it.
 *     Nor may it call MPI, or wait for a lock that a thread may have while it is
 *     in a call of DRASync's or MPI's: it may run on that very thread.  Several
 *     may run at a time, of regions that have nothing in common, threads of one
 *     rank or not;
 *   - should be short.  Until it returns, the owner's node serves no other node.
 *     DRASync adds some microseconds.
 *
 * What a thread runs on one region is done in the order of its calls.  Between
 * threads and between regions there is no order but what waiting for them makes.
 * Between nodes drasync_acquire() waits for what its thread ran on the region
 * before; else flush before you acquire what you run on.  Holds are the rank's
 * (see Threads): what one thread holds keeps out no function that another thread
 * of its rank runs.
 *
 * If the region moves while a run is under way, that is forwarded, up to
 * DRASYNC_RUN_HOPS_MAX times; the node where it then is acquires the region.
 * Where ranks hold the region a run waits with them, in order of arrival; and
 * for the lowest rank of the owner's node also while that has it for READ, so
 * that a rank should not wait, with a READ hold, for something that waits for a
 * run.
 */
typedef int drasync_function_fn(drasync_region_t region, const void *arg,
                                size_t arg_bytes, void *answer,
                                size_t answer_bytes);

/*
 * The same for many at once: it gets the @count arguments of runs of the region
 * that were collected one behind the other, 1 or more, in their order, each
 * aligned to 8 bytes; so they are @arg_bytes apart, rounded up to 8.  It has no
 * answer.  What it returns is the result of all of them.
 */
typedef int drasync_batch_fn(drasync_region_t region, const void *args,
                             size_t arg_bytes, size_t count);

/* A function that is registered; of this process, good until it ends. */
typedef struct drasync_function *drasync_function_t;

/* The longest argument and the longest answer, in bytes. */
#define DRASYNC_RUN_BYTES_MAX 4096

#define DRASYNC_RUN_HOPS_MAX 4

/*
 * Register @function as @name.  Addresses may differ between ranks, so it is the
 * name that tells them which.  Every rank registers, with a barrier between
 * that and the first run; the same again is no error.  May come before MPI_Init.
 *   DRASYNC_EINVAL  the name is empty or longer than DRASYNC_NAME_MAX, or
 *                   @function is NULL
 *   DRASYNC_EEXIST  another function has the name, or, which is unlikely, a
 *                   name with the same hash: choose another
 *   DRASYNC_ELIMIT  4,096 functions are registered
 */
int drasync_register(const char *name, drasync_function_fn *function,
                     drasync_function_t *function_out);

/*
 * The same for a function that takes many arguments at once, which is faster
 * where each of them means little work: drasync_run_ff() may collect hundreds.
 */
int drasync_register_batch(const char *name, drasync_batch_fn *function,
                           drasync_function_t *function_out);

/*
 * Run @function on @region under a hold for @mode, with a copy of @arg_bytes at
 * @arg, and wait until it is done: @answer_bytes of answer are at @answer then.
 * Returns what the function returned, or, if it was not called:
 *   DRASYNC_EINVAL    @mode is neither READ nor WRITE; @arg or @answer with
 *                     bytes is NULL; @function is not from drasync_register() in
 *                     this process (each rank has its own), or is a batch
 *                     function, which has no answer, and @answer_bytes is not 0
 *   DRASYNC_ELIMIT    more than DRASYNC_RUN_BYTES_MAX of argument or answer
 *   DRASYNC_ENOFUNCTION  where it was to run, no function has this name; or a
 *                     batch function has, and an answer was asked for
 *   DRASYNC_ERUNNING, DRASYNC_ENOREGION, DRASYNC_EDELETED
 *   DRASYNC_EUPGRADE, DRASYNC_EORDER  as drasync_acquire(), where the region is
 *                     on this node
 *   DRASYNC_ENOMEM
 * In the function, drasync_alloc() also returns DRASYNC_ENOSPACE where the
 * executing node has used up its own addresses, and a manager of more would
 * have to be asked.
 */
int drasync_run(drasync_region_t region, drasync_function_t function,
                enum drasync_mode mode, const void *arg, size_t arg_bytes,
                void *answer, size_t answer_bytes);

/*
 * The same without waiting: for drasync_test() and drasync_wait(), which give
 * what drasync_run() would.  @answer stays the library's until then.
 * drasync_cancel() does not stop it, but its answer is not wanted any more.
 */
int drasync_irun(drasync_region_t region, drasync_function_t function,
                 enum drasync_mode mode, const void *arg, size_t arg_bytes,
                 void *answer, size_t answer_bytes,
                 drasync_request_t *request_out);

/*
 * The same without an answer (fire and forget, as UPC++'s rpc_ff()), for many:
 * they are collected, those of one region run under one hold, and those for one
 * node travel in one packet.  It is done when drasync_run_flush() has returned.
 * It may be sooner: if there are many, some KiB for a region of this node, or 64
 * KiB for others; and where there are several nodes, when it has waited for some
 * milliseconds.  So who waits for its effect flushes first: on one node nobody
 * else sends it.  Flush also before anybody deletes the region: what is left is
 * refused then, or runs on a new region that has the address by then.
 *
 * The call waits while more than 1 MiB of the thread's runs are under way.  What
 * they return other than 0 is for drasync_run_flush(), as are their errors.  One
 * that is refused is not done, nor are those that were collected with it, as
 * where the region is on this node and another thread of this rank has it for
 * READ (DRASYNC_EUPGRADE), also by a run, or has a part of it (DRASYNC_EORDER);
 * which of them, nobody is told, so who cannot rule that out uses
 * drasync_irun(), which says it of each.  From the call itself come
 * DRASYNC_EINVAL, DRASYNC_ELIMIT, DRASYNC_ENOREGION (no region can have this
 * address), DRASYNC_ERUNNING and DRASYNC_ENOMEM.
 */
int drasync_run_ff(drasync_region_t region, drasync_function_t function,
                   enum drasync_mode mode, const void *arg, size_t arg_bytes);

/*
 * Wait until all that this thread ran is done, by drasync_irun() too.  0, or the
 * first result of drasync_run_ff() that was something else since the last flush.
 * MPI_Finalize and drasync_finalize() do this for all threads, and print a line
 * if such a result is left.
 */
int drasync_run_flush(void);

/* --- The calls of the paper, Fig. 1 --------------------------------------- */

/*
 * As printed there.  On error they print one line that says what was wrong and
 * end the job, as MPI does by default.  Define DRASYNC_NO_SHORT_NAMES before
 * including this header to leave them out.
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
