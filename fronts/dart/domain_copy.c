/* Copies of trees of locality domains, whole and in part.  See domain.h. */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain.h"
#include "fronts/dart/front.h"
#include "fronts/dart/locality.h"

/* Which domain became which, for the aliases; and the aliases' number. */
struct pair {
    const dart_domain_locality_t *from;
    dart_domain_locality_t *to;
};

struct copies {
    struct pair *pairs;
    size_t count, max;
    bool aliases;
};

static bool remember(struct copies *copies, const dart_domain_locality_t *from,
                     dart_domain_locality_t *to)
{
    if (from->aliases && from->num_aliases > 0)
        copies->aliases = true;
    if (copies->count == copies->max) {
        size_t max = copies->max ? 2 * copies->max : 64;
        struct pair *pairs = realloc(copies->pairs, max * sizeof(*pairs));

        if (!pairs)
            return false;
        copies->pairs = pairs;
        copies->max = max;
    }
    copies->pairs[copies->count++] = (struct pair){from, to};
    return true;
}

static int pair_order(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    return (left->from > right->from) - (left->from < right->from);
}

/* The aliases of one copy: those whose domains were copied too. */
static bool copy_aliases(const struct copies *copies, const struct pair *pair)
{
    int count = pair->from->aliases ? pair->from->num_aliases : 0;
    dart_domain_locality_t **aliases;

    if (count <= 0)
        return true;
    aliases = malloc((size_t)count * sizeof(*aliases));
    if (!aliases)
        return false;
    for (int i = 0; i < count; i++) {
        struct pair key = {pair->from->aliases[i], NULL};
        const struct pair *found = bsearch(&key, copies->pairs, copies->count,
                                           sizeof(key), pair_order);

        if (found)
            aliases[pair->to->num_aliases++] = found->to;
    }
    if (pair->to->num_aliases)
        pair->to->aliases = aliases;
    else
        free(aliases);
    return true;
}

/* End a copy: its aliases, or with @root NULL nothing.  Frees it on error. */
static dart_domain_locality_t *finish(struct copies *copies,
                                      dart_domain_locality_t *root)
{
    bool fine = true;

    if (root && copies->aliases) {
        qsort(copies->pairs, copies->count, sizeof(*copies->pairs), pair_order);
        for (size_t i = 0; fine && i < copies->count; i++)
            fine = copy_aliases(copies, &copies->pairs[i]);
    }
    free(copies->pairs);
    if (fine)
        return root;
    domain_free(root);
    return NULL;
}

/* Itself alone: no children, units, aliases, parent. */
static dart_domain_locality_t *copy_alone(struct copies *copies,
                                          const dart_domain_locality_t *domain)
{
    dart_domain_locality_t *copy = malloc(sizeof(*copy));

    if (!copy)
        return NULL;
    *copy = *domain;
    copy->aliases = NULL;
    copy->num_aliases = 0;
    copy->parent = NULL;
    copy->children = NULL;
    copy->num_domains = 0;
    copy->unit_ids = NULL;
    copy->num_units = 0;
    if (remember(copies, domain, copy))
        return copy;
    free(copy);
    return NULL;
}

/* Room for children and units; false: no memory. */
static bool make_room(dart_domain_locality_t *copy, int children, int units)
{
    if (children > 0) {
        copy->children = malloc((size_t)children * sizeof(*copy->children));
        if (!copy->children)
            return false;
    }
    if (units > 0) {
        copy->unit_ids = malloc((size_t)units * sizeof(*copy->unit_ids));
        if (!copy->unit_ids)
            return false;
    }
    return true;
}

static void adopt(dart_domain_locality_t *parent, dart_domain_locality_t *child)
{
    child->parent = parent;
    child->relative_index = parent->num_domains;
    parent->children[parent->num_domains++] = child;
}

static dart_domain_locality_t *copy_all(struct copies *copies,
                                        const dart_domain_locality_t *domain)
{
    int children = domain_children(domain), units = domain_units(domain);
    dart_domain_locality_t *copy = copy_alone(copies, domain);

    if (!copy)
        return NULL;
    if (!make_room(copy, children, units))
        goto failed;
    if (units > 0)
        memcpy(copy->unit_ids, domain->unit_ids,
               (size_t)units * sizeof(*copy->unit_ids));
    copy->num_units = units;
    for (int i = 0; i < children; i++) {
        dart_domain_locality_t *child = copy_all(copies, domain->children[i]);

        if (!child)
            goto failed;
        adopt(copy, child);
    }
    return copy;

failed:
    domain_free(copy);
    return NULL;
}

dart_domain_locality_t *domain_copy(const dart_domain_locality_t *domain)
{
    struct copies copies = {0};

    return finish(&copies, copy_all(&copies, domain));
}

/* --- In part ---------------------------------------------------------------- */

/* What is below @above and is @domain or above it. */
static dart_domain_locality_t *child_above(const dart_domain_locality_t *above,
                                           dart_domain_locality_t *domain)
{
    while (domain->parent != above)
        domain = domain->parent;
    return domain;
}

/* A copy has the units and cores of what it got. */
static bool sum_up(dart_domain_locality_t *copy)
{
    int units = 0;

    for (int i = 0; i < copy->num_domains; i++)
        units += copy->children[i]->num_units;
    if (!make_room(copy, 0, units))
        return false;
    copy->num_cores = copy->num_domains ? -1 : 0;
    for (int i = 0; i < copy->num_domains; i++) {
        const dart_domain_locality_t *child = copy->children[i];

        if (child->num_units > 0)
            memcpy(copy->unit_ids + copy->num_units, child->unit_ids,
                   (size_t)child->num_units * sizeof(*copy->unit_ids));
        copy->num_units += child->num_units;
        domain_gain_cores(copy, child->num_cores);
    }
    if (units > 0)
        qsort(copy->unit_ids, (size_t)units, sizeof(*copy->unit_ids),
              domain_unit_order);
    domain_survey(copy);
    return true;
}

static dart_domain_locality_t *copy_part(struct copies *copies,
                                         const dart_domain_locality_t *domain,
                                         dart_domain_locality_t *const *picked,
                                         int count)
{
    dart_domain_locality_t *copy, *child, *above = NULL;
    int different = 0;

    if (count == 1 && picked[0] == domain)
        return copy_all(copies, domain);
    copy = copy_alone(copies, domain);
    if (!copy)
        return NULL;
    for (int i = 0; i < count; i++) {
        child = child_above(domain, picked[i]);
        different += child != above;
        above = child;
    }
    if (!make_room(copy, different, 0))
        goto failed;
    for (int i = 0, run; i < count; i += run) {
        above = child_above(domain, picked[i]);
        for (run = 1; i + run < count; run++) {
            if (child_above(domain, picked[i + run]) != above)
                break;
        }
        child = copy_part(copies, above, picked + i, run);
        if (!child)
            goto failed;
        adopt(copy, child);
    }
    if (sum_up(copy))
        return copy;

failed:
    domain_free(copy);
    return NULL;
}

dart_domain_locality_t *domain_copy_part(const dart_domain_locality_t *top,
                                         dart_domain_locality_t *const *picked,
                                         int count)
{
    struct copies copies = {0};

    return finish(&copies, copy_part(&copies, top, picked, count));
}

int domain_part_start(int count, int parts, int part)
{
    int more = count % parts;

    return part * (count / parts) + (part < more ? part : more);
}

/* --- The interface ---------------------------------------------------------- */

static void rename_aliases(dart_domain_locality_t *domain,
                           const dart_domain_locality_t *from,
                           dart_domain_locality_t *to)
{
    for (int i = 0; domain->aliases && i < domain->num_aliases; i++) {
        if (domain->aliases[i] == from)
            domain->aliases[i] = to;
    }
    for (int i = 0; i < domain_children(domain); i++)
        rename_aliases(domain->children[i], from, to);
}

/* Move all that root @from has to @to, and free it. */
static void move_root(dart_domain_locality_t *from, dart_domain_locality_t *to)
{
    *to = *from;
    for (int i = 0; i < domain_children(to); i++)
        to->children[i]->parent = to;
    rename_aliases(to, from, to);
    free(from);
}

dart_ret_t dart_domain_clone(const dart_domain_locality_t *domain_in,
                             dart_domain_locality_t **domain_out)
{
    if (!domain_out)
        return front_fail(DART_ERR_INVAL, "dart_domain_clone: no place for it");
    *domain_out = NULL;
    if (!domain_in)
        return front_fail(DART_ERR_INVAL, "dart_domain_clone: no domain");
    *domain_out = domain_copy(domain_in);
    return *domain_out ? DART_OK : DART_ERR_NOMEM;
}

dart_ret_t dart_domain_assign(dart_domain_locality_t *domain_lhs,
                              const dart_domain_locality_t *domain_rhs)
{
    dart_domain_locality_t *copy;

    if (!domain_lhs || !domain_rhs)
        return front_fail(DART_ERR_INVAL, "dart_domain_assign: no domain");
    if (domain_lhs == domain_rhs)
        return DART_OK;
    if (domain_lhs->parent || locality_owns(domain_lhs))
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_assign: %s is part of a tree",
                          domain_lhs->domain_tag);
    copy = domain_copy(domain_rhs);
    if (!copy)
        return DART_ERR_NOMEM;
    /* It may have been below what it replaces. */
    domain_clear(domain_lhs);
    move_root(copy, domain_lhs);
    return DART_OK;
}

dart_ret_t dart_domain_split_scope(const dart_domain_locality_t *domain_in,
                                   dart_locality_scope_t scope, int num_parts,
                                   dart_domain_locality_t *split_domain_out)
{
    dart_domain_locality_t **domains, **parts = NULL;
    int count, done = 0;
    dart_ret_t ret;

    if (!split_domain_out || num_parts < 1)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_split_scope: no place for any part");
    ret = dart_domain_scope_domains(domain_in, scope, &count, &domains);
    if (ret)
        return ret;
    parts = malloc((size_t)num_parts * sizeof(dart_domain_locality_t *));
    for (; parts && done < num_parts; done++) {
        int start = domain_part_start(count, num_parts, done);
        int end = domain_part_start(count, num_parts, done + 1);

        parts[done] = domain_copy_part(domain_in, domains + start, end - start);
        if (!parts[done])
            break;
    }
    free(domains);
    if (!parts || done < num_parts)
        ret = DART_ERR_NOMEM;
    for (int i = 0; i < done; i++) {
        if (ret)
            domain_free(parts[i]);
        else
            move_root(parts[i], &split_domain_out[i]);
    }
    free(parts);
    return ret;
}
