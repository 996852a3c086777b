/*
 * dart_synchronization.h - locks of a team: one thread of one unit has it.
 *
 * Units get a lock in the order in which they asked for it.  Who waits does so
 * asleep, on its own node.  What was written under the lock, on the node or
 * with a put that was flushed, is seen by the next who gets it.
 */
#ifndef DART_SYNCHRONIZATION_H_INCLUDED
#define DART_SYNCHRONIZATION_H_INCLUDED

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A lock as this unit knows it; means nothing on other units. */
typedef struct dart_lock_struct *dart_lock_t;

#define DART_LOCK_NULL ((dart_lock_t)NULL)

/*
 * Make a lock.  Collective; one thread a team.  *lock is owned by the caller
 * until dart_team_lock_destroy(); DART_LOCK_NULL on error, which is one on all
 * units but for a team that this one is not in: then the others wait for it.
 *   DART_ERR_INVAL  no such team, or @lock is NULL
 *   DART_ERR_NOMEM
 */
dart_ret_t dart_team_lock_init(dart_team_t teamid,
                               dart_lock_t *lock) DART_NOTHROW;

/*
 * End a lock; *lock becomes DART_LOCK_NULL, and if it is that already nothing
 * happens.  Collective; one thread a team.  A team's locks end with the team.
 *   DART_ERR_INVAL  @lock is NULL, or was destroyed: the others wait for this
 *                   unit; on all units, with nothing changed: somebody has or
 *                   waits for it
 */
dart_ret_t dart_team_lock_destroy(dart_lock_t *lock) DART_NOTHROW;

/*
 * Take the lock, however long it takes.  It does not nest.
 *   DART_ERR_INVAL  no lock, or this thread has it
 *   DART_ERR_NOMEM  none for a message to another node
 *   DART_ERR_OTHER  a unit of the job died
 */
dart_ret_t dart_lock_acquire(dart_lock_t lock) DART_NOTHROW;

/*
 * Take it if nobody has it: *result is 1, else 0: since the call began somebody
 * had it, or waited for it.  Nobody is waited for.
 *   DART_ERR_INVAL  no lock, @result is NULL, or this thread has it
 *   DART_ERR_NOMEM, DART_ERR_OTHER  as above
 */
dart_ret_t dart_lock_try_acquire(dart_lock_t lock,
                                 int32_t *result) DART_NOTHROW;

/*
 * Give it to the next who waits.
 *   DART_ERR_INVAL  no lock, or this thread does not have it
 *   DART_ERR_NOMEM  as above; the thread has it as before
 *   DART_ERR_OTHER  as above
 */
dart_ret_t dart_lock_release(dart_lock_t lock) DART_NOTHROW;

/* Is it a lock that was made and not destroyed?  NULL is not. */
bool dart_lock_initialized(struct dart_lock_struct const *lock) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART_SYNCHRONIZATION_H_INCLUDED */
