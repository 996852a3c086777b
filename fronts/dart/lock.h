/*
 * lock.h - the locks of a team, when the team ends.
 */
#ifndef DRASYNC_FRONTS_DART_LOCK_H
#define DRASYNC_FRONTS_DART_LOCK_H

#include "fronts/dart/team.h"

/*
 * The team is about to end: its locks go, and what the program still has of them
 * is good for dart_team_lock_destroy() only.  Collective over the team; @what is
 * the program's call.
 * DART_ERR_INVAL on all units, with nothing changed, if a unit has one of them
 * or waits for it.
 */
dart_ret_t locks_drop(const char *what, struct team *team);

#endif /* DRASYNC_FRONTS_DART_LOCK_H */
