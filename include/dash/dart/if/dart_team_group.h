/*
 * dart_team_group.h - groups, which are sets of units in one process, and
 * teams, which are sets of units that know of each other.
 *
 * Groups name units by their global numbers, and keep them in ascending order.
 * A unit's number in a team is its place in that order.  Calls on groups are
 * local and work on memory only; making and ending teams is collective.  A team
 * is found, and numbers are translated, in the same time however many teams
 * there are.
 */
#ifndef DART_TEAM_GROUP_H_INCLUDED
#define DART_TEAM_GROUP_H_INCLUDED

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Groups -------------------------------------------------------------- */

/* A group.  Those that a call gives are the caller's, until
 * dart_group_destroy(). */
typedef struct dart_group_struct *dart_group_t;

/*
 * Make a group without members.
 *   DART_ERR_INVAL  @group is NULL
 *   DART_ERR_NOMEM  *group is DART_GROUP_NULL
 */
dart_ret_t dart_group_create(dart_group_t *group) DART_NOTHROW;

/*
 * Free a group; *group becomes DART_GROUP_NULL, and if it is that already
 * nothing happens.
 *   DART_ERR_INVAL  @group is NULL
 */
dart_ret_t dart_group_destroy(dart_group_t *group) DART_NOTHROW;

/*
 * Make a group with the members of another, of either of two, or of both of
 * two.  One thread.
 *   DART_ERR_INVAL  something is NULL
 *   DART_ERR_NOMEM  *gout is DART_GROUP_NULL
 */
dart_ret_t dart_group_clone(const dart_group_t gin,
                            dart_group_t *gout) DART_NOTHROW;
dart_ret_t dart_group_union(const dart_group_t g1, const dart_group_t g2,
                            dart_group_t *gout) DART_NOTHROW;
dart_ret_t dart_group_intersect(const dart_group_t g1, const dart_group_t g2,
                                dart_group_t *gout) DART_NOTHROW;

/*
 * Add a unit to the group, or take it out.  Adding a member, and taking out a
 * unit that is none, change nothing.  One thread.
 *   DART_ERR_INVAL  no group, or the job has no such unit
 *   DART_ERR_NOMEM
 */
dart_ret_t dart_group_addmember(dart_group_t g,
                                dart_global_unit_t unitid) DART_NOTHROW;
dart_ret_t dart_group_delmember(dart_group_t g,
                                dart_global_unit_t unitid) DART_NOTHROW;

/*
 * *ismember is 1 if the unit is in the group, else 0.  One thread.
 *   DART_ERR_INVAL  something is NULL
 */
dart_ret_t dart_group_ismember(const dart_group_t g, dart_global_unit_t unitid,
                               int32_t *ismember) DART_NOTHROW;

/*
 * The number of members, and the members: @unitids has room for so many, and
 * gets them in ascending order.  One thread.
 *   DART_ERR_INVAL  something is NULL
 */
dart_ret_t dart_group_size(const dart_group_t g, size_t *size) DART_NOTHROW;
dart_ret_t dart_group_getmembers(const dart_group_t g,
                                 dart_global_unit_t *unitids) DART_NOTHROW;

/*
 * Divide the members, in ascending order, among @n groups whose sizes differ
 * little; *nout is how many of them have members.  @gout has room for @n
 * groups, all of which are made; those after the first *nout are empty.  One
 * thread.
 *   DART_ERR_INVAL  something is NULL, or @n is 0
 *   DART_ERR_NOMEM  *nout is 0
 */
dart_ret_t dart_group_split(const dart_group_t g, size_t n, size_t *nout,
                            dart_group_t *gout) DART_NOTHROW;

/*
 * Divide the members by where they run: those in the same part of @domain, at
 * @scope (dart_locality.h), stay together.  If there are more parts than @n,
 * several share a group.  *nout groups are made, at most @n.  One thread.
 *   DART_ERR_INVAL  something is NULL, or @n is 0
 *   DART_ERR_NOTFOUND  the domain has no part at that scope
 *   DART_ERR_NOMEM  *nout is 0
 */
dart_ret_t dart_group_locality_split(const dart_group_t g,
                                     dart_domain_locality_t *domain,
                                     dart_locality_scope_t scope, size_t n,
                                     size_t *nout,
                                     dart_group_t *gout) DART_NOTHROW;

/* --- Teams --------------------------------------------------------------- */

#define DART_TEAM_ALL   ((dart_team_t)0)
#define DART_TEAM_NULL  ((dart_team_t)-1)
#define DART_GROUP_NULL ((struct dart_group_struct *)NULL)

/*
 * The team's members, as a group that is the caller's.  Local; one thread.
 *   DART_ERR_INVAL  no such team here, or @group is NULL
 *   DART_ERR_NOMEM  *group is DART_GROUP_NULL
 */
dart_ret_t dart_team_get_group(dart_team_t teamid,
                               dart_group_t *group) DART_NOTHROW;

/*
 * Make a team of the units in @group, all of which are in the team @teamid.
 * Collective over @teamid; one thread.  All pass the same members; who is not
 * among them may pass DART_GROUP_NULL or an empty group.
 *
 * *newteam is the same number on all members of the new team, and differs from
 * those of all teams that one of them is in; DART_TEAM_NULL where the caller is
 * not in the new team (on all, if the group is empty on all: DART_OK too).
 * Units may also pass groups that have no member in common: they become teams
 * of the same number.
 *   DART_ERR_INVAL  no such team here; @newteam is NULL; a member of the group
 *                   is not in @teamid, or passed another group
 *   DART_ERR_NOMEM  also: no number is left (there are 32,767), or no
 *                   communicator of MPI (for about 1,900 sets of members)
 *   DART_ERR_OTHER  MPI failed
 * What only one unit finds wrong, or has no memory for, is an error on all, but
 * for @teamid: then the others wait for it.  On error *newteam is DART_TEAM_NULL.
 */
dart_ret_t dart_team_create(dart_team_t teamid, const dart_group_t group,
                            dart_team_t *newteam) DART_NOTHROW;

/*
 * End a team, with its memory and locks; *teamid becomes DART_TEAM_NULL, and if
 * it is that already nothing happens.  Collective; one thread.
 *   DART_ERR_INVAL  no such team here, DART_TEAM_ALL, or @teamid is NULL: the
 *                   others wait for this unit; on all units, with nothing
 *                   changed: somebody has a lock of the team, or waits for one
 *   DART_ERR_NOMEM  likewise: a unit has none for a message that completes what
 *                   it has put
 */
dart_ret_t dart_team_destroy(dart_team_t *teamid) DART_NOTHROW;

/*
 * Make another team with the same members.  Collective; one thread.
 *   DART_ERR_INVAL  no such team here, or @newteam is NULL
 *   DART_ERR_NOMEM  as dart_team_create()
 */
dart_ret_t dart_team_clone(dart_team_t team, dart_team_t *newteam) DART_NOTHROW;

/* --- Who is who ---------------------------------------------------------- */

/*
 * This unit's number in the team, and the number of its members.
 *   DART_ERR_INVAL  no such team here (*myid is undefined, *size 0), or NULL
 */
dart_ret_t dart_team_myid(dart_team_t teamid,
                          dart_team_unit_t *myid) DART_NOTHROW;
dart_ret_t dart_team_size(dart_team_t teamid, size_t *size) DART_NOTHROW;

/* The same for all units.  DART_ERR_INVAL: NULL */
dart_ret_t dart_myid(dart_global_unit_t *myid) DART_NOTHROW;
dart_ret_t dart_size(size_t *size) DART_NOTHROW;

/*
 * From a number in the team to the global one, and back; the latter in the time
 * of a binary search, and undefined, without an error, for a unit that is not
 * in the team.
 *   DART_ERR_INVAL  no such team here, no such unit, or NULL; what the pointer
 *                   points to is undefined
 */
dart_ret_t dart_team_unit_l2g(dart_team_t team, dart_team_unit_t localid,
                              dart_global_unit_t *globalid) DART_NOTHROW;
dart_ret_t dart_team_unit_g2l(dart_team_t team, dart_global_unit_t globalid,
                              dart_team_unit_t *localid) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART_TEAM_GROUP_H_INCLUDED */
