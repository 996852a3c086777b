/*
 * drasync/ahead.h - part of drasync.h: hints of what will be acquired.
 */
#ifndef DRASYNC_PART_AHEAD_H
#define DRASYNC_PART_AHEAD_H

#include <stdint.h>

#include "drasync/base.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 *   DRASYNC_ENOMEM    no memory to record acquires
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

#ifdef __cplusplus
}
#endif

#endif /* DRASYNC_PART_AHEAD_H */
