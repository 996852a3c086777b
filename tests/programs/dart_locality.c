/*
 * dart_locality [hosts N]: where the units of teams run, through the
 * interface alone; N: how many hosts there must be, else one.
 */
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dash/dart/if/dart.h"
#include "dash/dart/if/dart_locality.h"

static int me, units;

static dart_domain_locality_t *team_root(dart_team_t team)
{
    dart_domain_locality_t *root;

    assert(dart_domain_team_locality(team, ".", &root) == DART_OK && root);
    return root;
}

/* A text of all that units must agree on; to be freed. */
static char *describe(const dart_domain_locality_t *root)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    dart_locality_scope_t scope[] = {DART_LOCALITY_SCOPE_NODE,
                                     DART_LOCALITY_SCOPE_CORE};

    for (int i = 0; i < 2; i++) {
        dart_domain_locality_t **list;
        int count;

        assert(!dart_domain_scope_domains(root, scope[i], &count, &list));
        for (int j = 0; j < count; j++) {
            fprintf(out, "%s %s %d %d:", list[j]->domain_tag, list[j]->host,
                    list[j]->num_cores, list[j]->global_index);
            for (int k = 0; k < list[j]->num_units; k++)
                fprintf(out, " %d", list[j]->unit_ids[k].id);
            fprintf(out, "\n");
        }
        free(list);
    }
    fclose(out);
    return text;
}

static void all_agree(const dart_domain_locality_t *root, MPI_Comm comm)
{
    char *mine = describe(root), *first;
    int length = (int)strlen(mine) + 1, longest;

    MPI_Allreduce(&length, &longest, 1, MPI_INT, MPI_MAX, comm);
    assert(length == longest);
    first = malloc((size_t)length);
    strcpy(first, mine);
    MPI_Bcast(first, length, MPI_CHAR, 0, comm);
    assert(strcmp(first, mine) == 0);
    free(first);
    free(mine);
}

static void check_units(dart_team_t team, int count)
{
    dart_domain_locality_t *root = team_root(team), *core, *node;

    for (int i = 0; i < count; i++) {
        dart_unit_locality_t *unit, *again;
        dart_global_unit_t global;

        assert(!dart_unit_locality(team, DART_TEAM_UNIT_ID(i), &unit));
        assert(!dart_unit_locality(team, DART_TEAM_UNIT_ID(i), &again));
        assert(unit == again && unit->unit.id == i && unit->team == team);
        assert(unit->hwinfo.num_cores > 0 && unit->hwinfo.min_threads > 0);
        assert(unit->hwinfo.max_threads >= unit->hwinfo.min_threads);
        assert(unit->hwinfo.num_scopes > 0 && unit->hwinfo.num_scopes < 12);
        assert(unit->hwinfo.scopes[0].scope == DART_LOCALITY_SCOPE_CORE);
        assert(!dart_domain_find(root, unit->domain_tag, &core));
        assert(core->scope == DART_LOCALITY_SCOPE_CORE && core->level > 2);
        global.id = -1;
        assert(!dart_team_unit_l2g(team, unit->unit, &global));
        for (int j = 0; j < core->num_units; j++) {
            if (core->unit_ids[j].id == global.id)
                global.id = -2;
        }
        assert(global.id == -2);
        for (node = core; node->scope != DART_LOCALITY_SCOPE_NODE;)
            node = node->parent;
        assert(node->parent == root && node->num_nodes == 1);
        assert(strcmp(node->host, unit->hwinfo.host) == 0 && *node->host);
    }
}

static void check_all(int hosts)
{
    dart_domain_locality_t *root = team_root(DART_TEAM_ALL);
    dart_unit_locality_t *mine;
    char name[256];

    assert(root->level == 0 && root->scope == DART_LOCALITY_SCOPE_GLOBAL);
    assert(root->num_units == units && root->team == DART_TEAM_ALL);
    assert(root->num_nodes == hosts && root->num_domains == hosts);
    for (int i = 0; i < units; i++)
        assert(root->unit_ids[i].id == i);
    assert(!dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(me), &mine));
    gethostname(name, sizeof(name));
    assert(strncmp(name, mine->hwinfo.host, 63) == 0);
    check_units(DART_TEAM_ALL, units);
    all_agree(root, MPI_COMM_WORLD);
}

/* --- Teams ----------------------------------------------------------------------- */

/* The units with odd numbers, in reverse; the others look on. */
static void check_team(void)
{
    dart_group_t odd;
    dart_team_t team;
    dart_domain_locality_t *root;
    size_t count;

    assert(!dart_group_create(&odd));
    for (int i = units - 1; i >= 0; i--) {
        if (i % 2)
            assert(!dart_group_addmember(odd, DART_GLOBAL_UNIT_ID(i)));
    }
    assert(!dart_group_size(odd, &count));
    assert(!dart_team_create(DART_TEAM_ALL, odd, &team));
    assert(!dart_group_destroy(&odd));
    assert((team != DART_TEAM_NULL) == (me % 2));
    if (team == DART_TEAM_NULL)
        return;
    root = team_root(team);
    assert(root->team == team && root->num_units == (int)count);
    for (int i = 0; i < (int)count; i++)
        assert(root->unit_ids[i].id == 2 * i + 1);
    check_units(team, (int)count);
    /* Its number may come again: what was known is gone. */
    assert(!dart_team_destroy(&team));
}

/* Split all but unit 1 by where they run, each time into at most @parts. */
static void split_by(dart_locality_scope_t scope, int parts, int expected)
{
    dart_group_t group, out[8];
    size_t count = 99, size;
    int seen = 0;

    assert(!dart_team_get_group(DART_TEAM_ALL, &group));
    if (units > 1)
        assert(!dart_group_delmember(group, DART_GLOBAL_UNIT_ID(1)));
    assert(!dart_group_locality_split(group, team_root(DART_TEAM_ALL), scope,
                                      (size_t)parts, &count, out));
    assert(count >= 1 && (int)count <= parts);
    assert(expected == 0 || (int)count == expected);
    for (size_t i = 0; i < count; i++) {
        assert(!dart_group_size(out[i], &size) && size > 0);
        for (int j = 0; j < units; j++) {
            int32_t member;

            assert(
                !dart_group_ismember(out[i], DART_GLOBAL_UNIT_ID(j), &member));
            assert(!member || (!(seen & 1 << j) && (j != 1)));
            seen |= member << j;
        }
        assert(!dart_group_destroy(&out[i]));
    }
    assert(seen == (units > 1 ? ((1 << units) - 1) & ~2 : 1));
    assert(!dart_group_destroy(&group));
}

static void check_split(int hosts)
{
    dart_domain_locality_t *root = team_root(DART_TEAM_ALL);
    dart_group_t group, out[2];
    size_t count = 99;

    for (int parts = 1; parts <= 8; parts++) {
        split_by(DART_LOCALITY_SCOPE_CORE, parts, 0);
        /* Unit 1 is alone on the second of two hosts, if there are three. */
        split_by(DART_LOCALITY_SCOPE_NODE, parts,
                 hosts == 1 || parts == 1 || units < 4 ? 1 : 2);
        split_by(DART_LOCALITY_SCOPE_GLOBAL, parts, 1);
    }
    assert(!dart_team_get_group(DART_TEAM_ALL, &group));
    assert(dart_group_locality_split(group, root, DART_LOCALITY_SCOPE_CPU, 2,
                                     &count, out) == DART_ERR_NOTFOUND);
    assert(count == 0);
    assert(dart_group_locality_split(group, root, DART_LOCALITY_SCOPE_CORE, 0,
                                     &count, out) == DART_ERR_INVAL);
    assert(dart_group_locality_split(NULL, root, DART_LOCALITY_SCOPE_CORE, 2,
                                     &count, out) == DART_ERR_INVAL);
    assert(dart_group_locality_split(group, NULL, DART_LOCALITY_SCOPE_CORE, 2,
                                     &count, out) == DART_ERR_INVAL);
    assert(dart_group_locality_split(group, root, DART_LOCALITY_SCOPE_CORE, 2,
                                     NULL, out) == DART_ERR_INVAL);
    assert(dart_group_locality_split(group, root, DART_LOCALITY_SCOPE_CORE, 2,
                                     &count, NULL) == DART_ERR_INVAL);
    assert(!dart_group_destroy(&group));
}

/* --- Changes of a team's own tree ------------------------------------------------ */

static void check_change(void)
{
    dart_domain_locality_t *root = team_root(DART_TEAM_ALL), *group, *copy;
    dart_unit_locality_t *unit;
    const char *tags[1];
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    char old[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];

    /* What the program writes stays. */
    assert(!dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(me), &unit));
    unit->hwinfo.num_cores = 28;
    assert(!dart_domain_clone(root, &copy));
    strcpy(old, unit->domain_tag);
    tags[0] = old;
    assert(!dart_domain_group(root, 1, tags, tag));
    assert(!dart_domain_find(root, tag, &group));
    assert(group->scope == DART_LOCALITY_SCOPE_GROUP);
    /* The unit is found where it is now. */
    assert(!dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(me), &unit));
    assert(strncmp(unit->domain_tag, tag, strlen(tag)) == 0);
    assert(unit->hwinfo.num_cores == 28);
    check_units(DART_TEAM_ALL, units);
    tags[0] = tag;
    assert(!dart_domain_exclude(root, 1, tags));
    assert(dart_domain_team_locality(DART_TEAM_ALL, tag, &group) ==
           DART_ERR_NOTFOUND);
    assert(!group);
    assert(dart_domain_destroy(root) == DART_ERR_INVAL);
    assert(dart_domain_assign(root, copy) == DART_ERR_INVAL);
    assert(!dart_domain_destroy(copy));
    /* As it was. */
    assert(!dart_team_locality_finalize(DART_TEAM_ALL));
    assert(!dart_team_locality_finalize(DART_TEAM_ALL));
    assert(!dart_team_locality_init(DART_TEAM_ALL));
    assert(!dart_team_locality_init(DART_TEAM_ALL));
    check_units(DART_TEAM_ALL, units);
    assert(!dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(me), &unit));
    assert(strcmp(unit->domain_tag, old) == 0);
}

/* --- Threads --------------------------------------------------------------------- */

static void *look(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        check_units(DART_TEAM_ALL, units);
    return NULL;
}

static void check_threads(void)
{
    pthread_t other;

    assert(!dart_team_locality_finalize(DART_TEAM_ALL));
    assert(!pthread_create(&other, NULL, look, NULL));
    look(NULL);
    assert(!pthread_join(other, NULL));
}

/* --- Wrong calls ----------------------------------------------------------------- */

static void check_wrong(void)
{
    dart_domain_locality_t *domain = team_root(DART_TEAM_ALL);
    dart_unit_locality_t *unit;
    dart_team_t teams[] = {DART_UNDEFINED_TEAM_ID, 12345, INT16_MIN, INT16_MAX};
    int wrong[] = {-1, units, INT32_MAX, INT32_MIN};

    for (int i = 0; i < 4; i++) {
        assert(dart_team_locality_init(teams[i]) == DART_ERR_INVAL);
        assert(dart_team_locality_finalize(teams[i]) == DART_ERR_INVAL);
        assert(dart_domain_team_locality(teams[i], ".", &domain) ==
                   DART_ERR_INVAL &&
               !domain);
        assert(dart_unit_locality(teams[i], DART_TEAM_UNIT_ID(0), &unit) ==
                   DART_ERR_INVAL &&
               !unit);
        assert(dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(wrong[i]),
                                  &unit) == DART_ERR_INVAL);
    }
    assert(dart_domain_team_locality(DART_TEAM_ALL, NULL, &domain) ==
           DART_ERR_INVAL);
    assert(dart_domain_team_locality(DART_TEAM_ALL, ".", NULL) ==
           DART_ERR_INVAL);
    assert(dart_domain_team_locality(DART_TEAM_ALL, ".99", &domain) ==
               DART_ERR_NOTFOUND &&
           !domain);
    assert(dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(0), NULL) ==
           DART_ERR_INVAL);
}

static void not_up(void)
{
    dart_domain_locality_t *domain;
    dart_unit_locality_t *unit;

    assert(dart_team_locality_init(DART_TEAM_ALL) == DART_ERR_NOTINIT);
    assert(dart_team_locality_finalize(DART_TEAM_ALL) == DART_ERR_NOTINIT);
    assert(dart_domain_team_locality(DART_TEAM_ALL, ".", &domain) ==
               DART_ERR_NOTINIT &&
           !domain);
    assert(dart_unit_locality(DART_TEAM_ALL, DART_TEAM_UNIT_ID(0), &unit) ==
               DART_ERR_NOTINIT &&
           !unit);
    /* Trees of its own a program has at any time. */
    assert(!dart_domain_create(&domain) && !dart_domain_destroy(domain));
}

int main(int argc, char **argv)
{
    int hosts = argc > 2 ? atoi(argv[2]) : 1;
    dart_config_t *config;
    size_t size;
    dart_global_unit_t unit;

    dart_config(&config);
    config->log_enabled = 0;
    not_up();
    for (int round = 0; round < 3; round++) {
        assert(!dart_init(&argc, &argv));
        assert(!dart_size(&size) && !dart_myid(&unit));
        units = (int)size;
        me = unit.id;
        check_all(hosts < units ? hosts : units);
        check_team();
        check_split(hosts < units ? hosts : units);
        check_change();
        check_threads();
        check_wrong();
        assert(!dart_exit());
        not_up();
    }
    if (me == 0)
        puts("ok");
    return 0;
}
