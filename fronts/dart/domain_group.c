/* Groups of domains in a tree of locality domains.  See domain_change.h. */
#include <stdlib.h>
#include <string.h>

#include "fronts/dart/domain_change.h"
#include "fronts/dart/front.h"

/* The lowest domain that is above all that is named. */
static dart_domain_locality_t *common_parent(dart_domain_locality_t *top,
                                             const struct prune *prune)
{
    dart_domain_locality_t *next = top, *above;

    do {
        above = next;
        next = NULL;
        for (int i = 0; i < domain_children(above); i++) {
            enum fate fate = prune_fate(prune, above->children[i]);

            if (fate == TAKE || (fate == KEEP_PART && next))
                return above;
            if (fate == KEEP_PART)
                next = above->children[i];
        }
    } while (next);
    return above;
}

/* What is named below @domain, in the tree's order; returns how many. */
static int collect(const dart_domain_locality_t *domain,
                   const struct prune *prune, dart_domain_locality_t **out)
{
    int count = 0;

    for (int i = 0; i < domain_children(domain); i++) {
        enum fate fate = prune_fate(prune, domain->children[i]);

        if (fate == TAKE)
            out[count++] = domain->children[i];
        else if (fate == KEEP_PART)
            count += collect(domain->children[i], prune, out + count);
    }
    return count;
}

/* A group with copies of what is named below @above; NULL: no memory. */
static dart_domain_locality_t *make_group(dart_domain_locality_t *above,
                                          const struct prune *prune)
{
    dart_domain_locality_t **picked, **aliases, *group = NULL;

    picked = malloc(prune->marks->count * sizeof(dart_domain_locality_t *));
    aliases = malloc(sizeof(dart_domain_locality_t *));
    if (picked && aliases)
        group = domain_copy_part(above, picked, collect(above, prune, picked));
    free(picked);
    if (!group) {
        free(aliases);
        return NULL;
    }
    free(group->aliases);
    group->aliases = aliases;
    group->aliases[0] = above;
    group->num_aliases = 1;
    group->scope = DART_LOCALITY_SCOPE_GROUP;
    group->global_index = -1;
    group->shared_mem_bytes = -1;
    return group;
}

/* @prune says what is named; nothing has changed yet. */
static dart_ret_t group_named(dart_domain_locality_t *top, struct prune *prune,
                              char *tag_out)
{
    dart_domain_locality_t *above = common_parent(top, prune), *group;
    char tag[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE];
    dart_ret_t ret = DART_OK;

    group = make_group(above, prune);
    if (!group)
        return DART_ERR_NOMEM;
    if (!domain_tag_for(above, group, tag))
        ret = front_fail(DART_ERR_INVAL,
                         "dart_domain_group: tags would be too long");
    else if (!domain_reserve_child(above))
        ret = DART_ERR_NOMEM;
    if (ret) {
        domain_free(group);
        return ret;
    }
    domain_insert(above, group, domain_children(above), tag);
    prune->gone = group->unit_ids;
    prune->gone_count = group->num_units;
    prune_take(above, prune);
    prune->gone = NULL;
    prune_end(prune, domain_root(above));
    for (; above; above = above->parent)
        domain_survey(above);
    strcpy(tag_out, tag);
    return DART_OK;
}

dart_ret_t dart_domain_group(dart_domain_locality_t *domain_in,
                             int num_group_subdomains,
                             const char **group_subdomain_tags,
                             char *group_domain_tag_out)
{
    struct marks marks;
    struct prune prune = {.marks = &marks};
    dart_ret_t ret;

    if (!domain_in || num_group_subdomains < 1 || !group_subdomain_tags ||
        !group_domain_tag_out)
        return front_fail(DART_ERR_INVAL,
                          "dart_domain_group: no domain, tags, or place");
    group_domain_tag_out[0] = '\0';
    ret = marks_make(&marks, domain_in, group_subdomain_tags,
                     num_group_subdomains);
    if (!ret && marks.all)
        ret = front_fail(DART_ERR_INVAL,
                         "dart_domain_group: %s cannot be in a group in itself",
                         domain_in->domain_tag);
    if (!ret && marks.found < num_group_subdomains)
        ret = DART_ERR_NOTFOUND;
    if (!ret)
        ret = group_named(domain_in, &prune, group_domain_tag_out);
    free(marks.list);
    return ret;
}
