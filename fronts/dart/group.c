/* DART groups: sets of units, and their splits by locality. */
#include "fronts/dart/group.h"

#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/team.h"

struct dart_group_struct *group_new(const dart_unit_t *units, int size)
{
    struct dart_group_struct *group = calloc(1, sizeof(*group));

    if (!group || !size)
        return group;
    group->units = malloc((size_t)size * sizeof(*units));
    if (!group->units) {
        free(group);
        return NULL;
    }
    memcpy(group->units, units, (size_t)size * sizeof(*units));
    group->size = group->room = size;
    return group;
}

void group_free(struct dart_group_struct *group)
{
    free(group->units);
    free(group);
}

int group_place(const struct dart_group_struct *group, dart_unit_t unit)
{
    int low = 0, high = group->size;

    /* Members mostly come in order. */
    if (high && group->units[high - 1] < unit)
        return high;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (group->units[middle] < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_member(const struct dart_group_struct *group, dart_unit_t unit)
{
    int place = group_place(group, unit);

    return place < group->size && group->units[place] == unit;
}

/* What every call but the one that ends a group begins with. */
static dart_ret_t group_check(const char *what, const void *in, const void *out)
{
    if (!front_up)
        return front_fail(DART_ERR_NOTINIT, "%s: DART does not run", what);
    if (!in)
        return front_fail(DART_ERR_INVAL, "%s: no group", what);
    if (!out)
        return front_fail(DART_ERR_INVAL, "%s: nowhere to put the result",
                          what);
    return DART_OK;
}

static dart_ret_t group_out(const char *what, struct dart_group_struct *made,
                            dart_group_t *out)
{
    *out = made;
    return made ? DART_OK
                : front_fail(DART_ERR_NOMEM, "%s: out of memory", what);
}

dart_ret_t dart_group_create(dart_group_t *group)
{
    const char *what = "dart_group_create";
    dart_ret_t ret = group_check(what, what, group);

    return ret ? ret : group_out(what, group_new(NULL, 0), group);
}

/* After dart_exit too: it is memory of this process. */
dart_ret_t dart_group_destroy(dart_group_t *group)
{
    if (!group)
        return front_fail(DART_ERR_INVAL, "dart_group_destroy: no group");
    if (*group)
        group_free(*group);
    *group = DART_GROUP_NULL;
    return DART_OK;
}

dart_ret_t dart_group_clone(const dart_group_t gin, dart_group_t *gout)
{
    const char *what = "dart_group_clone";
    dart_ret_t ret = group_check(what, gin, gout);

    return ret ? ret : group_out(what, group_new(gin->units, gin->size), gout);
}

/* The members of both, of those that are in one of them only, or not. */
static dart_ret_t group_merge(const char *what, const dart_group_t g1,
                              const dart_group_t g2, bool all,
                              dart_group_t *gout)
{
    dart_ret_t ret = group_check(what, g1 ? g2 : NULL, gout);
    struct dart_group_struct *made;
    int i = 0, k = 0, room;

    if (ret)
        return ret;
    *gout = DART_GROUP_NULL;
    room = all ? g1->size + g2->size : g1->size;
    made = group_new(NULL, 0);
    if (made && room) {
        made->units = malloc((size_t)room * sizeof(*made->units));
        made->room = room;
        if (!made->units) {
            group_free(made);
            made = NULL;
        }
    }
    while (made && (i < g1->size || k < g2->size)) {
        dart_unit_t a = i < g1->size ? g1->units[i] : INT32_MAX;
        dart_unit_t b = k < g2->size ? g2->units[k] : INT32_MAX;
        if (all || a == b)
            made->units[made->size++] = a < b ? a : b;
        i += a <= b;
        k += b <= a;
    }
    return group_out(what, made, gout);
}

dart_ret_t dart_group_union(const dart_group_t g1, const dart_group_t g2,
                            dart_group_t *gout)
{
    return group_merge("dart_group_union", g1, g2, true, gout);
}

dart_ret_t dart_group_intersect(const dart_group_t g1, const dart_group_t g2,
                                dart_group_t *gout)
{
    return group_merge("dart_group_intersect", g1, g2, false, gout);
}

static dart_ret_t group_check_unit(const char *what, const dart_group_t g,
                                   dart_global_unit_t unitid)
{
    dart_ret_t ret = group_check(what, g, what);

    if (!ret && (unitid.id < 0 || unitid.id >= front_job->ranks))
        ret = front_fail(DART_ERR_INVAL, "%s: the job has no unit %d", what,
                         (int)unitid.id);
    return ret;
}

dart_ret_t dart_group_addmember(dart_group_t g, dart_global_unit_t unitid)
{
    const char *what = "dart_group_addmember";
    dart_ret_t ret = group_check_unit(what, g, unitid);
    int place;

    if (ret || is_member(g, unitid.id))
        return ret;
    if (g->size == g->room) {
        int room = g->room ? 2 * g->room : 8;
        dart_unit_t *units = realloc(g->units, (size_t)room * sizeof(*units));
        if (!units)
            return front_fail(DART_ERR_NOMEM, "%s: out of memory", what);
        g->units = units;
        g->room = room;
    }
    place = group_place(g, unitid.id);
    memmove(g->units + place + 1, g->units + place,
            (size_t)(g->size - place) * sizeof(*g->units));
    g->units[place] = unitid.id;
    g->size++;
    return DART_OK;
}

dart_ret_t dart_group_delmember(dart_group_t g, dart_global_unit_t unitid)
{
    dart_ret_t ret = group_check_unit("dart_group_delmember", g, unitid);
    int place;

    if (ret || !is_member(g, unitid.id))
        return ret;
    place = group_place(g, unitid.id);
    g->size--;
    memmove(g->units + place, g->units + place + 1,
            (size_t)(g->size - place) * sizeof(*g->units));
    return DART_OK;
}

dart_ret_t dart_group_ismember(const dart_group_t g, dart_global_unit_t unitid,
                               int32_t *ismember)
{
    dart_ret_t ret = group_check("dart_group_ismember", g, ismember);

    if (!ret)
        *ismember = is_member(g, unitid.id);
    return ret;
}

dart_ret_t dart_group_size(const dart_group_t g, size_t *size)
{
    dart_ret_t ret = group_check("dart_group_size", g, size);

    if (!ret)
        *size = (size_t)g->size;
    return ret;
}

dart_ret_t dart_group_getmembers(const dart_group_t g,
                                 dart_global_unit_t *unitids)
{
    dart_ret_t ret = group_check("dart_group_getmembers", g, unitids);

    for (int i = 0; !ret && i < g->size; i++)
        unitids[i].id = g->units[i];
    return ret;
}

dart_ret_t dart_group_split(const dart_group_t g, size_t n, size_t *nout,
                            dart_group_t *gout)
{
    const char *what = "dart_group_split";
    dart_ret_t ret = group_check(what, g, nout ? (void *)gout : NULL);
    size_t size, first = 0;

    if (ret)
        return ret;
    if (n == 0)
        return front_fail(DART_ERR_INVAL, "%s: into no groups", what);
    size = (size_t)g->size;
    for (size_t i = 0; i < n; i++) {
        size_t count = size / n + (i < size % n);
        ret =
            group_out(what, group_new(g->units + first, (int)count), &gout[i]);
        for (; ret && i > 0; i--)
            dart_group_destroy(&gout[i - 1]);
        if (ret) {
            *nout = 0;
            return ret;
        }
        first += count;
    }
    *nout = size < n ? size : n;
    return DART_OK;
}

dart_ret_t dart_team_get_group(dart_team_t teamid, dart_group_t *group)
{
    const char *what = "dart_team_get_group";
    struct team *team;
    dart_ret_t ret;

    if (group)
        *group = DART_GROUP_NULL;
    ret = team_get(what, teamid, &team);
    if (!ret)
        ret = group_check(what, team, group);
    return ret ? ret
               : group_out(what, group_new(team->units, team->size), group);
}
