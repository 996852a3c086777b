/* Taking domains out of a tree by their tags.  See domain_change.h. */
#include "fronts/dart/domain_change.h"

#include <stdlib.h>
#include <string.h>

#include "fronts/dart/front.h"

/* --- Marks ---------------------------------------------------------------------- */

static bool mark(struct marks *marks, const dart_domain_locality_t *domain,
                 bool named)
{
    if (marks->count == marks->max) {
        size_t max = marks->max ? 2 * marks->max : 64;
        struct mark *list = realloc(marks->list, max * sizeof(*list));

        if (!list)
            return false;
        marks->list = list;
        marks->max = max;
    }
    marks->list[marks->count++] = (struct mark){domain, named};
    return true;
}

/* By address, the named ones first. */
static int mark_order(const void *a, const void *b)
{
    const struct mark *left = a, *right = b;

    if (left->domain != right->domain)
        return left->domain > right->domain ? 1 : -1;
    return right->named - left->named;
}

static int mark_search(const void *key, const void *entry)
{
    const dart_domain_locality_t *domain = key;
    const struct mark *other = entry;

    return (domain > other->domain) - (domain < other->domain);
}

static const struct mark *mark_of(const struct marks *marks,
                                  const dart_domain_locality_t *domain)
{
    if (marks->count == 0)
        return NULL;
    return bsearch(domain, marks->list, marks->count, sizeof(*marks->list),
                   mark_search);
}

/* Mark what @tag names below @top; false: no memory. */
static bool mark_tag(struct marks *marks, const dart_domain_locality_t *top,
                     const char *tag)
{
    const dart_domain_locality_t *domain = top;
    size_t before = marks->count;

    if (domain_is_in(top, tag)) {
        marks->all = true;
        marks->found++;
        return true;
    }
    while (domain && strcmp(domain->domain_tag, tag) != 0) {
        if (!mark(marks, domain, false))
            return false;
        domain = domain_towards(domain, tag);
    }
    if (!domain) {
        marks->count = before;
        return true;
    }
    marks->found++;
    return mark(marks, domain, true);
}

dart_ret_t marks_make(struct marks *marks, const dart_domain_locality_t *top,
                      const char *const *tags, int count)
{
    size_t left = 0;

    *marks = (struct marks){0};
    for (int i = 0; i < count; i++) {
        if (!tags[i])
            return front_fail(DART_ERR_INVAL, "a domain tag is NULL");
        if (!mark_tag(marks, top, tags[i]))
            return DART_ERR_NOMEM;
    }
    if (marks->count == 0)
        return DART_OK;
    qsort(marks->list, marks->count, sizeof(*marks->list), mark_order);
    for (size_t i = 0; i < marks->count; i++) {
        if (i == 0 || marks->list[i].domain != marks->list[left - 1].domain)
            marks->list[left++] = marks->list[i];
    }
    marks->count = left;
    return DART_OK;
}

/* --- Taking away ------------------------------------------------------------ */

enum fate prune_fate(const struct prune *prune,
                     const dart_domain_locality_t *domain)
{
    const struct mark *found = mark_of(prune->marks, domain);

    if (prune->marks->all)
        return prune->select ? KEEP : TAKE;
    if (!found)
        return prune->select ? TAKE : KEEP;
    if (found->named)
        return prune->select ? KEEP : TAKE;
    return KEEP_PART;
}

/* The units of what will be taken, in @out if there is one; how many. */
static int count_gone(const struct prune *prune,
                      const dart_domain_locality_t *domain,
                      dart_global_unit_t *out)
{
    int count = 0;

    for (int i = 0; i < domain_children(domain); i++) {
        const dart_domain_locality_t *child = domain->children[i];
        enum fate fate = prune_fate(prune, child);

        if (fate == TAKE) {
            if (out && domain_units(child) > 0)
                memcpy(out + count, child->unit_ids,
                       (size_t)domain_units(child) * sizeof(*out));
            count += domain_units(child);
        } else if (fate == KEEP_PART) {
            count += count_gone(prune, child, out ? out + count : NULL);
        }
    }
    return count;
}

static void lose(dart_domain_locality_t *domain, const struct prune *prune,
                 int cores)
{
    domain_lose_units(domain, prune->gone, prune->gone_count);
    domain_lose_cores(domain, cores);
    domain_survey(domain);
}

int prune_take(dart_domain_locality_t *domain, struct prune *prune)
{
    int left = 0, cores = 0;

    for (int i = 0; i < domain_children(domain); i++) {
        dart_domain_locality_t *child = domain->children[i];
        enum fate fate = prune_fate(prune, child);

        if (fate == TAKE) {
            cores += child->num_cores > 0 ? child->num_cores : 0;
            child->parent = prune->doomed;
            prune->doomed = child;
            continue;
        }
        if (fate == KEEP_PART) {
            int lost = prune_take(child, prune);

            lose(child, prune, lost);
            cores += lost;
        }
        domain->children[left] = child;
        child->relative_index = left++;
    }
    domain->num_domains = left;
    if (left == 0) {
        free(domain->children);
        domain->children = NULL;
    }
    return cores;
}

static dart_ret_t prune_ready(struct prune *prune,
                              const dart_domain_locality_t *top)
{
    int count = count_gone(prune, top, NULL);

    if (count == 0)
        return DART_OK;
    prune->gone = malloc((size_t)count * sizeof(*prune->gone));
    if (!prune->gone)
        return DART_ERR_NOMEM;
    prune->gone_count = count_gone(prune, top, prune->gone);
    qsort(prune->gone, (size_t)count, sizeof(*prune->gone), domain_unit_order);
    return DART_OK;
}

void prune_end(struct prune *prune, dart_domain_locality_t *root)
{
    domain_drop_aliases(root);
    while (prune->doomed) {
        dart_domain_locality_t *next = prune->doomed->parent;

        domain_free(prune->doomed);
        prune->doomed = next;
    }
    free(prune->gone);
}

static dart_ret_t filter(const char *what, dart_domain_locality_t *top,
                         int count, const char **tags, bool select)
{
    struct marks marks = {0};
    struct prune prune = {.marks = &marks, .select = select};
    dart_ret_t ret;

    if (!top || count < 0 || (count > 0 && !tags))
        return front_fail(DART_ERR_INVAL, "%s: no domain, or no tags", what);
    ret = marks_make(&marks, top, tags, count);
    if (!ret)
        ret = prune_ready(&prune, top);
    if (!ret) {
        int cores = prune_take(top, &prune);

        for (dart_domain_locality_t *above = top; above; above = above->parent)
            lose(above, &prune, cores);
        prune_end(&prune, domain_root(top));
    }
    free(marks.list);
    return ret;
}

dart_ret_t dart_domain_select(dart_domain_locality_t *domain_in,
                              int num_subdomain_tags,
                              const char **subdomain_tags)
{
    return filter("dart_domain_select", domain_in, num_subdomain_tags,
                  subdomain_tags, true);
}

dart_ret_t dart_domain_exclude(dart_domain_locality_t *domain_in,
                               int num_subdomain_tags,
                               const char **subdomain_tags)
{
    return filter("dart_domain_exclude", domain_in, num_subdomain_tags,
                  subdomain_tags, false);
}
