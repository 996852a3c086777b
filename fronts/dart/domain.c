/* Trees of locality domains: making, finding, and what a domain says of those
 * below it.  See domain.h. */
#include "fronts/dart/domain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"

#define TAG_MAX DART_LOCALITY_DOMAIN_TAG_MAX_SIZE

dart_domain_locality_t *domain_new(void)
{
    dart_domain_locality_t *domain = calloc(1, sizeof(*domain));

    if (!domain)
        return NULL;
    domain->domain_tag[0] = '.';
    domain->scope = DART_LOCALITY_SCOPE_UNDEFINED;
    domain->global_index = -1;
    domain->is_symmetric = 1;
    domain->team = DART_UNDEFINED_TEAM_ID;
    domain->num_nodes = -1;
    domain->node_id = -1;
    domain->num_cores = -1;
    domain->shared_mem_bytes = -1;
    return domain;
}

void domain_clear(dart_domain_locality_t *root)
{
    for (int i = 0; i < domain_children(root); i++)
        domain_free(root->children[i]);
    free(root->children);
    free(root->unit_ids);
    free(root->aliases);
}

void domain_free(dart_domain_locality_t *root)
{
    if (!root)
        return;
    domain_clear(root);
    free(root);
}

dart_domain_locality_t *domain_root(const dart_domain_locality_t *domain)
{
    while (domain->parent)
        domain = domain->parent;
    return (dart_domain_locality_t *)domain;
}

/* --- Tags ------------------------------------------------------------------ */

int domain_last_number(const char *tag)
{
    const char *dot = strrchr(tag, '.');
    char *end;
    long number;

    if (!dot || !dot[1])
        return -1;
    number = strtol(dot + 1, &end, 10);
    return *end || number < 0 || number > INT_MAX - 1 ? -1 : (int)number;
}

bool domain_tag_child(const char *parent, int number, char out[TAG_MAX])
{
    char tag[TAG_MAX + 16];
    int length;

    if (strcmp(parent, ".") == 0)
        parent = "";
    length = snprintf(tag, sizeof(tag), "%.*s.%d", TAG_MAX, parent, number);
    if (length >= TAG_MAX)
        return false;
    memcpy(out, tag, (size_t)length + 1);
    return true;
}

bool domain_tags_fit(const dart_domain_locality_t *domain, size_t length)
{
    char number[16];

    if (length >= (size_t)TAG_MAX)
        return false;
    for (int i = 0; i < domain_children(domain); i++) {
        int digits = snprintf(number, sizeof(number), ".%d", i);

        if (!domain_tags_fit(domain->children[i], length + (size_t)digits))
            return false;
    }
    return true;
}

void domain_retag(dart_domain_locality_t *domain)
{
    for (int i = 0; i < domain_children(domain); i++) {
        dart_domain_locality_t *child = domain->children[i];

        domain_tag_child(domain->domain_tag, i, child->domain_tag);
        child->parent = domain;
        child->relative_index = i;
        child->level = domain->level + 1;
        child->team = domain->team;
        domain_retag(child);
    }
}

/* Is @above the same as @tag, or its start up to a dot? */
static bool tag_is_above(const char *above, const char *tag)
{
    size_t length = strnlen(above, TAG_MAX);

    return strncmp(above, tag, length) == 0 &&
           (tag[length] == '\0' || tag[length] == '.');
}

bool domain_is_in(const dart_domain_locality_t *domain, const char *tag)
{
    return strcmp(tag, ".") == 0 || tag_is_above(tag, domain->domain_tag);
}

/* Where to look first: a number in a tag is the position, or beyond it where
 * siblings have gone. */
static int guess(const dart_domain_locality_t *domain, const char *tag)
{
    const char *rest = tag + strlen(domain->domain_tag);
    int children = domain_children(domain);
    long number;

    if (strcmp(domain->domain_tag, ".") == 0)
        rest = tag;
    if (strlen(tag) < strlen(domain->domain_tag) || *rest != '.')
        return 0;
    number = strtol(rest + 1, NULL, 10);
    if (number < 0)
        return 0;
    return number < children ? (int)number : children - 1;
}

dart_domain_locality_t *domain_towards(const dart_domain_locality_t *domain,
                                       const char *tag)
{
    int children = domain_children(domain);
    int first = children ? guess(domain, tag) : 0;

    for (int i = first; i >= 0 && i < children; i--) {
        if (tag_is_above(domain->children[i]->domain_tag, tag))
            return domain->children[i];
    }
    for (int i = first + 1; i < children; i++) {
        if (tag_is_above(domain->children[i]->domain_tag, tag))
            return domain->children[i];
    }
    return NULL;
}

dart_domain_locality_t *domain_find(const dart_domain_locality_t *domain,
                                    const char *tag)
{
    while (domain && strcmp(domain->domain_tag, tag) != 0)
        domain = domain_towards(domain, tag);
    return (dart_domain_locality_t *)domain;
}

int domain_at_scope(const dart_domain_locality_t *domain,
                    dart_locality_scope_t scope, dart_domain_locality_t **out)
{
    int count = 0;

    if (domain->scope == scope) {
        if (out)
            *out = (dart_domain_locality_t *)domain;
        return 1;
    }
    for (int i = 0; i < domain_children(domain); i++)
        count += domain_at_scope(domain->children[i], scope,
                                 out ? out + count : NULL);
    return count;
}

/* --- What domains say of those below ---------------------------------------- */

int domain_unit_order(const void *a, const void *b)
{
    dart_unit_t left = ((const dart_global_unit_t *)a)->id;
    dart_unit_t right = ((const dart_global_unit_t *)b)->id;

    return (left > right) - (left < right);
}

void domain_lose_units(dart_domain_locality_t *domain,
                       const dart_global_unit_t *gone, int count)
{
    int left = 0;

    if (count == 0)
        return;
    for (int i = 0; i < domain_units(domain); i++) {
        if (!bsearch(&domain->unit_ids[i], gone, (size_t)count, sizeof(*gone),
                     domain_unit_order))
            domain->unit_ids[left++] = domain->unit_ids[i];
    }
    domain->num_units = left;
    if (left == 0) {
        free(domain->unit_ids);
        domain->unit_ids = NULL;
    }
}

void domain_lose_cores(dart_domain_locality_t *domain, int cores)
{
    if (domain->num_cores > 0 && cores > 0)
        domain->num_cores =
            domain->num_cores > cores ? domain->num_cores - cores : 0;
}

void domain_gain_cores(dart_domain_locality_t *domain, int cores)
{
    if (cores <= 0)
        return;
    if (domain->num_cores < 0)
        domain->num_cores = 0;
    domain->num_cores += cores;
}

/* The node_id of every node below; returns how many; with @out, stores them. */
static int nodes_below(const dart_domain_locality_t *domain, int *out)
{
    int count = 0;

    for (int i = 0; i < domain_children(domain); i++) {
        const dart_domain_locality_t *child = domain->children[i];

        if (child->scope == DART_LOCALITY_SCOPE_NODE) {
            if (out)
                out[count] = child->node_id;
            count++;
        } else {
            count += nodes_below(child, out ? out + count : NULL);
        }
    }
    return count;
}

static int int_order(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;

    return (left > right) - (left < right);
}

/* A node is there once, though a group may have taken parts of it. */
static void survey_nodes(dart_domain_locality_t *domain)
{
    int count = nodes_below(domain, NULL), different = 0;
    int *ids = count ? malloc((size_t)count * sizeof(*ids)) : NULL;

    /* Without memory the old numbers stay: the change itself is done. */
    if (!ids)
        return;
    nodes_below(domain, ids);
    qsort(ids, (size_t)count, sizeof(*ids), int_order);
    for (int i = 0; i < count; i++)
        different += i == 0 || ids[i] < 0 || ids[i] != ids[i - 1];
    domain->num_nodes = different;
    domain->node_id = different == 1 ? ids[0] : -1;
    free(ids);
}

void domain_survey(dart_domain_locality_t *domain)
{
    int children = domain_children(domain);

    domain->is_symmetric = 1;
    for (int i = 0; i < children; i++) {
        const dart_domain_locality_t *child = domain->children[i];
        const dart_domain_locality_t *first = domain->children[0];

        if (!child->is_symmetric || child->scope != first->scope ||
            child->num_cores != first->num_cores ||
            child->num_domains != first->num_domains)
            domain->is_symmetric = 0;
    }
    if (domain->scope >= DART_LOCALITY_SCOPE_NODE)
        return;
    survey_nodes(domain);
    if (children == 0 && domain->scope == DART_LOCALITY_SCOPE_GLOBAL) {
        domain->num_nodes = 0;
        domain->node_id = -1;
    }
}

static void drop_aliases(dart_domain_locality_t *domain,
                         const dart_domain_locality_t *root)
{
    int left = 0;

    for (int i = 0; domain->aliases && i < domain->num_aliases; i++) {
        if (domain_root(domain->aliases[i]) == root)
            domain->aliases[left++] = domain->aliases[i];
    }
    domain->num_aliases = left;
    if (left == 0) {
        free(domain->aliases);
        domain->aliases = NULL;
    }
    for (int i = 0; i < domain_children(domain); i++)
        drop_aliases(domain->children[i], root);
}

void domain_drop_aliases(dart_domain_locality_t *root)
{
    drop_aliases(root, root);
}

/* --- The interface ---------------------------------------------------------- */

dart_ret_t dart_domain_create(dart_domain_locality_t **domain_out)
{
    if (!domain_out)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_create: no place for it");
    *domain_out = domain_new();
    return *domain_out ? DART_OK : DART_ERR_NOMEM;
}

dart_ret_t dart_domain_find(const dart_domain_locality_t *domain_in,
                            const char *domain_tag,
                            dart_domain_locality_t **subdomain_out)
{
    if (!subdomain_out)
        return front_fail(DART_ERR_INVAL, "dart_domain_find: no place for it");
    *subdomain_out = NULL;
    if (!domain_in || !domain_tag)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_find: no domain, or no tag");
    *subdomain_out = domain_find(domain_in, domain_tag);
    return *subdomain_out ? DART_OK : DART_ERR_NOTFOUND;
}

dart_ret_t dart_domain_scope_domains(const dart_domain_locality_t *domain_in,
                                     dart_locality_scope_t scope,
                                     int *num_domains_out,
                                     dart_domain_locality_t ***domains_out)
{
    int count;

    if (num_domains_out)
        *num_domains_out = 0;
    if (domains_out)
        *domains_out = NULL;
    if (!domain_in || !num_domains_out || !domains_out)
        return front_fail(DART_ERR_INVAL, "dart_domain_scope_domains: NULL");
    count = domain_at_scope(domain_in, scope, NULL);
    if (count == 0)
        return DART_ERR_NOTFOUND;
    *domains_out = malloc((size_t)count * sizeof(**domains_out));
    if (!*domains_out)
        return DART_ERR_NOMEM;
    *num_domains_out = domain_at_scope(domain_in, scope, *domains_out);
    return DART_OK;
}

dart_ret_t dart_domain_scope_tags(const dart_domain_locality_t *domain_in,
                                  dart_locality_scope_t scope,
                                  int *num_domains_out, char ***domain_tags_out)
{
    dart_domain_locality_t **domains;
    char **tags;
    int count, i;
    dart_ret_t ret;

    if (domain_tags_out)
        *domain_tags_out = NULL;
    ret =
        dart_domain_scope_domains(domain_in, scope, num_domains_out, &domains);
    if (ret)
        return ret;
    count = *num_domains_out;
    *num_domains_out = 0;
    if (!domain_tags_out) {
        free(domains);
        return front_fail(DART_ERR_INVAL, "dart_domain_scope_tags: NULL");
    }
    tags = malloc((size_t)count * sizeof(*tags));
    for (i = 0; tags && i < count; i++) {
        tags[i] = strdup(domains[i]->domain_tag);
        if (!tags[i])
            break;
    }
    free(domains);
    if (!tags || i < count) {
        while (tags && i > 0)
            free(tags[--i]);
        free(tags);
        return DART_ERR_NOMEM;
    }
    *num_domains_out = count;
    *domain_tags_out = tags;
    return DART_OK;
}
