/*
 * team.h - teams of the DART front: who is in them, and the communicator.
 */
#ifndef DRASYNC_FRONTS_DART_TEAM_H
#define DRASYNC_FRONTS_DART_TEAM_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dash/dart/if/dart.h"
#include "fronts/dart/segment.h"

struct team {
    dart_team_t id;
    MPI_Comm comm; /* ranks are units; perhaps shared with others */
    int size;
    int me;                   /* this unit in it */
    bool one_node;            /* all members are on this node */
    const dart_unit_t *units; /* [size] in MPI_COMM_WORLD, ascending */
    struct segment_table segments;
    uint64_t locks; /* made so far: the next one's home */
};

extern struct team *team_table[1 << 15];

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

/* Make DART_TEAM_ALL, and take down whatever teams are left. */
dart_ret_t team_start(void);
void team_stop(void);

#endif /* DRASYNC_FRONTS_DART_TEAM_H */
