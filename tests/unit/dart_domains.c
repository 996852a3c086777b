/* Trees of locality domains: what each function does, on random trees and where
 * there is nothing, too much, or no memory. */
#include "tests/unit/dart_domains.h"

#define ROUNDS 200
#define TAGS   6

/* Tags of domains, and how many units these have together. */
struct chosen {
    char tag[TAGS][DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    const char *tags[TAGS];
    int count;
    bool taken[64]; /* by unit */
    int units;
};

static int below(int limit)
{
    return rand() % limit;
}

static domain_t *random_tree(int units, int hosts)
{
    struct job job = job_new(units);
    domain_t *root;

    for (int i = 0; i < units; i++)
        fake(&job.all[i], below(hosts), below(16));
    root = job_tree(&job);
    job_free(&job);
    return root;
}

/* Any domain of the tree but the root; NULL: there is none. */
static domain_t *any_domain(domain_t *root)
{
    domain_t *domain = root;
    int depth = 1 + below(6);

    while (depth-- > 0 && domain->num_domains > 0)
        domain = domain->children[below(domain->num_domains)];
    return domain == root ? NULL : domain;
}

static bool choose(domain_t *root, struct chosen *chosen)
{
    memset(chosen, 0, sizeof(*chosen));
    chosen->count = 1 + below(TAGS);
    for (int i = 0; i < chosen->count; i++) {
        const domain_t *domain = any_domain(root);

        CHECK(domain);
        strcpy(chosen->tag[i], domain->domain_tag);
        chosen->tags[i] = chosen->tag[i];
        for (int j = 0; j < domain->num_units; j++)
            chosen->taken[domain->unit_ids[j].id] = true;
    }
    for (int i = 0; i < 64; i++)
        chosen->units += chosen->taken[i];
    return true;
}

static domain_t *some_tree(void)
{
    return random_tree(1 + below(64), 1 + below(5));
}

/* --- Building ------------------------------------------------------------------ */

static bool test_build(void)
{
    struct job job = job_new(6);
    domain_t *root, *found;

    for (int i = 0; i < 6; i++)
        fake(&job.all[i], 7 - (i + 1) / 3, 5 * (i % 3));
    root = job_tree(&job);
    CHECK(root && is_sound(root, root));
    CHECK(root->num_units == 6 && root->num_domains == 3 &&
          root->num_nodes == 3 && root->node_id == -1 && root->level == 0 &&
          root->scope == DART_LOCALITY_SCOPE_GLOBAL && root->num_cores == 48);
    /* Hosts in the order of their first units; host 5 has but cores. */
    CHECK(strcmp(root->children[0]->host, "host7") == 0);
    found = domain_find(root, ".1.0");
    CHECK(found && found->scope == DART_LOCALITY_SCOPE_MODULE &&
          found->num_units == 3 && found->num_cores == 16 &&
          found->num_nodes == 1 && found->node_id == 1);
    CHECK(found->num_domains == 2 &&
          found->children[0]->scope == DART_LOCALITY_SCOPE_NUMA);
    CHECK(strcmp(job.unit[5].domain_tag, ".2.0.0") == 0);
    for (int i = 0; i < 6; i++) {
        found = domain_find(root, job.unit[i].domain_tag);
        CHECK(found && found->scope == DART_LOCALITY_SCOPE_CORE &&
              found->level > 2 && found->num_domains == 0 && has(found, i));
        CHECK(job.unit[i].unit.id == i && job.unit[i].team == 5);
        CHECK(job.unit[i].hwinfo.num_cores >= 5);
        CHECK(found->global_index == job.all[i].core_id);
    }
    domain_free(root);
    job_free(&job);
    return true;
}

/* A team of some units of the job. */
static bool test_part_of_job(void)
{
    struct job job = job_new(8);
    domain_t *root;

    for (int i = 0; i < 8; i++) {
        fake(&job.all[i], i % 2, i);
        job.hosts[i] = i % 2;
    }
    struct locality_input input = {9, 2, (const dart_unit_t[]){3, 6}, job.all,
                                   job.hosts};
    root = locality_tree(&input, job.unit);
    CHECK(root && is_sound(root, root));
    CHECK(root->team == 9 && root->num_units == 2 && root->num_nodes == 2);
    CHECK(root->unit_ids[0].id == 3 && root->unit_ids[1].id == 6);
    CHECK(job.unit[0].unit.id == 0 && job.unit[1].unit.id == 1);
    CHECK(has(domain_find(root, job.unit[0].domain_tag), 3));
    CHECK(strcmp(job.unit[1].hwinfo.host, "host0") == 0);
    domain_free(root);
    job_free(&job);
    return true;
}

/* Where tags have no room for all that hwloc tells, caches are left out. */
static bool test_long_tags(void)
{
    enum { HOSTS = 10001, DEEP = 9 };
    struct job job = job_new(HOSTS + 11 * DEEP);
    domain_t *root;
    int last = job.units - 1;

    for (int i = 0; i < HOSTS; i++)
        fake(&job.all[i], i, 0);
    for (int i = HOSTS; i <= last; i++) {
        dart_hwinfo_t *hw = &job.all[i];
        int off = (i - HOSTS) / 11, branch = (i - HOSTS) % 11;

        fake(hw, HOSTS - 1, 0);
        hw->num_scopes = 0;
        add_scope(hw, DART_LOCALITY_SCOPE_CORE, branch);
        for (int level = DEEP; level-- > 0;)
            add_scope(hw, DART_LOCALITY_SCOPE_CACHE,
                      level < off    ? 10
                      : level == off ? branch
                                     : 0);
    }
    root = job_tree(&job);
    CHECK(root && is_sound(root, root));
    CHECK(root->num_units == job.units);
    CHECK(domain_at_scope(root, DART_LOCALITY_SCOPE_CACHE, NULL) == 0);
    CHECK(domain_find(root, job.unit[last].domain_tag)->scope ==
          DART_LOCALITY_SCOPE_CORE);
    domain_free(root);
    job_free(&job);
    return true;
}

/* --- Copies -------------------------------------------------------------------- */

static bool test_clone(void)
{
    domain_t *root = some_tree(), *copy, *part = any_domain(root), *other;
    struct chosen chosen;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];

    CHECK(choose(root, &chosen));
    CHECK(!dart_domain_group(root, chosen.count, chosen.tags, tag));
    CHECK(!dart_domain_clone(root, &copy) && equal(root, copy));
    CHECK(is_sound(copy, copy));
    part = any_domain(root);
    CHECK(!dart_domain_clone(part, &other) && !other->parent);
    CHECK(strcmp(part->domain_tag, other->domain_tag) == 0);
    /* A part of itself, and back. */
    CHECK(!dart_domain_assign(copy, any_domain(copy)));
    CHECK(!dart_domain_assign(copy, root) && equal(root, copy));
    CHECK(is_sound(copy, copy));
    CHECK(!dart_domain_assign(other, copy) && equal(other, root));
    CHECK(!dart_domain_destroy(copy) && !dart_domain_destroy(other));
    CHECK(!dart_domain_destroy(root));
    return true;
}

static bool test_split(void)
{
    domain_t *root = some_tree(), parts[70], *empty;
    dart_locality_scope_t scopes[] = {
        DART_LOCALITY_SCOPE_CORE, DART_LOCALITY_SCOPE_NODE,
        DART_LOCALITY_SCOPE_MODULE, DART_LOCALITY_SCOPE_GLOBAL};
    dart_locality_scope_t scope = scopes[below(4)];
    int count = 1 + below(70), units = 0, sizes[2] = {0, 0}, domains;
    bool seen[64] = {false};

    domains = domain_at_scope(root, scope, NULL);
    CHECK(!dart_domain_split_scope(root, scope, count, parts));
    CHECK(!dart_domain_create(&empty));
    for (int i = 0; i < count; i++) {
        int size = domain_at_scope(&parts[i], scope, NULL);

        CHECK(is_sound(&parts[i], &parts[i]));
        /* All of the tree is one part, or none of it is. */
        if (scope != DART_LOCALITY_SCOPE_GLOBAL) {
            CHECK(size == domains / count || size == domains / count + 1);
            sizes[size > domains / count]++;
        }
        for (int j = 0; j < parts[i].num_units; j++) {
            CHECK(!seen[parts[i].unit_ids[j].id]);
            seen[parts[i].unit_ids[j].id] = true;
        }
        units += parts[i].num_units;
        CHECK(!dart_domain_assign(&parts[i], empty));
        domain_clear(&parts[i]);
    }
    CHECK(units == root->num_units);
    CHECK(!sizes[0] || sizes[1] == domains % count);
    domain_free(empty);
    domain_free(root);
    return true;
}

/* --- Changes ------------------------------------------------------------------- */

static bool test_exclude(void)
{
    domain_t *root = some_tree(), *copy, *found;
    struct chosen chosen;

    CHECK(choose(root, &chosen) && !dart_domain_clone(root, &copy));
    CHECK(!dart_domain_exclude(copy, chosen.count, chosen.tags));
    CHECK(is_sound(copy, copy));
    CHECK(copy->num_units == root->num_units - chosen.units);
    for (int i = 0; i < chosen.count; i++) {
        CHECK(dart_domain_find(copy, chosen.tags[i], &found) ==
              DART_ERR_NOTFOUND);
        CHECK(!found);
    }
    /* From a domain in the middle: what is above it loses the units too. */
    found = root->children[below(root->num_domains)];
    CHECK(!dart_domain_exclude(found, 1, (const char *[]){"."}));
    CHECK(is_sound(root, root) && found->num_units == 0 && !found->children);
    domain_free(copy);
    domain_free(root);
    return true;
}

static bool test_select(void)
{
    domain_t *root = some_tree(), *copy, *found;
    struct chosen chosen;

    CHECK(choose(root, &chosen) && !dart_domain_clone(root, &copy));
    CHECK(!dart_domain_select(copy, chosen.count, chosen.tags));
    CHECK(is_sound(copy, copy) && copy->num_units == chosen.units);
    for (int i = 0; i < chosen.count; i++) {
        const domain_t *old = domain_find(root, chosen.tags[i]);

        found = domain_find(copy, chosen.tags[i]);
        CHECK(found && found->num_units == old->num_units &&
              found->num_domains == old->num_domains);
    }
    domain_free(copy);
    CHECK(!dart_domain_clone(root, &copy));
    CHECK(!dart_domain_select(copy, 1, (const char *[]){"."}));
    CHECK(equal(root, copy));
    CHECK(!dart_domain_select(copy, 1, (const char *[]){".99"}));
    CHECK(copy->num_domains == 0 && copy->num_units == 0 &&
          copy->num_nodes == 0);
    CHECK(!dart_domain_select(copy, 0, NULL));
    domain_free(copy);
    domain_free(root);
    return true;
}

/* Every domain that no group took is where it was, under its tag. */
static bool still_there(const domain_t *old, const domain_t *root,
                        const struct chosen *chosen)
{
    const domain_t *now = domain_find(root, old->domain_tag);

    for (int i = 0; i < chosen->count; i++) {
        if (domain_is_in(old, chosen->tags[i]))
            return true;
    }
    CHECK(now && now->scope == old->scope);
    for (int i = 0; i < now->num_units; i++)
        CHECK(has(old, now->unit_ids[i].id));
    for (int i = 0; i < old->num_units; i++)
        CHECK(chosen->taken[old->unit_ids[i].id] ||
              has(now, old->unit_ids[i].id));
    for (int i = 0; i < old->num_domains; i++)
        CHECK(still_there(old->children[i], root, chosen));
    return true;
}

static bool test_group(void)
{
    domain_t *root = some_tree(), *before, *group;
    struct chosen chosen;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    int nodes = root->num_nodes;

    for (int round = 0; round < 3; round++) {
        CHECK(choose(root, &chosen) && !dart_domain_clone(root, &before));
        CHECK(!dart_domain_group(root, chosen.count, chosen.tags, tag));
        CHECK(is_sound(root, root));
        CHECK(root->num_units == before->num_units &&
              root->num_cores == before->num_cores && root->num_nodes == nodes);
        group = domain_find(root, tag);
        CHECK(group && group->scope == DART_LOCALITY_SCOPE_GROUP);
        CHECK(group->num_units == chosen.units);
        for (int i = 0; i < group->num_units; i++)
            CHECK(chosen.taken[group->unit_ids[i].id]);
        CHECK(group->num_aliases == 1 && group->aliases[0] == group->parent);
        CHECK(group == group->parent->children[group->parent->num_domains - 1]);
        CHECK(still_there(before, root, &chosen));
        domain_free(before);
    }
    domain_free(root);
    return true;
}

static bool test_move(void)
{
    domain_t *root = some_tree(), *domain, *parent, *taken;
    int units = root->num_units;

    own_units = true; /* cores may get children */
    for (int round = 0; round < 10; round++) {
        dart_ret_t ret;
        const domain_t *above;
        int at = below(4) - 1;

        domain = any_domain(root);
        parent = below(4) ? any_domain(root) : root;
        ret = dart_domain_move_subdomain(domain, parent, at);
        for (above = parent; above && above != domain;)
            above = above->parent;
        CHECK(is_sound(root, root) && root->num_units == units);
        CHECK(ret == DART_OK || ret == DART_ERR_INVAL);
        CHECK(!above || ret == DART_ERR_INVAL);
        CHECK(ret || domain->parent == parent);
        CHECK(ret || at < 0 || parent->children[at] == domain);
    }
    /* One goes and comes back elsewhere. */
    domain = any_domain(root);
    CHECK(!dart_domain_clone(domain, &taken));
    CHECK(taken->num_units == 0 ||
          dart_domain_add_subdomain(root, taken, -1) == DART_ERR_INVAL);
    CHECK(!dart_domain_destroy(domain));
    CHECK(is_sound(root, root) && root->num_units == units - taken->num_units);
    CHECK(!dart_domain_add_subdomain(root, taken, 0));
    CHECK(is_sound(root, root) && root->num_units == units);
    domain_free(root);
    own_units = false;
    return true;
}

int main(void)
{
    static const struct {
        bool (*test)(void);
        const char *what;
    } random_tests[] = {
        {test_clone, "a copy equals what it was made of"},
        {test_split, "parts have all units, each once"},
        {test_exclude, "what is excluded is gone with its units"},
        {test_select, "what is selected is left with its units"},
        {test_group, "groups take what they are told, all else keeps its tag"},
        {test_move, "what is moved or added has its units there"},
    };

    setvbuf(stdout, NULL, _IOLBF, 0);
    srand(1);
    tap_ok(test_build(), "a tree from what units saw");
    tap_ok(test_part_of_job(), "a tree of a team with some of the units");
    tap_ok(test_long_tags(),
           "a tree that tags have no room for has fewer levels");
    for (size_t i = 0; i < sizeof(random_tests) / sizeof(random_tests[0]);
         i++) {
        bool fine = true;

        for (int round = 0; round < ROUNDS && fine; round++)
            fine = random_tests[i].test();
        tap_ok(fine, random_tests[i].what);
    }
    return tap_end();
}
