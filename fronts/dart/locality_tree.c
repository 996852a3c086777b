/*
 * The tree of a team from what its units told of their hardware.
 *
 * Units are sorted by host and then by the chain of domains that they are in,
 * outermost first; each domain is then a run of units, so that the time is that
 * of sorting and the memory linear.
 */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain.h"
#include "fronts/dart/locality.h"

#define TAG_MAX DART_LOCALITY_DOMAIN_TAG_MAX_SIZE

/* A unit: its number in the job and in the team, and the way to its core. */
struct leaf {
    dart_unit_t id, index;
    int host;
    int steps;
    dart_locality_scope_pos_t way[DART_LOCALITY_MAX_DOMAIN_SCOPES];
};

struct build {
    const struct locality_input *input;
    struct leaf *leaves;
    dart_unit_locality_t *units; /* of the team */
    bool too_long;               /* a tag had no room */
};

/* --- Sorting ---------------------------------------------------------------- */

static int compare(int left, int right)
{
    return (left > right) - (left < right);
}

static int leaf_order(const void *a, const void *b)
{
    const struct leaf *left = a, *right = b;
    int order = compare(left->host, right->host);

    for (int i = 0; !order && i < left->steps && i < right->steps; i++) {
        order = compare((int)left->way[i].scope, (int)right->way[i].scope);
        if (!order)
            order = compare(left->way[i].index, right->way[i].index);
    }
    if (!order)
        order = compare(left->steps, right->steps);
    return order ? order : compare(left->id, right->id);
}

/* Where tags have no room for everything, caches go first, then all but cores. */
enum detail { EVERYTHING, NO_CACHES, CORES_ONLY, DETAILS };

static bool is_wanted(dart_locality_scope_t scope, enum detail detail)
{
    if (scope <= DART_LOCALITY_SCOPE_MODULE || scope > DART_LOCALITY_SCOPE_CORE)
        return false;
    return scope == DART_LOCALITY_SCOPE_CORE || detail == EVERYTHING ||
           (detail == NO_CACHES && scope != DART_LOCALITY_SCOPE_CACHE);
}

/* hwinfo's scopes are innermost first; the last step is always a core. */
static void find_way(struct leaf *leaf, const dart_hwinfo_t *hw,
                     enum detail detail)
{
    int scopes = hw->num_scopes;

    if (scopes > DART_LOCALITY_MAX_DOMAIN_SCOPES)
        scopes = DART_LOCALITY_MAX_DOMAIN_SCOPES;
    leaf->steps = 0;
    for (int i = scopes - 1; i >= 0; i--) {
        bool core = hw->scopes[i].scope == DART_LOCALITY_SCOPE_CORE;

        if (is_wanted(hw->scopes[i].scope, detail) &&
            (core || leaf->steps < DART_LOCALITY_MAX_DOMAIN_SCOPES - 1))
            leaf->way[leaf->steps++] = hw->scopes[i];
        if (core)
            return;
    }
    leaf->way[leaf->steps++] = (dart_locality_scope_pos_t){
        DART_LOCALITY_SCOPE_CORE, hw->core_id >= 0 ? hw->core_id : hw->cpu_id};
}

/* --- Building ---------------------------------------------------------------- */

/* A domain with the units of @count leaves and room for @children. */
static dart_domain_locality_t *open_domain(const struct build *build,
                                           const struct leaf *leaves, int count,
                                           int children)
{
    dart_domain_locality_t *domain = domain_new();

    if (!domain)
        return NULL;
    domain->team = build->input->team;
    domain->unit_ids = malloc((size_t)count * sizeof(*domain->unit_ids));
    if (children > 0)
        domain->children =
            malloc((size_t)children * sizeof(dart_domain_locality_t *));
    if (!domain->unit_ids || (children > 0 && !domain->children)) {
        domain_free(domain);
        return NULL;
    }
    domain->num_units = count;
    for (int i = 0; i < count; i++)
        domain->unit_ids[i].id = leaves[i].id;
    qsort(domain->unit_ids, (size_t)count, sizeof(*domain->unit_ids),
          domain_unit_order);
    return domain;
}

/* Into @parent, which has room; from its parent it has what they share. */
static void hang(struct build *build, dart_domain_locality_t *parent,
                 dart_domain_locality_t *domain)
{
    domain->parent = parent;
    domain->relative_index = parent->num_domains;
    domain->level = parent->level + 1;
    if (!domain_tag_child(parent->domain_tag, parent->num_domains,
                          domain->domain_tag))
        build->too_long = true;
    if (parent->scope >= DART_LOCALITY_SCOPE_NODE) {
        memcpy(domain->host, parent->host, sizeof(domain->host));
        domain->num_nodes = 1;
        domain->node_id = parent->node_id;
    }
    parent->children[parent->num_domains++] = domain;
}

static bool same_step(const struct leaf *a, const struct leaf *b, int step)
{
    return step < a->steps && step < b->steps &&
           a->way[step].scope == b->way[step].scope &&
           a->way[step].index == b->way[step].index;
}

/* How many of the leaves from the first on go the same step. */
static int run_length(const struct leaf *leaves, int count, int step)
{
    int run = 1;

    while (run < count && same_step(leaves, leaves + run, step))
        run++;
    return run;
}

static int count_runs(const struct leaf *leaves, int count, int step)
{
    int runs = 0;

    for (int i = 0; i < count; i += run_length(leaves + i, count - i, step))
        runs++;
    return runs;
}

/* Below @parent, what the leaves have from @step on. */
static bool grow(struct build *build, dart_domain_locality_t *parent,
                 const struct leaf *leaves, int count, int step)
{
    for (int i = 0, run; i < count; i += run) {
        const struct leaf *first = leaves + i;
        bool last = step == first->steps - 1;
        dart_domain_locality_t *domain;

        run = run_length(first, count - i, step);
        domain = open_domain(build, first, run,
                             last ? 0 : count_runs(first, run, step + 1));
        if (!domain)
            return false;
        domain->scope = first->way[step].scope;
        domain->global_index = first->way[step].index;
        hang(build, parent, domain);
        if (!last && !grow(build, domain, first, run, step + 1))
            return false;
    }
    return true;
}

/* A module's cores are its units' in equal parts. */
static void share_cores(dart_domain_locality_t *domain, int cores, int units)
{
    for (int i = 0; i < domain->num_domains; i++) {
        dart_domain_locality_t *child = domain->children[i];
        long long share = (long long)cores * child->num_units / units;

        child->num_cores = share > 0 ? (int)share : 1;
        share_cores(child, cores, units);
    }
    domain_survey(domain);
}

static int node_cores(const struct build *build, const struct leaf *leaves,
                      int count, const dart_domain_locality_t *module)
{
    int cores = domain_at_scope(module, DART_LOCALITY_SCOPE_CORE, NULL);

    for (int i = 0; i < count; i++) {
        int seen = build->input->all[leaves[i].id].num_cores;

        if (seen > cores)
            cores = seen;
    }
    return cores;
}

/* A node has one module: itself. */
static dart_domain_locality_t *grow_node(struct build *build,
                                         dart_domain_locality_t *root,
                                         const struct leaf *leaves, int count)
{
    dart_domain_locality_t *node = open_domain(build, leaves, count, 1);
    dart_domain_locality_t *module;

    if (!node)
        return NULL;
    node->scope = DART_LOCALITY_SCOPE_NODE;
    node->global_index = node->node_id = root->num_domains;
    node->num_nodes = 1;
    hang(build, root, node);
    memcpy(node->host, build->input->all[leaves->id].host, sizeof(node->host));
    module = open_domain(build, leaves, count, count_runs(leaves, count, 0));
    if (!module)
        return NULL;
    module->scope = DART_LOCALITY_SCOPE_MODULE;
    module->global_index = 0;
    hang(build, node, module);
    if (!grow(build, module, leaves, count, 0))
        return NULL;
    node->num_cores = node_cores(build, leaves, count, module);
    module->num_cores = node->num_cores;
    share_cores(module, node->num_cores, count);
    domain_survey(node);
    return node;
}

static int host_run(const struct leaf *leaves, int count)
{
    int run = 1;

    while (run < count && leaves[run].host == leaves->host)
        run++;
    return run;
}

static dart_domain_locality_t *grow_root(struct build *build)
{
    const struct leaf *leaves = build->leaves;
    int count = build->input->unit_count, nodes = 0;
    dart_domain_locality_t *root;

    for (int i = 0; i < count; i += host_run(leaves + i, count - i))
        nodes++;
    root = open_domain(build, leaves, count, nodes);
    if (!root)
        return NULL;
    root->scope = DART_LOCALITY_SCOPE_GLOBAL;
    root->global_index = 0;
    root->num_cores = 0;
    root->shared_mem_bytes = nodes > 1 ? 0 : -1;
    for (int i = 0, run; i < count; i += run) {
        dart_domain_locality_t *node;

        run = host_run(leaves + i, count - i);
        node = grow_node(build, root, leaves + i, run);
        if (!node) {
            domain_free(root);
            return NULL;
        }
        root->num_cores += node->num_cores;
    }
    domain_survey(root);
    return root;
}

/* --- Units ------------------------------------------------------------------- */

/* Tell the units of each core where they are. */
static void place_units(const struct build *build,
                        const dart_domain_locality_t *domain, int *next)
{
    if (domain->num_domains > 0) {
        for (int i = 0; i < domain->num_domains; i++)
            place_units(build, domain->children[i], next);
        return;
    }
    for (int i = 0; i < domain->num_units; i++) {
        const struct leaf *leaf = &build->leaves[(*next)++];
        dart_unit_locality_t *unit = &build->units[leaf->index];
        int cores = domain->num_cores / domain->num_units;

        unit->unit.id = leaf->index;
        unit->team = build->input->team;
        unit->hwinfo = build->input->all[leaf->id];
        unit->hwinfo.num_cores = cores > 0 ? cores : 1;
        memcpy(unit->domain_tag, domain->domain_tag, TAG_MAX);
    }
}

dart_domain_locality_t *locality_tree(const struct locality_input *input,
                                      dart_unit_locality_t *out_units)
{
    int count = input->unit_count, next = 0;
    dart_domain_locality_t *root = NULL;
    struct build build = {.input = input, .units = out_units};

    build.leaves = malloc((size_t)count * sizeof(*build.leaves));
    if (!build.leaves)
        return NULL;
    for (enum detail detail = EVERYTHING; detail < DETAILS; detail++) {
        build.too_long = false;
        for (int i = 0; i < count; i++) {
            struct leaf *leaf = &build.leaves[i];

            leaf->index = i;
            leaf->id = input->ids[i];
            leaf->host = input->hosts[leaf->id];
            find_way(leaf, &input->all[leaf->id], detail);
        }
        qsort(build.leaves, (size_t)count, sizeof(*build.leaves), leaf_order);
        root = grow_root(&build);
        if (!root || !build.too_long)
            break;
        domain_free(root);
        root = NULL;
    }
    if (root)
        place_units(&build, root, &next);
    free(build.leaves);
    return root;
}

/* --- Hosts -------------------------------------------------------------------- */

struct host_name {
    const char *name;
    int unit;
};

static int name_order(const void *a, const void *b)
{
    const struct host_name *left = a, *right = b;
    int order = strncmp(left->name, right->name, DART_LOCALITY_HOST_MAX_SIZE);

    return order ? order : compare(left->unit, right->unit);
}

bool locality_hosts(const dart_hwinfo_t *all, int count, int *out_hosts)
{
    struct host_name *names = malloc((size_t)count * sizeof(*names));
    int hosts = 0;

    if (!names)
        return false;
    for (int i = 0; i < count; i++)
        names[i] = (struct host_name){all[i].host, i};
    qsort(names, (size_t)count, sizeof(*names), name_order);
    /* First for each unit its host's first unit, then numbers in their order. */
    for (int i = 0, first = 0; i < count; i++) {
        if (strncmp(names[i].name, names[first].name,
                    DART_LOCALITY_HOST_MAX_SIZE) != 0)
            first = i;
        out_hosts[names[i].unit] = names[first].unit;
    }
    for (int i = 0; i < count; i++)
        out_hosts[i] = out_hosts[i] == i ? hosts++ : out_hosts[out_hosts[i]];
    free(names);
    return true;
}
