/*
 * lease_oracle.h - what ranks may be given, and see, of a tree of regions: told of
 * the calls of a run one by one, it fails the run that does not keep what drasync.h
 * promises.
 *
 * A region's data is the number of writes to it so far.  Time is counted in calls
 * of the oracle.  It is not instrumented: it orders nothing that the code under
 * test does not.
 */
#ifndef TESTS_STEP_LEASE_ORACLE_H
#define TESTS_STEP_LEASE_ORACLE_H

#include <stdbool.h>

#include "drasync.h"

/* Before a run: @count regions as of world_begin_tree(), and how many threads
 * each rank has. */
void oracle_begin(const int *parent, int count, const int *threads);

/* @above is above @region, or the same. */
bool oracle_covers(int above, int region);

/* A call that asks for @region begins; the number of what it is about. */
int oracle_asks(int rank, int region, enum drasync_mode mode);

/* It has got that, or ends with @err; @waits: as long as it takes; @several: its
 * thread has asked for more at once.  True if it has a hold. */
bool oracle_answered(int hold, int err, bool waits, bool several);

/* Was anybody at work meanwhile on what @hold is about, above it or below? */
bool oracle_met(int hold, bool several);

/* A request that was given up. */
void oracle_cancelled(int hold);

/* It is going to be given back; and was. */
void oracle_gives(int hold);
void oracle_gave(int hold);

/* Within @hold, which covers @region: one write more is done; @value is there. */
void oracle_wrote(int hold, int region);
void oracle_saw(int hold, int region, int value);

/* oracle_saw() was told all of it, with no choice between. */
void oracle_saw_all(int hold);

#endif /* TESTS_STEP_LEASE_ORACLE_H */
