/* Adding domains to a tree, moving them in it, and taking one out.  See
 * domain_change.h. */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain_change.h"
#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"

bool domain_reserve_child(dart_domain_locality_t *parent)
{
    size_t count = (size_t)domain_children(parent) + 1;
    dart_domain_locality_t **children =
        realloc(parent->children, count * sizeof(*children));

    if (!children)
        return false;
    parent->children = children;
    return true;
}

static int next_number(const dart_domain_locality_t *parent)
{
    int next = domain_children(parent);

    for (int i = 0; i < domain_children(parent); i++) {
        int number = domain_last_number(parent->children[i]->domain_tag);

        if (number >= next)
            next = number + 1;
    }
    return next;
}

bool domain_tag_for(const dart_domain_locality_t *parent,
                    const dart_domain_locality_t *domain, char *tag)
{
    return domain_tag_child(parent->domain_tag, next_number(parent), tag) &&
           domain_tags_fit(domain, strlen(tag));
}

static void place_child(dart_domain_locality_t *parent,
                        dart_domain_locality_t *domain, int at)
{
    int children = domain_children(parent);

    for (int i = children; i > at; i--) {
        parent->children[i] = parent->children[i - 1];
        parent->children[i]->relative_index = i;
    }
    parent->children[at] = domain;
    parent->num_domains = children + 1;
    domain->parent = parent;
    domain->relative_index = at;
}

void domain_insert(dart_domain_locality_t *parent,
                   dart_domain_locality_t *domain, int at, const char *tag)
{
    place_child(parent, domain, at);
    domain->level = parent->level + 1;
    domain->team = parent->team;
    strcpy(domain->domain_tag, tag);
    domain_retag(domain);
}

/* Take it from its parent's children, whose array stays, even if empty. */
static void displace_child(dart_domain_locality_t *domain)
{
    dart_domain_locality_t *parent = domain->parent;
    int left = 0;

    for (int i = 0; i < domain_children(parent); i++) {
        if (parent->children[i] == domain)
            continue;
        parent->children[left] = parent->children[i];
        parent->children[left]->relative_index = left;
        left++;
    }
    parent->num_domains = left;
    domain->parent = NULL;
}

static void trim(dart_domain_locality_t *parent)
{
    if (parent->num_domains > 0)
        return;
    free(parent->children);
    parent->children = NULL;
}

static bool is_below(const dart_domain_locality_t *domain,
                     const dart_domain_locality_t *above)
{
    while (domain && domain != above)
        domain = domain->parent;
    return domain != NULL;
}

/* From @domain to @to, which is above it (NULL: to the root). */
static void survey_up(dart_domain_locality_t *domain,
                      const dart_domain_locality_t *to)
{
    for (; domain != to; domain = domain->parent)
        domain_survey(domain);
}

/* The units of @moved go from @from and what is above it below @to. */
static void lose_up(dart_domain_locality_t *from,
                    const dart_domain_locality_t *to,
                    const dart_domain_locality_t *moved)
{
    for (; from != to; from = from->parent) {
        domain_lose_units(from, moved->unit_ids, domain_units(moved));
        domain_lose_cores(from, moved->num_cores);
    }
}

static void sort_units(dart_domain_locality_t *domain)
{
    if (domain_units(domain) > 0)
        qsort(domain->unit_ids, (size_t)domain_units(domain),
              sizeof(*domain->unit_ids), domain_unit_order);
}

/* What the units of domains will be, each with those of another besides. */
struct growth {
    dart_domain_locality_t *domain;
    dart_global_unit_t *units;
};

/* For @from and what is above it below @to (NULL: the root, too).  To be freed
 * with growth_end(); NULL: no memory. */
static struct growth *growth_make(dart_domain_locality_t *from,
                                  const dart_domain_locality_t *to,
                                  const dart_domain_locality_t *added)
{
    size_t count = 1, i = 0;
    int units = domain_units(added);
    struct growth *growth;

    for (dart_domain_locality_t *at = from; at != to; at = at->parent)
        count++;
    growth = calloc(count, sizeof(*growth));
    if (!growth || units == 0)
        return growth;
    for (dart_domain_locality_t *at = from; at != to; at = at->parent, i++) {
        int own = domain_units(at);

        growth[i].units =
            malloc((size_t)(own + units) * sizeof(*growth[i].units));
        if (!growth[i].units) {
            while (i > 0)
                free(growth[--i].units);
            free(growth);
            return NULL;
        }
        growth[i].domain = at;
        if (own > 0)
            memcpy(growth[i].units, at->unit_ids,
                   (size_t)own * sizeof(*growth[i].units));
        memcpy(growth[i].units + own, added->unit_ids,
               (size_t)units * sizeof(*growth[i].units));
        qsort(growth[i].units, (size_t)(own + units), sizeof(*growth[i].units),
              domain_unit_order);
    }
    return growth;
}

/* By @units more; or, with @done false, not at all. */
static void growth_end(struct growth *growth, int units, bool done)
{
    for (size_t i = 0; growth && growth[i].domain; i++) {
        dart_domain_locality_t *domain = growth[i].domain;

        if (done) {
            domain->num_units = domain_units(domain) + units;
            free(domain->unit_ids);
            domain->unit_ids = growth[i].units;
        } else {
            free(growth[i].units);
        }
    }
    free(growth);
}

static void gain_up(dart_domain_locality_t *from,
                    const dart_domain_locality_t *to, int cores)
{
    for (; from != to; from = from->parent)
        domain_gain_cores(from, cores);
}

/* --- The interface ---------------------------------------------------------- */

dart_ret_t dart_domain_destroy(dart_domain_locality_t *domain)
{
    dart_domain_locality_t *parent;

    if (!domain)
        return DART_OK;
    if (locality_owns(domain))
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_destroy: the domains of team %d are not "
                          "the program's",
                          domain->team);
    parent = domain->parent;
    if (parent) {
        sort_units(domain);
        displace_child(domain);
        trim(parent);
        lose_up(parent, NULL, domain);
        survey_up(parent, NULL);
        domain_drop_aliases(domain_root(parent));
    }
    domain_free(domain);
    return DART_OK;
}

/* Has @root's tree one of the units of @domain? */
static bool share_units(const dart_domain_locality_t *root,
                        const dart_domain_locality_t *domain)
{
    for (int i = 0; i < domain_units(root) && domain_units(domain) > 0; i++) {
        if (bsearch(&root->unit_ids[i], domain->unit_ids,
                    (size_t)domain_units(domain), sizeof(*domain->unit_ids),
                    domain_unit_order))
            return true;
    }
    return false;
}

dart_ret_t dart_domain_add_subdomain(dart_domain_locality_t *domain,
                                     dart_domain_locality_t *subdomain,
                                     int subdomain_rel_id)
{
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    struct growth *growth;
    int at = subdomain_rel_id;

    if (!domain || !subdomain || at > domain_children(domain))
        return front_fail(
            DART_ERR_INVAL,
            "dart_domain_add_subdomain: no domain, or index %d is "
            "too large",
            at);
    if (subdomain->parent || locality_owns(subdomain) ||
        domain_root(domain) == subdomain)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_add_subdomain: %s is in a tree already",
                          subdomain->domain_tag);
    sort_units(subdomain);
    if (share_units(domain_root(domain), subdomain))
        return front_fail(
            DART_ERR_INVAL,
            "dart_domain_add_subdomain: %s has a unit of the tree "
            "it is to be in",
            subdomain->domain_tag);
    if (!domain_tag_for(domain, subdomain, tag))
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_add_subdomain: tags would be too long");
    growth = growth_make(domain, NULL, subdomain);
    if (!growth || !domain_reserve_child(domain)) {
        growth_end(growth, 0, false);
        return DART_ERR_NOMEM;
    }
    domain_insert(domain, subdomain, at < 0 ? domain_children(domain) : at,
                  tag);
    growth_end(growth, domain_units(subdomain), true);
    gain_up(domain, NULL, subdomain->num_cores);
    survey_up(domain, NULL);
    return DART_OK;
}

/* To another parent; everything has been looked at. */
static dart_ret_t move_to(dart_domain_locality_t *domain,
                          dart_domain_locality_t *parent, int at)
{
    dart_domain_locality_t *old = domain->parent, *common = parent;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    struct growth *growth;

    if (!domain_tag_for(parent, domain, tag))
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_move_subdomain: tags would be too long");
    while (!is_below(domain, common))
        common = common->parent;
    growth = growth_make(parent, common, domain);
    if (!growth || !domain_reserve_child(parent)) {
        growth_end(growth, 0, false);
        return DART_ERR_NOMEM;
    }
    sort_units(domain);
    displace_child(domain);
    trim(old);
    lose_up(old, common, domain);
    domain_insert(parent, domain, at, tag);
    growth_end(growth, domain_units(domain), true);
    gain_up(parent, common, domain->num_cores);
    survey_up(old, NULL);
    survey_up(parent, NULL);
    return DART_OK;
}

dart_ret_t dart_domain_move_subdomain(dart_domain_locality_t *domain,
                                      dart_domain_locality_t *new_parent_domain,
                                      int new_domain_rel_id)
{
    dart_domain_locality_t *parent = new_parent_domain;
    int at = new_domain_rel_id, last;

    if (!domain || !parent || !domain->parent)
        return front_fail(DART_ERR_INVAL, "dart_domain_move_subdomain: no "
                                          "domain, or the root of a tree");
    if (domain_root(domain) != domain_root(parent) || is_below(parent, domain))
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_move_subdomain: %s cannot be below %s",
                          domain->domain_tag, parent->domain_tag);
    last = domain_children(parent) - (domain->parent == parent);
    if (at > last)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_move_subdomain: index %d is too large",
                          at);
    if (at < 0)
        at = last;
    if (domain->parent != parent)
        return move_to(domain, parent, at);
    displace_child(domain);
    place_child(parent, domain, at);
    return DART_OK;
}
