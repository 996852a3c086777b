/*
 * dart.h - DART, the C interface under the C++ library DASH: a global address
 * space that is partitioned among the processes of an MPI job.
 *
 * The words:
 *   - A unit is a process of the job.  Its global number is its rank in
 *     MPI_COMM_WORLD; in a team it has another, from 0 without gaps.
 *   - A team is a set of units that do things together; DART_TEAM_ALL has all.
 *     A group is a list of units in one process, of which a team is made.
 *   - A global pointer (dart_gptr_t) names memory of a unit, and means the same
 *     on all units of its team.
 *   - A segment is what one collective allocation or registration gave: a part
 *     on each unit of the team.
 *   - A node is the units that share memory, usually those of one host.  On a
 *     node data is read and written in place; between nodes it travels.  No
 *     operation waits for a unit that computes.
 *
 * A call is local unless it says "collective": then all units of the team make
 * it, with the same arguments where they are not the unit's own, in the same
 * order as other collective calls of that team.  An error of a collective call
 * is the same on all of them, and none has anything then; but where a call is
 * wrong on some units only (no such team, NULL), these may return at once, and
 * the others wait for them for ever.
 *
 * Threads.  With DART_THREAD_MULTIPLE (dart_init_thread()) a call may be made
 * by any thread at any time unless it says one of these:
 *   one thread a team  two threads may be in such calls for different teams,
 *                      not for the same one
 *   one thread         no other thread is in a call on that object, or, if it
 *                      makes or ends teams, in such a call at all
 *
 * Errors that every call may return are at dart_ret_t (dart_types.h) and not
 * said again.  Where an output is named for the case of an error, it is set so;
 * otherwise outputs are as they were.  A call that fails also says why, in a
 * line on stderr, unless log_enabled of dart_config() is 0.
 *
 * docs/dart.md of DRASync says how the interface lies on its regions.
 */
#ifndef DART__DART_H_
#define DART__DART_H_

/* The version of the interface. */
#define DART_VERSION_STR "3.2.0"
#define DART_BUILD_STR   (__DATE__ " " __TIME__)

/* Locality and HDF5 have headers of their own: dart_locality.h, dart_io.h. */
#include "dart_types.h"
#include "dart_config.h"
#include "dart_initialization.h"
#include "dart_team_group.h"
#include "dart_globmem.h"
#include "dart_communication.h"
#include "dart_synchronization.h"

#endif /* DART__DART_H_ */
