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

/* Numbers are agreed on a few at a time: a window of so many words. */
#define WINDOW_WORDS   4
#define WINDOW_NUMBERS (WINDOW_WORDS * 64)
#define WINDOWS        (TEAMS_MAX / WINDOW_NUMBERS)

/* Those of a window that are in use, a bit each.  Thread-safe, like the rest. */
void team_numbers(int window, uint64_t used_out[WINDOW_WORDS]);
bool team_number_take(int number); /* false: it is taken */
void team_number_give(int number);

/* Of the bits that are 0 in @used the first from @from on, going round; -1:
 * there is none. */
int team_number_free(const uint64_t used[WINDOW_WORDS], int from);

/* Without a number and a communicator yet; takes over one use of @roster.  NULL:
 * no memory. */
struct team *team_new(struct roster *roster);

/* Into the table; the number is taken, the rest is there. */
void team_enter(struct team *team, int number);

/* Out of the table, with all that it has, its number, and its use of the
 * communicator and the roster. */
void team_drop(struct team *team);

/* One use less of a communicator.  Its number becomes free with the last one: as
 * long as it is there, it is no other's. */
void team_comm_leave(struct roster *roster, struct team_comm *comm);

#endif /* DRASYNC_FRONTS_DART_TEAM_MAKE_H */
