/* The table of teams, DART_TEAM_ALL, and who is who in a team. */
#include "fronts/dart/team.h"

#include <stdlib.h>

#include "fronts/dart/front.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/team_make.h"

struct team *team_table[TEAMS_MAX];

dart_unit_t team_unit_of(const struct team *team, int rank)
{
    int low = 0, high = team->size;

    while (low < high) {
        int middle = low + (high - low) / 2;
        if (team->units[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < team->size && team->units[low] == rank
               ? low
               : DART_UNDEFINED_UNIT_ID;
}

dart_ret_t team_agree(const struct team *team, dart_ret_t mine)
{
    int worst = (int)mine;

    if (team_allreduce(team, &worst, 1, MPI_INT, MPI_MAX))
        return DART_ERR_OTHER;
    return (dart_ret_t)worst;
}

dart_ret_t team_get(const char *what, dart_team_t id, struct team **out)
{
    *out = NULL;
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    *out = team_find(id);
    if (!*out)
        return front_fail(DART_ERR_INVAL,
                          "%s: there is no team %d, or this unit is not in it",
                          what, (int)id);
    return DART_OK;
}

static struct roster *roster_of_all(void)
{
    int ranks = front_job->ranks;
    dart_unit_t *units = malloc((size_t)ranks * sizeof(*units));
    struct roster *roster;

    if (!units)
        return NULL;
    for (int i = 0; i < ranks; i++)
        units[i] = i;
    roster = roster_take(units, ranks);
    free(units);
    return roster;
}

/* The communicator comes first: without it nothing can be agreed. */
dart_ret_t team_start(void)
{
    struct team_comm *comm = team_comm_new();
    struct roster *roster = roster_of_all();
    struct team *team = roster ? team_new(roster) : NULL;
    int level = MPI_THREAD_SINGLE;
    MPI_Comm all;

    if (MPI_Comm_dup(MPI_COMM_WORLD, &all))
        goto fail;
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    /* What the program was told, not what MPI gave us. */
    MPI_Query_thread(&level);

    int any[3] = {!comm || !team, front_job->crowded || rma_far_used(),
                  level == MPI_THREAD_MULTIPLE};
    if (MPI_Allreduce(MPI_IN_PLACE, any, 3, MPI_INT, MPI_MAX, all) || any[0]) {
        MPI_Comm_free(&all);
        goto fail;
    }
    teams_poll = any[1];
    teams_threads = any[2];
    comm->comm = all;
    comm->number = DART_TEAM_ALL;
    roster_comm_add(roster, comm);
    team->shared_comm = comm;
    team_number_take(DART_TEAM_ALL);
    team_enter(team, DART_TEAM_ALL);
    return DART_OK;

fail:
    free(team);
    if (roster)
        roster_drop(roster);
    team_comm_free(comm);
    return DART_ERR_NOMEM;
}

void team_stop(void)
{
    for (int id = TEAMS_MAX - 1; id >= 0; id--) {
        if (team_table[id])
            team_drop(team_table[id]);
    }
}

dart_ret_t dart_team_myid(dart_team_t teamid, dart_team_unit_t *myid)
{
    struct team *team;
    dart_ret_t ret = team_get("dart_team_myid", teamid, &team);

    if (!myid)
        return front_fail(DART_ERR_INVAL, "dart_team_myid: NULL");
    myid->id = ret ? DART_UNDEFINED_UNIT_ID : team->me;
    return ret;
}

dart_ret_t dart_team_size(dart_team_t teamid, size_t *size)
{
    struct team *team;
    dart_ret_t ret = team_get("dart_team_size", teamid, &team);

    if (!size)
        return front_fail(DART_ERR_INVAL, "dart_team_size: NULL");
    *size = ret ? 0 : (size_t)team->size;
    return ret;
}

dart_ret_t dart_myid(dart_global_unit_t *myid)
{
    if (!myid)
        return front_fail(DART_ERR_INVAL, "dart_myid: NULL");
    myid->id = front_up ? front_job->rank : DART_UNDEFINED_UNIT_ID;
    return front_up
               ? DART_OK
               : front_fail(DART_ERR_NOTINIT, "dart_myid: DART does not run");
}

dart_ret_t dart_size(size_t *size)
{
    return dart_team_size(DART_TEAM_ALL, size);
}

dart_ret_t dart_team_unit_l2g(dart_team_t teamid, dart_team_unit_t localid,
                              dart_global_unit_t *globalid)
{
    struct team *team;
    dart_ret_t ret = team_get("dart_team_unit_l2g", teamid, &team);

    if (!globalid)
        return front_fail(DART_ERR_INVAL, "dart_team_unit_l2g: NULL");
    globalid->id = DART_UNDEFINED_UNIT_ID;
    if (ret)
        return ret;
    if (localid.id < 0 || localid.id >= team->size)
        return front_fail(DART_ERR_INVAL,
                          "dart_team_unit_l2g: team %d has no unit %d",
                          (int)teamid, (int)localid.id);
    globalid->id = team_rank(team, localid.id);
    return DART_OK;
}

dart_ret_t dart_team_unit_g2l(dart_team_t teamid, dart_global_unit_t globalid,
                              dart_team_unit_t *localid)
{
    struct team *team;
    dart_ret_t ret = team_get("dart_team_unit_g2l", teamid, &team);

    if (!localid)
        return front_fail(DART_ERR_INVAL, "dart_team_unit_g2l: NULL");
    localid->id = DART_UNDEFINED_UNIT_ID;
    if (ret)
        return ret;
    if (globalid.id < 0 || globalid.id >= front_job->ranks)
        return front_fail(DART_ERR_INVAL,
                          "dart_team_unit_g2l: the job has no unit %d",
                          (int)globalid.id);
    localid->id = team_unit_of(team, globalid.id);
    return DART_OK;
}
