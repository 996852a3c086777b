/*
 * Making and ending teams.
 *
 * Two reductions over the parent: what numbers are free on all its units, and
 * whether somebody has an error; then, whether those who will be members named
 * the same ones and could take the number.  Units may name different groups, if
 * these have no member in common: they become teams of the same number.
 */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/group.h"
#include "fronts/dart/lock.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_make.h"

static const char create[] = "dart_team_create";

/* What keeps a team from being made, or says how: one unit has it, all know. */
enum {
    FLAG_INVAL = 1,
    FLAG_NOMEM = 2,
    FLAG_SHARE = 4, /* communicators become scarce */
};

struct offer {
    uint64_t used[TEAM_WORDS];
    uint64_t flags;
};

/*
 * Added up over the parent.  A member adds its hash, and the first member takes
 * off the hash as often as its group has members: so the sum is 0 if the members
 * of each group named the same.
 */
struct count {
    uint64_t members; /* 0 when they agree */
    uint64_t comms;   /* likewise: the communicator they would share */
    uint64_t without; /* members that have none to share */
    uint64_t lost;    /* members whose number was taken in between */
    uint64_t any;     /* members */
};

/* What this unit contributes; all NULL where it is not going to be a member. */
struct plan {
    const struct team *parent;
    const struct dart_group_struct *group;
    struct team *team;
    struct roster *roster;
    struct team_comm *comm;  /* a new one's record */
    struct team_comm *other; /* one that there is */
    int number;
};

static void plan_drop(struct plan *plan)
{
    free(plan->team);
    free(plan->comm);
    if (plan->roster)
        roster_drop(plan->roster);
}

/* Is every member in the parent? */
static bool plan_members_valid(const struct plan *plan)
{
    const struct dart_group_struct *g = plan->group;
    int k = 0;

    for (int i = 0; i < g->size; i++) {
        while (k < plan->parent->size && plan->parent->units[k] < g->units[i])
            k++;
        if (k == plan->parent->size || plan->parent->units[k] != g->units[i])
            return false;
    }
    return true;
}

/* Returns flags. */
static uint64_t plan_make(struct plan *plan)
{
    const struct dart_group_struct *g = plan->group;
    int me = front_job->rank, place;

    if (!g || !g->size)
        return 0;
    if (!plan_members_valid(plan)) {
        front_fail(DART_ERR_INVAL,
                   "%s: the group has a unit that is not in team %d", create,
                   (int)plan->parent->id);
        return FLAG_INVAL;
    }
    place = group_place(g, me);
    if (place == g->size || g->units[place] != me)
        return 0;
    plan->comm = calloc(1, sizeof(*plan->comm));
    plan->roster = roster_take(g->units, g->size);
    plan->team = plan->roster ? team_new(plan->roster) : NULL;
    if (!plan->team || !plan->comm)
        return FLAG_NOMEM;
    plan->other = roster_comm(plan->roster);
    return roster_comms() < COMMS_MAX ? 0 : FLAG_SHARE;
}

static uint64_t signature(const struct plan *plan, uint64_t salt)
{
    uint64_t hash = plan->roster->hash ^ salt * UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t members = (uint64_t)plan->team->size;

    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return plan->team->me == 0 ? hash - members * hash : hash;
}

/* Take a number that was free when the units told; all but @used changes. */
static dart_ret_t plan_number(struct plan *plan, uint64_t flags, int from,
                              const uint64_t *used, struct count *count)
{
    bool member = plan->team != NULL;

    plan->number = team_number_free(used, from);
    if (plan->number < 0)
        return front_fail(DART_ERR_NOMEM,
                          "%s: the units of team %d use all team numbers",
                          create, (int)plan->parent->id);
    memset(count, 0, sizeof(*count));
    if (member) {
        count->any = 1;
        count->members = signature(plan, 1);
        count->comms = signature(
            plan, plan->other ? (uint64_t)plan->other->made_for + 2 : 1);
        count->without = !plan->other || !(flags & FLAG_SHARE);
        count->lost = !team_number_take(plan->number);
        if (count->lost)
            plan->number = -1;
    }
    if (MPI_Allreduce(MPI_IN_PLACE, count, sizeof(*count) / sizeof(uint64_t),
                      MPI_UINT64_T, MPI_SUM, plan->parent->comm))
        return DART_ERR_OTHER;
    if (count->members)
        return front_fail(DART_ERR_INVAL,
                          "%s: the units of team %d named different members",
                          create, (int)plan->parent->id);
    return DART_OK;
}

/* Agree on a number; threads that make teams of several parents may be in each
 * other's way, and go apart. */
static dart_ret_t plan_agree(struct plan *plan, uint64_t flags,
                             struct count *count, uint64_t *flags_out)
{
    for (unsigned turn = 0;; turn++) {
        struct offer offer;
        unsigned from = turn * (unsigned)(plan->parent->id * 64 + 1);
        dart_ret_t ret;

        team_numbers(offer.used);
        offer.flags = flags;
        if (MPI_Allreduce(MPI_IN_PLACE, &offer,
                          sizeof(offer) / sizeof(uint64_t), MPI_UINT64_T,
                          MPI_BOR, plan->parent->comm))
            return DART_ERR_OTHER;
        *flags_out = offer.flags;
        if (offer.flags & FLAG_INVAL)
            return DART_ERR_INVAL;
        if (offer.flags & FLAG_NOMEM)
            return front_fail(DART_ERR_NOMEM, "%s: some unit has no memory",
                              create);
        ret = plan_number(plan, offer.flags, (int)(from % TEAMS_MAX),
                          offer.used, count);
        if (!ret && !count->lost)
            return DART_OK;
        if (plan->team && plan->number > 0)
            team_number_give(plan->number);
        if (ret)
            return ret;
    }
}

/* A communicator of the group's members. */
static dart_ret_t plan_communicator(struct plan *plan)
{
    const struct team *parent = plan->parent;
    int size = plan->team ? plan->team->size : 0;
    int *ranks = malloc((size_t)(size ? size : 1) * sizeof(*ranks));
    MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
    MPI_Comm comm = MPI_COMM_NULL;
    int err = MPI_ERR_NO_MEM;

    for (int i = 0; ranks && i < size; i++)
        ranks[i] = team_unit_of(parent, plan->team->units[i]);
    if (ranks && !MPI_Comm_group(parent->comm, &all) &&
        !MPI_Group_incl(all, size, ranks, &some))
        err = MPI_SUCCESS;
    /* Who cannot names nobody: then it is an error of MPI's on the others. */
    if (!err || all != MPI_GROUP_NULL)
        err =
            MPI_Comm_create(parent->comm, err ? MPI_GROUP_EMPTY : some, &comm);
    free(ranks);
    if (some != MPI_GROUP_NULL && some != MPI_GROUP_EMPTY)
        MPI_Group_free(&some);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    if (err || (plan->team && comm == MPI_COMM_NULL))
        return front_fail(DART_ERR_NOMEM,
                          "%s: MPI has no communicator left; teams of the same "
                          "members share one, so fewer sets of members help",
                          create);
    if (plan->team) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        plan->comm->comm = comm;
    }
    return DART_OK;
}

static dart_ret_t plan_finish(struct plan *plan, const struct count *count,
                              dart_team_t *newteam)
{
    bool share = !count->comms && !count->without;
    dart_ret_t ret = DART_OK;

    if (!share)
        ret = plan_communicator(plan);
    if (ret || !plan->team) {
        if (plan->team)
            team_number_give(plan->number);
        return ret;
    }
    if (share) {
        roster_comm_take(plan->other);
        plan->team->shared_comm = plan->other;
    } else {
        plan->comm->made_for = (dart_team_t)plan->number;
        roster_comm_add(plan->roster, plan->comm);
        plan->team->shared_comm = plan->comm;
        plan->comm = NULL;
    }
    team_enter(plan->team, plan->number);
    *newteam = plan->team->id;
    plan->team = NULL;
    plan->roster = NULL;
    return DART_OK;
}

dart_ret_t dart_team_create(dart_team_t teamid, const dart_group_t group,
                            dart_team_t *newteam)
{
    struct plan plan = {.group = group, .number = -1};
    struct count count;
    struct team *parent;
    uint64_t flags;
    dart_ret_t ret;

    if (newteam)
        *newteam = DART_TEAM_NULL;
    ret = team_get(create, teamid, &parent);
    if (ret)
        return ret;
    plan.parent = parent;
    flags = plan_make(&plan);
    if (!newteam) {
        front_fail(DART_ERR_INVAL, "%s: nowhere to put the new team", create);
        flags |= FLAG_INVAL;
    }
    ret = plan_agree(&plan, flags, &count, &flags);
    if (!ret && count.any)
        ret = plan_finish(&plan, &count, newteam);
    plan_drop(&plan);
    return ret;
}

dart_ret_t dart_team_clone(dart_team_t team, dart_team_t *newteam)
{
    struct team *parent;
    struct dart_group_struct members;
    dart_ret_t ret = team_get("dart_team_clone", team, &parent);

    if (newteam)
        *newteam = DART_TEAM_NULL;
    if (ret)
        return ret;
    members.size = members.room = parent->size;
    members.units = (dart_unit_t *)parent->units;
    return dart_team_create(team, &members, newteam);
}

dart_ret_t dart_team_destroy(dart_team_t *teamid)
{
    const char *what = "dart_team_destroy";
    struct team *team;
    dart_ret_t ret;

    if (!teamid)
        return front_fail(DART_ERR_INVAL, "%s: no team", what);
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    if (*teamid == DART_TEAM_NULL)
        return DART_OK;
    if (*teamid == DART_TEAM_ALL)
        return front_fail(DART_ERR_INVAL, "%s: DART_TEAM_ALL ends in dart_exit",
                          what);
    ret = team_get(what, *teamid, &team);
    if (ret)
        return ret;
    ret = locks_drop(team);
    if (ret)
        return ret;
    /* Nobody uses it any more, so what it has can go. */
    if (MPI_Barrier(team->comm))
        ret = front_fail(DART_ERR_OTHER, "%s: MPI's barrier failed", what);
    team_drop(team);
    *teamid = DART_TEAM_NULL;
    return ret;
}
