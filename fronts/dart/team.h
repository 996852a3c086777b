/*
 * team.h - teams of the DART front: who is in them, and the communicator.
 *
 * A team's fields do not change while it lives, but for those of the parts that
 * hang theirs on it.  Creating and destroying is the program's, collective and
 * by one thread at a time for a team; looking up is thread-safe.
 */
#ifndef DRASYNC_FRONTS_DART_TEAM_H
#define DRASYNC_FRONTS_DART_TEAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "dash/dart/if/dart.h"
#include "fronts/dart/segment.h"

#define TEAMS_MAX (1 << 15)

struct roster;
struct team_comm;

struct team {
    dart_team_t id;
    MPI_Comm comm; /* ranks are units; perhaps shared with other teams: MPI's
                      collective operations go through team_call.h */
    bool tickets;  /* other threads may be using it for another team */
    int size;
    int me;                   /* this unit in it */
    bool one_node;            /* all members are on this node */
    const dart_unit_t *units; /* [size] in MPI_COMM_WORLD, ascending */
    struct segment_table segments;
    uint64_t locks; /* made so far: the next one's home */
    int window;     /* where numbers for teams under it are looked for first, on
                       all units alike */
    struct dart_lock_struct *lock_first;

    struct roster *roster;         /* owns @units */
    struct team_comm *shared_comm; /* owns @comm */
};

extern struct team *team_table[TEAMS_MAX];

/* The team, or NULL if there is none of that number or this unit is not in it. */
static inline struct team *team_find(dart_team_t id)
{
    return id >= 0 ? team_table[id] : NULL;
}

/* The unit's rank in MPI_COMM_WORLD; @unit is in range. */
static inline int team_rank(const struct team *team, dart_unit_t unit)
{
    return team->units[unit];
}

/* The unit that has @rank in MPI_COMM_WORLD, or DART_UNDEFINED_UNIT_ID. */
dart_unit_t team_unit_of(const struct team *team, int rank);

/* All units of the team give their error and get the worst.  Collective. */
dart_ret_t team_agree(const struct team *team, dart_ret_t mine);

/* For a call that @what names: the team in *out, or DART_ERR_NOTINIT,
 * DART_ERR_INVAL with a line that says so. */
dart_ret_t team_get(const char *what, dart_team_t id, struct team **out);

/* Make DART_TEAM_ALL, and take down whatever teams are left. */
dart_ret_t team_start(void);
void team_stop(void);

#endif /* DRASYNC_FRONTS_DART_TEAM_H */
