/*
 * team_call.h - MPI's collective operations on a team's communicator.
 *
 * Whoever calls one of them for a team does it through this, for two reasons.
 *
 * Waiting.  MPICH waits without ever giving the processor away: with more units
 * on a host than processors, a barrier takes as many of the system's time slices
 * as it has steps, 15 ms instead of 20 us.  So there the operation is only
 * begun, and this unit tests and yields.
 *
 * Tickets.  Teams that share a communicator (roster.h) may be used by several
 * threads at a time, each its own team, but MPI wants the operations of one
 * communicator in one order on all members.  So, if there may be threads, an
 * operation on a shared one first waits until it has begun on all members, and
 * then the first of them says which it is in the order.  Nobody waits in that
 * order for an operation that some member has yet to begin.
 */
#ifndef DRASYNC_FRONTS_DART_TEAM_CALL_H
#define DRASYNC_FRONTS_DART_TEAM_CALL_H

#include <mpi.h>

#include "fronts/dart/team.h"

/*
 * The same on all units, from team_start() on.  Units poll if there are more of
 * them on a host than processors, or if some do the progress thread's work while
 * they wait: units of other nodes that want something of them get it at once.
 */
extern bool teams_poll;
extern bool teams_threads; /* a program may call from several threads */

extern _Thread_local MPI_Request team_request;

/* Wait for team_request, if it could be begun.  Returns MPI's error. */
int team_wait(int error);

/* Wait in the same way until @over, which looks into MPI. */
void team_poll(bool (*over)(void *arg), void *arg);

/* What @call or @begin (the same, and a request) says, on its way through here. */
#define WAITING(call, begin, ...)                              \
    (teams_poll ? team_wait(begin(__VA_ARGS__, &team_request)) \
                : call(__VA_ARGS__))

/* The same for a collective operation on the communicator of @team. */
#define TEAM_CALL(team, call, begin, ...)      \
    ((team)->tickets && team_ticket_wait(team) \
         ? MPI_ERR_OTHER                       \
         : team_ticket_end((team), WAITING(call, begin, __VA_ARGS__)))

/* Returns MPI's error; without one the next operation is this thread's. */
int team_ticket_wait(const struct team *team);
void team_ticket_done(const struct team *team);

static inline int team_ticket_end(const struct team *team, int error)
{
    if (team->tickets)
        team_ticket_done(team);
    return error;
}

/* Often used.  They return MPI's error. */
int team_barrier(const struct team *team);
int team_allreduce(const struct team *team, void *values, int count,
                   MPI_Datatype type, MPI_Op op);
int team_allgather(const struct team *team, const void *mine, void *all,
                   size_t bytes);

#endif /* DRASYNC_FRONTS_DART_TEAM_CALL_H */
