/*
 * What the units of a team know of the hardware they run on.
 *
 * All units tell one another in dart_init, once; what a team needs of it is made
 * when it is first asked for, by each unit alone.  So a team that nobody asks
 * about costs nothing, and asking is not collective.
 */
#include "dash/dart/if/dart_locality.h"

#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain.h"
#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"
#include "fronts/dart/team.h"
#include "fronts/dart/team_call.h"

/* DASH is compiled against these. */
#define LAYOUT(type, member, offset) \
    _Static_assert(offsetof(type, member) == (offset), #member)
_Static_assert(sizeof(dart_locality_scope_pos_t) == 8, "scope position");
_Static_assert(sizeof(dart_module_location_t) == 136, "module location");
LAYOUT(dart_module_location_t, module, 64);
LAYOUT(dart_module_location_t, pos, 128);
_Static_assert(sizeof(dart_hwinfo_t) == 276, "hwinfo");
LAYOUT(dart_hwinfo_t, num_cores, 64);
LAYOUT(dart_hwinfo_t, num_numa, 68);
LAYOUT(dart_hwinfo_t, numa_id, 72);
LAYOUT(dart_hwinfo_t, num_sockets, 76);
LAYOUT(dart_hwinfo_t, core_id, 80);
LAYOUT(dart_hwinfo_t, cpu_id, 84);
LAYOUT(dart_hwinfo_t, min_cpu_mhz, 88);
LAYOUT(dart_hwinfo_t, max_cpu_mhz, 92);
LAYOUT(dart_hwinfo_t, cache_sizes, 96);
LAYOUT(dart_hwinfo_t, cache_line_sizes, 116);
LAYOUT(dart_hwinfo_t, cache_ids, 136);
LAYOUT(dart_hwinfo_t, min_threads, 156);
LAYOUT(dart_hwinfo_t, max_threads, 160);
LAYOUT(dart_hwinfo_t, max_shmem_mbps, 164);
LAYOUT(dart_hwinfo_t, system_memory_bytes, 168);
LAYOUT(dart_hwinfo_t, numa_memory_bytes, 172);
LAYOUT(dart_hwinfo_t, scopes, 176);
LAYOUT(dart_hwinfo_t, num_scopes, 272);
_Static_assert(sizeof(dart_domain_locality_t) == 192, "domain");
LAYOUT(dart_domain_locality_t, domain_tag, 64);
LAYOUT(dart_domain_locality_t, aliases, 96);
LAYOUT(dart_domain_locality_t, num_aliases, 104);
LAYOUT(dart_domain_locality_t, scope, 108);
LAYOUT(dart_domain_locality_t, level, 112);
LAYOUT(dart_domain_locality_t, global_index, 116);
LAYOUT(dart_domain_locality_t, relative_index, 120);
LAYOUT(dart_domain_locality_t, parent, 128);
LAYOUT(dart_domain_locality_t, num_domains, 136);
LAYOUT(dart_domain_locality_t, children, 144);
LAYOUT(dart_domain_locality_t, is_symmetric, 152);
LAYOUT(dart_domain_locality_t, team, 156);
LAYOUT(dart_domain_locality_t, num_units, 160);
LAYOUT(dart_domain_locality_t, unit_ids, 168);
LAYOUT(dart_domain_locality_t, num_nodes, 176);
LAYOUT(dart_domain_locality_t, node_id, 180);
LAYOUT(dart_domain_locality_t, num_cores, 184);
LAYOUT(dart_domain_locality_t, shared_mem_bytes, 188);
_Static_assert(sizeof(dart_unit_locality_t) == 316, "unit");
LAYOUT(dart_unit_locality_t, team, 4);
LAYOUT(dart_unit_locality_t, hwinfo, 8);
LAYOUT(dart_unit_locality_t, domain_tag, 284);

struct locality {
    dart_domain_locality_t *root; /* the program may change it */
    dart_unit_locality_t *units;  /* [the team's size] */
};

/* Guards what is made on demand. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct locality *table[TEAMS_MAX];

/* Of all units of the job, by their ranks. */
static dart_hwinfo_t *all;
static int *hosts;

/* --- Start and stop ----------------------------------------------------------- */

dart_ret_t locality_start(void)
{
    const struct team *team = team_find(DART_TEAM_ALL);
    size_t count = (size_t)team->size;
    dart_hwinfo_t mine;
    dart_ret_t ret;
    int err = MPI_SUCCESS;

    all = malloc(count * sizeof(*all));
    hosts = malloc(count * sizeof(*hosts));
    ret = team_agree(team, all && hosts ? DART_OK : DART_ERR_NOMEM);
    if (!ret) {
        hardware_look(&mine);
        err = team_allgather(team, &mine, all, sizeof(mine));
        if (err != MPI_SUCCESS)
            ret = DART_ERR_OTHER;
        else if (!locality_hosts(all, team->size, hosts))
            ret = DART_ERR_NOMEM;
    }
    if (ret)
        locality_stop();
    return ret;
}

void locality_stop(void)
{
    for (int id = 0; id < TEAMS_MAX; id++) {
        if (table[id])
            locality_drop((dart_team_t)id);
    }
    free(all);
    free(hosts);
    all = NULL;
    hosts = NULL;
}

/* --- Teams -------------------------------------------------------------------- */

static struct locality *make(const struct team *team)
{
    struct locality *locality = calloc(1, sizeof(*locality));
    struct locality_input input = {
        .team = team->id,
        .unit_count = team->size,
        .ids = team->units,
        .all = all,
        .hosts = hosts,
    };

    if (!locality)
        return NULL;
    locality->units = calloc((size_t)team->size, sizeof(*locality->units));
    if (locality->units)
        locality->root = locality_tree(&input, locality->units);
    if (locality->root)
        return locality;
    free(locality->units);
    free(locality);
    return NULL;
}

/* A team's, made if need be. */
static dart_ret_t locality_of(const char *what, dart_team_t id,
                              struct team **out_team, struct locality **out)
{
    dart_ret_t ret = team_get(what, id, out_team);

    if (ret)
        return ret;
    pthread_mutex_lock(&lock);
    if (!table[id])
        table[id] = make(*out_team);
    *out = table[id];
    pthread_mutex_unlock(&lock);
    return *out ? DART_OK : DART_ERR_NOMEM;
}

void locality_drop(dart_team_t id)
{
    struct locality *locality;

    pthread_mutex_lock(&lock);
    locality = table[id];
    table[id] = NULL;
    pthread_mutex_unlock(&lock);
    if (!locality)
        return;
    domain_free(locality->root);
    free(locality->units);
    free(locality);
}

bool locality_owns(const dart_domain_locality_t *domain)
{
    bool owns;

    if (domain->parent || domain->team < 0)
        return false;
    pthread_mutex_lock(&lock);
    owns = table[domain->team] && table[domain->team]->root == domain;
    pthread_mutex_unlock(&lock);
    return owns;
}

dart_ret_t dart_team_locality_init(dart_team_t team)
{
    struct team *found;

    return team_get("dart_team_locality_init", team, &found);
}

dart_ret_t dart_team_locality_finalize(dart_team_t team)
{
    struct team *found;
    dart_ret_t ret = team_get("dart_team_locality_finalize", team, &found);

    if (!ret)
        locality_drop(team);
    return ret;
}

dart_ret_t dart_domain_team_locality(dart_team_t team, const char *domain_tag,
                                     dart_domain_locality_t **team_domain_out)
{
    static const char what[] = "dart_domain_team_locality";
    struct locality *locality;
    struct team *found;
    dart_ret_t ret;

    if (team_domain_out)
        *team_domain_out = NULL;
    ret = locality_of(what, team, &found, &locality);
    if (ret)
        return ret;
    if (!domain_tag || !team_domain_out)
        return front_fail(DART_ERR_INVAL, "%s: no tag, or no place for it",
                          what);
    *team_domain_out = domain_find(locality->root, domain_tag);
    return *team_domain_out ? DART_OK : DART_ERR_NOTFOUND;
}

/* --- Units -------------------------------------------------------------------- */

static bool has_unit(const dart_domain_locality_t *domain, dart_unit_t id)
{
    dart_global_unit_t key = {id};

    return domain_units(domain) > 0 &&
           bsearch(&key, domain->unit_ids, (size_t)domain_units(domain),
                   sizeof(key), domain_unit_order);
}

/* The program may have put the unit's domain elsewhere in the team's tree. */
static void renew_tag(const dart_domain_locality_t *root, dart_unit_t id,
                      dart_unit_locality_t *unit)
{
    const dart_domain_locality_t *domain = domain_find(root, unit->domain_tag);
    int i;

    if ((domain && has_unit(domain, id)) || !has_unit(root, id))
        return;
    for (domain = root; domain_children(domain) > 0;
         domain = domain->children[i]) {
        for (i = 0; i < domain_children(domain); i++) {
            if (has_unit(domain->children[i], id))
                break;
        }
        if (i == domain_children(domain))
            break;
    }
    memcpy(unit->domain_tag, domain->domain_tag, sizeof(unit->domain_tag));
}

dart_ret_t dart_unit_locality(dart_team_t team, dart_team_unit_t unit,
                              dart_unit_locality_t **loc)
{
    static const char what[] = "dart_unit_locality";
    struct locality *locality;
    struct team *found;
    dart_ret_t ret;

    if (loc)
        *loc = NULL;
    ret = locality_of(what, team, &found, &locality);
    if (ret)
        return ret;
    if (!loc || unit.id < 0 || unit.id >= found->size)
        return front_fail(DART_ERR_INVAL, "%s: team %d has no unit %d", what,
                          team, unit.id);
    pthread_mutex_lock(&lock);
    renew_tag(locality->root, found->units[unit.id], &locality->units[unit.id]);
    pthread_mutex_unlock(&lock);
    *loc = &locality->units[unit.id];
    return DART_OK;
}
