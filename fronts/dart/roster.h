/*
 * roster.h - lists of members, and the communicators over them.
 *
 * MPI has few communicators (MPICH about 2,000), and lists of members are long
 * in a large job: teams of the same members have the list in common, and past
 * COMMS_MAX communicators the communicator too.  One that is shared is so from
 * the first team that it is made for, so that all members know.  Local;
 * thread-safe.
 */
#ifndef DRASYNC_FRONTS_DART_ROSTER_H
#define DRASYNC_FRONTS_DART_ROSTER_H

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "dash/dart/if/dart.h"

#define COMMS_MAX 128

struct team_comm {
    MPI_Comm comm;
    int number; /* of the team it was made for; names it: the same on all members,
                   and no other's as long as it is there */
    bool shared;
    int teams;

    /* The operations on a shared one in order (team_call.h). */
    pthread_mutex_t mutex;
    pthread_cond_t next; /* @now has changed */
    uint64_t tickets;    /* given, on the first member */
    uint64_t now;
};

struct roster {
    uint64_t hash;
    int size;
    int teams;
    struct team_comm *comm; /* the latest that is shared */
    struct roster *next;
    dart_unit_t units[];
};

uint64_t roster_hash(const dart_unit_t *units, int size);

/* The list of these, ascending; NULL: no memory.  To be dropped. */
struct roster *roster_take(const dart_unit_t *units, int size);
void roster_drop(struct roster *roster);

/* The communicator that another team of these members would share, used by that
 * team from now on.  NULL: there is none. */
struct team_comm *roster_comm_take(struct roster *roster);

/* A new one, used by one team, or NULL: no memory.  It is among those that there
 * are as soon as it is added, with its @comm. */
struct team_comm *team_comm_new(void);
void team_comm_free(struct team_comm *comm);
void roster_comm_add(struct roster *roster, struct team_comm *comm);

/* One team less.  True: it was the last, and the communicator is gone. */
bool roster_comm_drop(struct roster *roster, struct team_comm *comm);

/* How many there are. */
int roster_comms(void);

#endif /* DRASYNC_FRONTS_DART_ROSTER_H */
