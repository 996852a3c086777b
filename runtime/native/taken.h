/*
 * taken.h - which thread of this rank took which hold.
 *
 * To the protocol a hold is the rank's.  Where a rank has a region for WRITE and
 * for READ at once, a release has to know which of them ends: the one that the
 * calling thread took last.  So what a thread acquired by a step is noted here,
 * region by region, in the order in which it was taken, until it is given back.
 *
 * Some holds are nobody's: those of who made the region, of a lease (lease.h),
 * of a thread that has ended, those that were granted but not yet returned to
 * who asked, and those that were taken before a second thread took anything, but
 * for READ below WRITE.  A thread without a note of its own gives back one of
 * these, WRITE first: as a rule it is the one that took it.
 * If there is none, it gives back what another thread took, the rank's last.
 *
 * With DRASYNC_CHECK (native.check) there are no leases and no region is
 * recycled, makers are noted too, and whoever gives back what another thread
 * took is told so, but for Myrmics programs (native.threads).
 *
 * A note is of one incarnation of an address, and void in the next.
 *
 * Thread-safe; the locks here are the last in their order.
 */
#ifndef DRASYNC_RUNTIME_NATIVE_TAKEN_H
#define DRASYNC_RUNTIME_NATIVE_TAKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "drasync.h"

/* This thread takes a hold.  Was it not the only one that ever did? */
bool native_taken_by_several(void);

/* Has this thread ever taken anything by a step? */
bool native_taken_any(void);

enum native_taken_by {
    NATIVE_TAKEN_BY_OTHERS, /* or there is no hold */
    NATIVE_TAKEN_BY_NOBODY, /* some are nobody's, and none is this thread's */
    NATIVE_TAKEN_BY_ME,
};

/* Who took the rank's @writes and @reads of the region at @address? */
enum native_taken_by native_taken_by(uint64_t address, uint64_t incarnation,
                                     uint32_t writes, uint32_t reads);

/* This thread took the region at @address for @mode.  DRASYNC_ENOMEM, and
 * nothing is noted. */
int native_taken_add(uint64_t address, uint64_t incarnation,
                     enum drasync_mode mode);

/*
 * A hold of the region at @address is given back by this thread, and the rank
 * has @writes and @reads of them, together at least one: for which mode?  Its
 * note goes.  *other_out: it is one that another thread took.
 */
enum drasync_mode native_taken_end(uint64_t address, uint64_t incarnation,
                                   uint32_t writes, uint32_t reads,
                                   bool *other_out);

/* What that would return now; nothing changes. */
enum drasync_mode native_taken_next(uint64_t address, uint64_t incarnation,
                                    uint32_t writes, uint32_t reads);

/* The region at @address is gone. */
void native_taken_forget(uint64_t address, uint64_t incarnation);

/* What this thread holds is nobody's from now on. */
void native_taken_thread_ends(void);

#endif /* DRASYNC_RUNTIME_NATIVE_TAKEN_H */
