/*
 * roster.h - lists of members, and the communicators over them.
 *
 * MPI has few communicators (MPICH about 2,000), and lists of members are long
 * in a large job: teams of the same members have the list in common, and past
 * COMMS_MAX communicators the communicator too.  Local; thread-safe.
 */
#ifndef DRASYNC_FRONTS_DART_ROSTER_H
#define DRASYNC_FRONTS_DART_ROSTER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "dash/dart/if/dart.h"

#define COMMS_MAX 1000

struct team_comm {
    MPI_Comm comm;
    dart_team_t made_for; /* names it: the same on all members */
    int teams;
    struct team_comm *previous, *next;
};

struct roster {
    uint64_t hash;
    int size;
    int teams;
    struct team_comm *comms; /* the latest first */
    struct roster *next;
    dart_unit_t units[];
};

uint64_t roster_hash(const dart_unit_t *units, int size);

/* The list of these, ascending; NULL: no memory.  To be dropped. */
struct roster *roster_take(const dart_unit_t *units, int size);
void roster_drop(struct roster *roster);

/* The communicator that another team of these members would share: the latest
 * one.  NULL: there is none. */
struct team_comm *roster_comm(struct roster *roster);

/* A new one, used by one team; and one team more. */
void roster_comm_add(struct roster *roster, struct team_comm *comm);
void roster_comm_take(struct team_comm *comm);

/* Frees the communicator with its last team. */
void roster_comm_drop(struct roster *roster, struct team_comm *comm);

/* How many there are. */
int roster_comms(void);

#endif /* DRASYNC_FRONTS_DART_ROSTER_H */
