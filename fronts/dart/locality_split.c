/* Groups of units by where they run. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain.h"
#include "fronts/dart/front.h"

/* A run of members that stay together. */
struct part {
    const dart_global_unit_t *units;
    int count;
};

/* Keep of the @count units those that are in @group; how many, or -1. */
static int keep_members(const dart_group_t group, dart_global_unit_t *units,
                        int count)
{
    int left = 0;

    for (int i = 0; i < count; i++) {
        int32_t member = 0;

        if (dart_group_ismember(group, units[i], &member) != DART_OK)
            return -1;
        if (member)
            units[left++] = units[i];
    }
    return left;
}

/* The members in each of the domains that has any; how many such, or -1. */
static int find_parts(const dart_group_t group,
                      dart_domain_locality_t *const *domains, int count,
                      struct part *parts, dart_global_unit_t *units)
{
    int found = 0;

    for (int i = 0; i < count; i++) {
        int members = domain_units(domains[i]);

        if (members > 0)
            memcpy(units, domains[i]->unit_ids,
                   (size_t)members * sizeof(*units));
        members = keep_members(group, units, members);
        if (members < 0)
            return -1;
        if (members > 0)
            parts[found++] = (struct part){units, members};
        units += members;
    }
    return found;
}

static dart_ret_t make_group(const struct part *parts, int count,
                             dart_group_t *out)
{
    dart_ret_t ret = dart_group_create(out);

    if (ret)
        return ret;
    for (int i = 0; i < count && !ret; i++) {
        for (int j = 0; j < parts[i].count && !ret; j++)
            ret = dart_group_addmember(*out, parts[i].units[j]);
    }
    if (ret)
        dart_group_destroy(out);
    return ret;
}

static dart_ret_t make_groups(const struct part *parts, int count, int groups,
                              dart_group_t *gout)
{
    for (int i = 0; i < groups; i++) {
        int start = domain_part_start(count, groups, i);
        int end = domain_part_start(count, groups, i + 1);
        dart_ret_t ret = make_group(parts + start, end - start, &gout[i]);

        if (ret) {
            while (i > 0)
                dart_group_destroy(&gout[--i]);
            return ret;
        }
    }
    return DART_OK;
}

dart_ret_t dart_group_locality_split(const dart_group_t g,
                                     dart_domain_locality_t *domain,
                                     dart_locality_scope_t scope, size_t n,
                                     size_t *nout, dart_group_t *gout)
{
    dart_domain_locality_t **domains;
    dart_global_unit_t *units = NULL;
    struct part *parts = NULL;
    int count, found = -1, groups;
    size_t total = 0;
    dart_ret_t ret;

    if (nout)
        *nout = 0;
    if (!g || !nout || !gout || n == 0)
        return front_fail(DART_ERR_INVAL,
                          "dart_group_locality_split: no group, or no place");
    ret = dart_domain_scope_domains(domain, scope, &count, &domains);
    if (ret)
        return ret;
    for (int i = 0; i < count; i++)
        total += (size_t)domain_units(domains[i]);
    parts = malloc((size_t)count * sizeof(*parts));
    units = malloc((total + 1) * sizeof(*units));
    ret = DART_ERR_NOMEM;
    if (parts && units) {
        found = find_parts(g, domains, count, parts, units);
        groups = n < (size_t)found ? (int)n : found;
        if (found < 0)
            ret = DART_ERR_INVAL;
        else if (found == 0)
            ret = DART_ERR_NOTFOUND;
        else
            ret = make_groups(parts, found, groups, gout);
        if (!ret)
            *nout = (size_t)groups;
    }
    free(units);
    free(parts);
    free(domains);
    return ret;
}
