/* team_make.h - putting teams into the table and taking them out; local. */
#ifndef DRASYNC_FRONTS_DART_TEAM_MAKE_H
#define DRASYNC_FRONTS_DART_TEAM_MAKE_H

#include "fronts/dart/roster.h"
#include "fronts/dart/team.h"

/* Not in the table yet, without a number; takes over one use of each.  NULL: no
 * memory. */
struct team *team_new(struct roster *roster, struct team_comm *comm);

/* Out of the table, with all that it has. */
void team_drop(struct team *team);

#endif /* DRASYNC_FRONTS_DART_TEAM_MAKE_H */
