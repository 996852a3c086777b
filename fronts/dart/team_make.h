/*
 * team_make.h - teams and their numbers, as this unit has them; all local.
 *
 * A number is taken before its team is made, so that two threads that make
 * teams at the same time do not choose the same.
 */
#ifndef DRASYNC_FRONTS_DART_TEAM_MAKE_H
#define DRASYNC_FRONTS_DART_TEAM_MAKE_H

#include "fronts/dart/roster.h"
#include "fronts/dart/team.h"

#define TEAM_WORDS (TEAMS_MAX / 64)

/* The numbers in use, a bit each.  Thread-safe, like the rest. */
void team_numbers(uint64_t used_out[TEAM_WORDS]);
bool team_number_take(int number); /* false: it is taken */
void team_number_give(int number);

/* Of the numbers that are 0 in @used the first from @from on, going round; -1:
 * there is none. */
int team_number_free(const uint64_t used[TEAM_WORDS], int from);

/* Without a number and a communicator yet; takes over one use of @roster.  NULL:
 * no memory. */
struct team *team_new(struct roster *roster);

/* Into the table; the number is taken, the rest is there. */
void team_enter(struct team *team, int number);

/* Out of the table, with all that it has, its number, and its use of the
 * communicator and the roster. */
void team_drop(struct team *team);

#endif /* DRASYNC_FRONTS_DART_TEAM_MAKE_H */
