/*
 * Making and ending teams.
 *
 * Two reductions over the parent: what numbers are free on all its units, of a
 * window of them, and whether somebody has an error; then, whether those who will
 * be members named the same ones and could take the number.  A window that is
 * full costs one more, once for all teams in it.  Units may name different groups, if
 * these have no member in common: they become teams of the same number.
 */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/group.h"
#include "fronts/dart/lock.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"
#include "fronts/dart/team_make.h"
#include "fronts/dart/window.h"

/* Attempts to take a number before some other thread does. */
#define TRIES_MAX 10000

static const char create[] = "dart_team_create";

/* What keeps a team from being made, or says how: one unit has it, all know. */
enum {
    FLAG_INVAL = 1,
    FLAG_NOMEM = 2,
    FLAG_SHARE = 4, /* communicators become scarce */
};

struct offer {
    uint64_t used[WINDOW_WORDS];
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
    struct team *parent;
    const struct dart_group_struct *group;
    struct team *team;
    struct roster *roster;
    struct team_comm *comm;  /* a new one's record */
    struct team_comm *other; /* one that there is */
    MPI_Group members;       /* MPI_GROUP_EMPTY: none */
    int number;              /* taken; -1: none */
};

static void plan_drop(struct plan *plan)
{
    free(plan->team);
    team_comm_free(plan->comm);
    if (plan->other)
        team_comm_leave(plan->roster, plan->other);
    if (plan->members != MPI_GROUP_EMPTY)
        MPI_Group_free(&plan->members);
    if (plan->number >= 0)
        team_number_give(plan->number);
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

/* The members in MPI's words; before the units agree, since a member that names
 * others than the rest to MPI_Comm_create keeps them waiting. */
static bool plan_group(struct plan *plan)
{
    const struct dart_group_struct *g = plan->group;
    int *ranks = malloc((size_t)g->size * sizeof(*ranks)), err = 1;
    MPI_Group all;

    for (int i = 0; ranks && i < g->size; i++)
        ranks[i] = team_unit_of(plan->parent, g->units[i]);
    if (ranks && !MPI_Comm_group(plan->parent->comm, &all)) {
        err = MPI_Group_incl(all, g->size, ranks, &plan->members);
        MPI_Group_free(&all);
    }
    free(ranks);
    return !err;
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
    plan->comm = team_comm_new();
    plan->roster = roster_take(g->units, g->size);
    plan->team = plan->roster ? team_new(plan->roster) : NULL;
    if (!plan->team || !plan->comm || !plan_group(plan))
        return FLAG_NOMEM;
    plan->other = roster_comm_take(plan->roster);
    return roster_comms() < COMMS_MAX ? 0 : FLAG_SHARE;
}

static uint64_t signature(const struct plan *plan, uint64_t salt)
{
    uint64_t hash = plan->roster->hash ^ salt * UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t members = (uint64_t)plan->team->size;

    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return plan->team->me == 0 ? hash - members * hash : hash;
}

/* Take a number that was free when the units told; all but @number changes. */
static dart_ret_t plan_number(struct plan *plan, uint64_t flags, int number,
                              struct count *count)
{
    memset(count, 0, sizeof(*count));
    if (plan->team) {
        count->any = 1;
        count->members = signature(plan, 1);
        count->comms = signature(
            plan, plan->other ? (uint64_t)plan->other->number + 2 : 1);
        count->without = !plan->other || !(flags & FLAG_SHARE);
        count->lost = !team_number_take(number);
        plan->number = count->lost ? -1 : number;
    }
    if (team_allreduce(plan->parent, count, sizeof(*count) / sizeof(uint64_t),
                       MPI_UINT64_T, MPI_SUM))
        return DART_ERR_OTHER;
    if (count->members)
        return front_fail(DART_ERR_INVAL,
                          "%s: the units of team %d named different members",
                          create, (int)plan->parent->id);
    return DART_OK;
}

/* A number of the parent's window that is free on all units, or of the first
 * window after it that has one; *number is -1 where a window has none. */
static dart_ret_t plan_look(struct plan *plan, uint64_t flags, unsigned tries,
                            int *number, uint64_t *flags_out)
{
    struct team *parent = plan->parent;
    unsigned from = tries * (unsigned)(parent->id * 64 + 1);
    struct offer offer = {.flags = flags};
    int bit;

    team_numbers(parent->window, offer.used);
    if (team_allreduce(parent, &offer, sizeof(offer) / sizeof(uint64_t),
                       MPI_UINT64_T, MPI_BOR))
        return DART_ERR_OTHER;
    *flags_out = offer.flags;
    if (offer.flags & FLAG_INVAL)
        return DART_ERR_INVAL;
    if (offer.flags & FLAG_NOMEM)
        return front_fail(DART_ERR_NOMEM, "%s: some unit has no memory",
                          create);
    bit = team_number_free(offer.used, (int)(from % WINDOW_NUMBERS));
    *number = bit < 0 ? -1 : parent->window * WINDOW_NUMBERS + bit;
    if (bit < 0)
        parent->window = (parent->window + 1) % WINDOWS;
    return DART_OK;
}

/* Agree on a number; threads that make teams of several parents may be in each
 * other's way, and go apart. */
static dart_ret_t plan_agree(struct plan *plan, uint64_t flags,
                             struct count *count, uint64_t *flags_out)
{
    int number = -1, full = 0;

    for (unsigned tries = 0; tries < TRIES_MAX;) {
        dart_ret_t ret = plan_look(plan, flags, tries, &number, flags_out);

        if (ret)
            return ret;
        if (number < 0) {
            if (++full == WINDOWS)
                return front_fail(
                    DART_ERR_NOMEM,
                    "%s: the units of team %d use all team numbers", create,
                    (int)plan->parent->id);
            continue;
        }
        ret = plan_number(plan, *flags_out, number, count);
        if (ret || !count->lost)
            return ret;
        if (plan->number >= 0)
            team_number_give(plan->number);
        plan->number = -1;
        full = 0;
        tries++;
    }
    return front_fail(DART_ERR_OTHER,
                      "%s: other threads took every number that was free",
                      create);
}

static int comm_create(const struct team *parent, MPI_Group group,
                       MPI_Comm *comm)
{
    if (parent->tickets && team_ticket_wait(parent))
        return MPI_ERR_OTHER;
    return team_ticket_end(parent, MPI_Comm_create(parent->comm, group, comm));
}

/* A communicator of the group's members. */
static dart_ret_t plan_communicator(struct plan *plan)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int err = comm_create(plan->parent, plan->members, &comm);

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
                              uint64_t flags, dart_team_t *newteam)
{
    bool share = !count->comms && !count->without;
    struct team *team = plan->team;
    dart_ret_t ret = DART_OK;

    if (!share)
        ret = team_agree(plan->parent, plan_communicator(plan));
    if (ret || !team)
        return ret;
    if (share) {
        team->shared_comm = plan->other;
        plan->other = NULL;
    } else {
        plan->comm->number = plan->number;
        plan->comm->shared = (flags & FLAG_SHARE) != 0;
        roster_comm_add(plan->roster, plan->comm);
        team->shared_comm = plan->comm;
        plan->comm = NULL;
    }
    team->window = plan->parent->window;
    team_enter(team, plan->number);
    *newteam = team->id;
    if (plan->other)
        team_comm_leave(plan->roster, plan->other);
    plan->other = NULL;
    plan->number = -1;
    plan->team = NULL;
    plan->roster = NULL;
    return DART_OK;
}

dart_ret_t dart_team_create(dart_team_t teamid, const dart_group_t group,
                            dart_team_t *newteam)
{
    struct plan plan = {
        .group = group, .members = MPI_GROUP_EMPTY, .number = -1};
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
        ret = plan_finish(&plan, &count, flags, newteam);
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
    /* Complete the puts of all units: only after that may the memory of any of them
     * be used for something else. */
    ret = team_agree(team, window_flush_all());
    if (ret)
        return front_fail(ret,
                          "%s: a unit of team %d cannot complete what it has "
                          "put",
                          what, (int)team->id);
    ret = locks_drop(what, team);
    if (ret)
        return ret;
    team_drop(team);
    *teamid = DART_TEAM_NULL;
    return ret;
}
