/* Trees of locality domains: wrong calls, calls without memory, domains that a
 * program made by hand, and large trees. */
#include "tests/unit/dart_domains.h"

static domain_t *small_tree(void)
{
    struct job job = job_new(8);
    domain_t *root;

    for (int i = 0; i < 8; i++)
        fake(&job.all[i], i / 4, 3 * (i % 4));
    root = job_tree(&job);
    job_free(&job);
    return root;
}

static const char *nothing[] = {NULL};

static bool test_null(void)
{
    domain_t *root = small_tree(), *out = root, **list;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE], **tags;
    const char *good[] = {".0"};
    int count = 7;

    CHECK(dart_domain_create(NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_clone(root, NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_clone(NULL, &out) == DART_ERR_INVAL && !out);
    CHECK(dart_domain_destroy(NULL) == DART_OK);
    CHECK(dart_domain_assign(NULL, root) == DART_ERR_INVAL);
    CHECK(dart_domain_assign(root, NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_assign(root, root) == DART_OK);
    out = root;
    CHECK(dart_domain_find(NULL, ".", &out) == DART_ERR_INVAL && !out);
    CHECK(dart_domain_find(root, NULL, &out) == DART_ERR_INVAL);
    CHECK(dart_domain_find(root, ".", NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_select(NULL, 1, good) == DART_ERR_INVAL);
    CHECK(dart_domain_select(root, 1, NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_select(root, -1, good) == DART_ERR_INVAL);
    CHECK(dart_domain_select(root, 1, nothing) == DART_ERR_INVAL);
    CHECK(dart_domain_exclude(NULL, 1, good) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(root, NULL, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(NULL, root, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(NULL, root, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(root->children[0], NULL, 0) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_split_scope(NULL, DART_LOCALITY_SCOPE_NODE, 1, root) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_split_scope(root, DART_LOCALITY_SCOPE_NODE, 1, NULL) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_scope_tags(root, DART_LOCALITY_SCOPE_NODE, NULL, &tags) ==
              DART_ERR_INVAL &&
          !tags);
    CHECK(dart_domain_scope_tags(root, DART_LOCALITY_SCOPE_NODE, &count,
                                 NULL) == DART_ERR_INVAL &&
          count == 0);
    CHECK(dart_domain_scope_domains(NULL, DART_LOCALITY_SCOPE_NODE, &count,
                                    &list) == DART_ERR_INVAL &&
          !list);
    CHECK(dart_domain_group(NULL, 1, good, tag) == DART_ERR_INVAL);
    CHECK(dart_domain_group(root, 1, NULL, tag) == DART_ERR_INVAL);
    CHECK(dart_domain_group(root, 1, nothing, tag) == DART_ERR_INVAL);
    CHECK(dart_domain_group(root, 1, good, NULL) == DART_ERR_INVAL);
    CHECK(dart_domain_group(root, 0, good, tag) == DART_ERR_INVAL);
    CHECK(is_sound(root, root) && root->num_units == 8);
    domain_free(root);
    return true;
}

static bool test_wrong(void)
{
    domain_t *root = small_tree(), *other = small_tree(), part[2], *one;
    domain_t *node = root->children[1], **list;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE], **tags;
    int count;

    CHECK(!dart_domain_create(&one));
    CHECK(dart_domain_split_scope(root, DART_LOCALITY_SCOPE_CPU, 2, part) ==
          DART_ERR_NOTFOUND);
    CHECK(dart_domain_split_scope(root, DART_LOCALITY_SCOPE_NODE, 0, part) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_scope_domains(root, DART_LOCALITY_SCOPE_CPU, &count,
                                    &list) == DART_ERR_NOTFOUND &&
          !list && count == 0);
    CHECK(dart_domain_scope_tags(root, DART_LOCALITY_SCOPE_NODE, &count,
                                 &tags) == DART_OK &&
          count == 2 && strcmp(tags[1], ".1") == 0);
    free(tags[0]);
    free(tags[1]);
    free(tags);
    /* A tag's start is not a tag: .1 and .10 are different domains. */
    CHECK(dart_domain_exclude(root, 1, (const char *[]){".10"}) == DART_OK);
    CHECK(root->num_domains == 2);
    CHECK(dart_domain_group(root, 1, (const char *[]){"."}, tag) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_group(root, 2, (const char *[]){".0", ".7"}, tag) ==
          DART_ERR_NOTFOUND);
    CHECK(dart_domain_group(root, 1, (const char *[]){"0"}, tag) ==
          DART_ERR_NOTFOUND);
    CHECK(dart_domain_add_subdomain(root, node, -1) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(root, root, -1) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(node, root, -1) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(root, other, -1) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(root, one, 3) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(root, node, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(node, node, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(node, node->children[0], 0) ==
          DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(node, other, 0) == DART_ERR_INVAL);
    CHECK(dart_domain_move_subdomain(node, root, 2) == DART_ERR_INVAL);
    CHECK(dart_domain_assign(node, other) == DART_ERR_INVAL);
    CHECK(equal(root, other));
    /* What the library frees. */
    owned = root;
    CHECK(dart_domain_destroy(root) == DART_ERR_INVAL);
    CHECK(dart_domain_assign(root, other) == DART_ERR_INVAL);
    CHECK(dart_domain_add_subdomain(one, root, -1) == DART_ERR_INVAL);
    owned = NULL;
    domain_free(one);
    domain_free(root);
    domain_free(other);
    return true;
}

/* --- By hand -------------------------------------------------------------------- */

static domain_t *by_hand(dart_locality_scope_t scope, dart_unit_t unit)
{
    domain_t *domain;

    if (dart_domain_create(&domain))
        return NULL;
    domain->scope = scope;
    domain->num_cores = 2;
    if (unit >= 0) {
        domain->num_units = 1;
        domain->unit_ids = malloc(sizeof(*domain->unit_ids));
        domain->unit_ids->id = unit;
    }
    return domain;
}

static bool test_by_hand(void)
{
    domain_t *root = by_hand(DART_LOCALITY_SCOPE_GLOBAL, -1), *deep, *copy;

    root->num_cores = -1;
    own_units = true;
    for (int i = 0; i < 3; i++)
        CHECK(!dart_domain_add_subdomain(
            root, by_hand(DART_LOCALITY_SCOPE_NODE, 2 - i), 0));
    CHECK(is_sound(root, root));
    CHECK(root->num_units == 3 && root->num_cores == 6 && root->num_nodes == 3);
    CHECK(strcmp(root->children[0]->domain_tag, ".2") == 0);
    /* No number comes again while the last of them is there. */
    CHECK(!dart_domain_destroy(domain_find(root, ".1")));
    CHECK(!dart_domain_add_subdomain(root, by_hand(DART_LOCALITY_SCOPE_NODE, 1),
                                     -1));
    CHECK(strcmp(root->children[2]->domain_tag, ".3") == 0);
    CHECK(is_sound(root, root) && root->num_cores == 6);
    /* As deep as tags have room: fifteen numbers of one digit. */
    deep = root;
    for (int level = 1; level <= 15; level++) {
        copy = by_hand(DART_LOCALITY_SCOPE_GROUP, 10 + level);
        CHECK(!dart_domain_add_subdomain(deep, copy, -1));
        deep = copy;
    }
    CHECK(strlen(deep->domain_tag) == 30 && deep->level == 15);
    copy = by_hand(DART_LOCALITY_SCOPE_GROUP, 99);
    CHECK(dart_domain_add_subdomain(deep, copy, -1) == DART_ERR_INVAL);
    CHECK(root->num_units == 18 && !copy->parent && deep->num_domains == 0);
    domain_free(copy);
    /* Counts of arrays that are not there. */
    deep->num_domains = 4;
    deep->num_aliases = 4;
    CHECK(!dart_domain_clone(root, &copy) && copy->num_units == 18);
    CHECK(is_sound(copy, copy));
    domain_free(copy);
    /* An alias of what goes is forgotten. */
    root->aliases = malloc(sizeof(dart_domain_locality_t *));
    root->aliases[0] = deep;
    root->num_aliases = 1;
    CHECK(!dart_domain_destroy(deep));
    CHECK(root->num_aliases == 0 && !root->aliases);
    domain_free(root);
    own_units = false;
    return true;
}

/* --- Without memory -------------------------------------------------------------- */

static dart_ret_t call(int which, domain_t *root, domain_t **out)
{
    const char *tags[] = {".0.0.0", ".1"};
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    dart_ret_t ret = DART_OK;

    switch (which) {
    case 0:
        return dart_domain_clone(root, out);
    case 1:
        return dart_domain_select(root, 2, tags);
    case 2:
        return dart_domain_exclude(root, 2, tags);
    case 3:
        return dart_domain_group(root, 2, tags, tag);
    case 4:
        return dart_domain_move_subdomain(domain_find(root, ".0.0.0"),
                                          root->children[1], 0);
    case 5:
        *out = domain_new();
        if (!*out)
            return DART_ERR_NOMEM;
        ret = dart_domain_assign(*out, root);
        break;
    case 6:
        *out = malloc(sizeof(domain_t));
        if (!*out)
            return DART_ERR_NOMEM;
        ret = dart_domain_split_scope(root, DART_LOCALITY_SCOPE_NODE, 1, *out);
        if (ret)
            free(*out);
        *out = ret ? NULL : *out;
        break;
    default:
        ret = dart_domain_add_subdomain(root, *out, 0);
        *out = ret ? *out : NULL;
    }
    return ret;
}

static bool test_no_memory(int which)
{
    bool done = false;

    for (long left = 0; !done; left++) {
        domain_t *root = small_tree(), *same = small_tree(), *out = NULL;
        dart_ret_t ret;

        if (which == 7) { /* what is added is there before */
            out = small_tree();
            for (int i = 0; i < out->num_units; i++)
                out->unit_ids[i].id += 100;
        }
        allocations_left = left;
        ret = call(which, root, &out);
        done = allocations_left != 0;
        allocations_left = -1;
        CHECK(ret == DART_OK || ret == DART_ERR_NOMEM);
        CHECK(!ret || !done);
        if (ret || which == 0 || which == 5 || which == 6)
            CHECK(equal(root, same));
        domain_free(out);
        domain_free(root);
        domain_free(same);
    }
    return true;
}

static bool test_build_no_memory(void)
{
    domain_t *root = NULL;
    struct job job = job_new(8);

    for (int i = 0; i < 8; i++)
        fake(&job.all[i], i / 4, i);
    for (long left = 0; !root; left++) {
        CHECK(left < 1000);
        allocations_left = left;
        root = job_tree(&job);
        allocations_left = -1;
    }
    CHECK(is_sound(root, root));
    domain_free(root);
    job_free(&job);
    return true;
}

/* --- Large ------------------------------------------------------------------------ */

static bool test_large(int hosts)
{
    enum { UNITS = 10000 };
    struct job job = job_new(UNITS);
    domain_t *root, *copy, *parts;
    const char **tags = calloc(UNITS, sizeof(*tags));
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    int nodes;

    for (int i = 0; i < UNITS; i++)
        fake(&job.all[i], i % hosts, i / hosts % 16);
    root = job_tree(&job);
    CHECK(root && root->num_units == UNITS && root->num_domains == hosts);
    CHECK(!dart_domain_clone(root, &copy) && equal(root, copy));
    nodes = domain_at_scope(root, DART_LOCALITY_SCOPE_NODE, NULL);
    parts = calloc((size_t)nodes, sizeof(*parts));
    CHECK(
        !dart_domain_split_scope(root, DART_LOCALITY_SCOPE_NODE, nodes, parts));
    for (int i = 0; i < nodes; i++) {
        CHECK(parts[i].num_units == root->children[i]->num_units);
        domain_clear(&parts[i]);
    }
    /* Every other unit's core. */
    for (int i = 0; i < UNITS / 2; i++)
        tags[i] = job.unit[2 * i].domain_tag;
    CHECK(!dart_domain_group(copy, UNITS / 2, tags, tag));
    CHECK(copy->num_units == UNITS);
    CHECK(!dart_domain_exclude(copy, 1, (const char *[]){tag}));
    CHECK(!dart_domain_exclude(root, UNITS / 2, tags));
    CHECK(copy->num_units == root->num_units);
    CHECK(!dart_domain_select(root, UNITS / 2, tags) && root->num_units == 0);
    free(parts);
    free(tags);
    domain_free(copy);
    domain_free(root);
    job_free(&job);
    return true;
}

int main(void)
{
    bool fine = true;

    setvbuf(stdout, NULL, _IOLBF, 0);
    srand(1);
    tap_ok(test_null(), "NULL is an error");
    tap_ok(test_wrong(), "wrong calls change nothing");
    tap_ok(test_by_hand(), "domains that the program made");
    for (int which = 0; which < 8 && fine; which++)
        fine = test_no_memory(which);
    tap_ok(fine, "without memory nothing changes");
    tap_ok(test_build_no_memory(), "without memory there is no tree");
    tap_ok(test_large(10000), "10,000 units on 10,000 hosts");
    tap_ok(test_large(100), "10,000 units on 100 hosts");
    return tap_end();
}
