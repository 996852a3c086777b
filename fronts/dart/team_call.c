/* Collective calls of a team, on communicators of MPI. */
#include "fronts/dart/team_call.h"

#include <pthread.h>
#include <sched.h>

#include "fronts/dart/roster.h"

/* Tests before the processor is offered to others. */
#define TESTS_MAX 16

bool teams_poll, teams_threads;
_Thread_local MPI_Request team_request;

struct waiting {
    int error, done;
};

static bool is_over(void *arg)
{
    struct waiting *w = arg;

    w->error = MPI_Test(&team_request, &w->done, MPI_STATUS_IGNORE);
    return w->error || w->done;
}

void team_poll(bool (*over)(void *arg), void *arg)
{
    if (rma_help(over, arg))
        return;
    for (int tests = 0; !over(arg); tests++) {
        /* Others' transfers wait behind those of this unit. */
        rma_glance();
        if (tests >= TESTS_MAX) {
            tests = TESTS_MAX;
            sched_yield();
        }
    }
}

int team_wait(int error)
{
    struct waiting w = {.error = error};

    if (!error)
        team_poll(is_over, &w);
    return w.error;
}

/*
 * A word with another member.  Nobody else sends on the communicator of
 * DART_TEAM_ALL, and two units that are in a team are in no other of its number.
 */
static int tell(const struct team *team, int unit, uint64_t *ticket)
{
    return WAITING(MPI_Send, MPI_Isend, ticket, 1, MPI_UINT64_T,
                   team_rank(team, unit), team->id,
                   team_find(DART_TEAM_ALL)->comm);
}

static int receive(MPI_Comm all, const struct team *team, int unit,
                   uint64_t *ticket)
{
    int error = MPI_Irecv(ticket, 1, MPI_UINT64_T, team_rank(team, unit),
                          team->id, all, &team_request);

    return team_wait(error);
}

static int hear(const struct team *team, int unit, uint64_t *ticket)
{
    return receive(team_find(DART_TEAM_ALL)->comm, team, unit, ticket);
}

/* The operation has begun on all members: the first one gives it a number.  Up
 * and down a tree where the parent of a unit is the unit without its last 1. */
static int agree_ticket(const struct team *team, uint64_t *ticket)
{
    struct team_comm *comm = team->shared_comm;
    int step, error = MPI_SUCCESS;

    for (step = 1; step < team->size && !(team->me & step); step *= 2) {
        if (!error && team->me + step < team->size)
            error = hear(team, team->me + step, ticket);
    }
    if (error)
        return error;
    if (team->me) {
        error = tell(team, team->me & (team->me - 1), ticket);
        if (!error)
            error = hear(team, team->me & (team->me - 1), ticket);
    } else {
        pthread_mutex_lock(&comm->mutex);
        *ticket = comm->tickets++;
        pthread_mutex_unlock(&comm->mutex);
    }
    for (step /= 2; step && !error; step /= 2) {
        if (team->me + step < team->size)
            error = tell(team, team->me + step, ticket);
    }
    return error;
}

int team_ticket_wait(const struct team *team)
{
    struct team_comm *comm = team->shared_comm;
    uint64_t ticket = 0;
    int error = agree_ticket(team, &ticket);

    if (error)
        return error;
    pthread_mutex_lock(&comm->mutex);
    while (comm->now != ticket)
        pthread_cond_wait(&comm->next, &comm->mutex);
    pthread_mutex_unlock(&comm->mutex);
    return MPI_SUCCESS;
}

void team_ticket_done(const struct team *team)
{
    struct team_comm *comm = team->shared_comm;

    pthread_mutex_lock(&comm->mutex);
    comm->now++;
    pthread_cond_broadcast(&comm->next);
    pthread_mutex_unlock(&comm->mutex);
}

int team_barrier(const struct team *team)
{
    return TEAM_CALL(team, MPI_Barrier, MPI_Ibarrier, team->comm);
}

int team_allreduce(const struct team *team, void *values, int count,
                   MPI_Datatype type, MPI_Op op)
{
    return TEAM_CALL(team, MPI_Allreduce, MPI_Iallreduce, MPI_IN_PLACE, values,
                     count, type, op, team->comm);
}

int team_allgather(const struct team *team, const void *mine, void *all,
                   size_t bytes)
{
    return TEAM_CALL(team, MPI_Allgather, MPI_Iallgather, mine, (int)bytes,
                     MPI_BYTE, all, (int)bytes, MPI_BYTE, team->comm);
}
