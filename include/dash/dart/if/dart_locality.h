/*
 * dart_locality.h - where the units of a team run: trees of locality domains.
 *
 * A team's tree has the team as its root; below it the hosts that its units run
 * on, by their names; then what hwloc tells of each: NUMA domains, packages,
 * caches, and cores, as far as units are there.  Every unit is in one core, the
 * one that it ran on at the first dart_init.  All units of a team see the same
 * tree.
 *
 * A domain's tag is its parent's and a number: ".", ".0", ".0.3".  It never
 * changes while other domains come and go; so where some have gone, the number
 * is not the position (relative_index).  A new domain, and what is below it, gets
 * new tags; tags have room for 31 characters.
 *
 * A domain's units are those of all domains below it.  Units, cores and nodes of
 * a domain follow all changes below it.
 *
 * A team's own tree may be changed too, but not freed; it is this process's
 * alone, and lasts until dart_team_locality_finalize() or the end of the team.
 * Domains and their arrays come from malloc: the program may fill in those that
 * dart_domain_create() and dart_domain_clone() gave it.
 *
 * None is collective.  Those that only look are thread-safe, unless another
 * thread changes that tree.  On error nothing has changed, and outputs are NULL
 * or 0.  All may return DART_ERR_NOMEM.
 */
#ifndef DART__LOCALITY_H_
#define DART__LOCALITY_H_

#include <dash/dart/if/dart_types.h>
#include <dash/dart/if/dart_util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Teams ------------------------------------------------------------------- */

/*
 * Nothing needs to be done before a team's locality is asked for; after
 * dart_team_locality_finalize() what was handed out before is gone, and asking
 * makes it anew.
 *   DART_ERR_NOTINIT, DART_ERR_INVAL  no such team
 */
dart_ret_t dart_team_locality_init(dart_team_t team) DART_NOTHROW;
dart_ret_t dart_team_locality_finalize(dart_team_t team) DART_NOTHROW;

/*
 * The domain with that tag in the team's tree: "." is the root.
 *   DART_ERR_NOTINIT
 *   DART_ERR_INVAL     no such team, or NULL
 *   DART_ERR_NOTFOUND  no such domain
 */
dart_ret_t dart_domain_team_locality(dart_team_t team, const char *domain_tag,
                                     dart_domain_locality_t **team_domain_out)
    DART_NOTHROW;

/*
 * Where @unit runs.  The same pointer each time; the program may write there.
 *   DART_ERR_NOTINIT
 *   DART_ERR_INVAL  no such team, no such unit in it, or NULL
 */
dart_ret_t dart_unit_locality(dart_team_t team, dart_team_unit_t unit,
                              dart_unit_locality_t **loc) DART_NOTHROW;

/* --- The program's own trees --------------------------------------------------- */

/* A domain with tag ".", without units or children; to be destroyed. */
dart_ret_t dart_domain_create(dart_domain_locality_t **domain_out) DART_NOTHROW;

/*
 * A copy of a domain and all that is below it, as the root of a new tree; tags
 * and levels are the same.  Aliases are those that were copied too.  To be
 * destroyed.
 *   DART_ERR_INVAL  NULL
 */
dart_ret_t dart_domain_clone(const dart_domain_locality_t *domain_in,
                             dart_domain_locality_t **domain_out) DART_NOTHROW;

/*
 * Free a domain and all that is below it, and take it from the tree that it is
 * in, if it is.  NULL is fine.
 *   DART_ERR_INVAL  the root of a team's tree
 */
dart_ret_t dart_domain_destroy(dart_domain_locality_t *domain) DART_NOTHROW;

/*
 * Make a root the copy of a domain; what it had is freed.
 *   DART_ERR_INVAL  NULL; @domain_lhs has a parent, or is a team's
 */
dart_ret_t
dart_domain_assign(dart_domain_locality_t *domain_lhs,
                   const dart_domain_locality_t *domain_rhs) DART_NOTHROW;

/* --- Looking ------------------------------------------------------------------- */

/*
 * The domain with that tag: @domain_in or below it.
 *   DART_ERR_INVAL     NULL
 *   DART_ERR_NOTFOUND  no such domain
 */
dart_ret_t
dart_domain_find(const dart_domain_locality_t *domain_in,
                 const char *domain_tag,
                 dart_domain_locality_t **subdomain_out) DART_NOTHROW;

/*
 * The outermost domains at that scope, @domain_in or below it, in order: their
 * tags (each, and the array, to be freed with free()) or themselves (only the
 * array).
 *   DART_ERR_INVAL     NULL
 *   DART_ERR_NOTFOUND  there are none
 */
dart_ret_t dart_domain_scope_tags(const dart_domain_locality_t *domain_in,
                                  dart_locality_scope_t scope,
                                  int *num_domains_out,
                                  char ***domain_tags_out) DART_NOTHROW;
dart_ret_t
dart_domain_scope_domains(const dart_domain_locality_t *domain_in,
                          dart_locality_scope_t scope, int *num_domains_out,
                          dart_domain_locality_t ***domains_out) DART_NOTHROW;

/* --- Changing ------------------------------------------------------------------ */

/*
 * Take from below @domain_in the domains with those tags and all below them; or
 * keep only these, and what is above them.  Tags that name nothing do nothing.
 *   DART_ERR_INVAL  NULL, or less than 0 tags
 */
dart_ret_t dart_domain_select(dart_domain_locality_t *domain_in,
                              int num_subdomain_tags,
                              const char **subdomain_tags) DART_NOTHROW;
dart_ret_t dart_domain_exclude(dart_domain_locality_t *domain_in,
                               int num_subdomain_tags,
                               const char **subdomain_tags) DART_NOTHROW;

/*
 * Make @subdomain, a root, a child of @domain at that index (negative: the last).
 * It is the tree's from then on.
 *   DART_ERR_INVAL  NULL; index too large; not a root, or a team's; it has a unit
 *                   of the tree, or is the tree; a tag would be too long
 */
dart_ret_t dart_domain_add_subdomain(dart_domain_locality_t *domain,
                                     dart_domain_locality_t *subdomain,
                                     int subdomain_rel_id) DART_NOTHROW;

/*
 * Make @domain a child of another domain of its tree, at that index (negative:
 * the last).  Under the parent it has, it keeps its tag.
 *   DART_ERR_INVAL  NULL; index too large; the root; another tree; the new parent
 *                   is below @domain; a tag would be too long
 */
dart_ret_t dart_domain_move_subdomain(dart_domain_locality_t *domain,
                                      dart_domain_locality_t *new_parent_domain,
                                      int new_domain_rel_id) DART_NOTHROW;

/*
 * Divide what @domain_in has at that scope, in order, among @num_parts trees,
 * whose numbers of these domains differ by one at most; the first have more.
 * Each is like @domain_in with only its part.  They are written to
 * @split_domain_out[@num_parts], whatever was there; dart_domain_assign() of an
 * empty domain frees what one has.
 *   DART_ERR_INVAL     NULL, or no parts
 *   DART_ERR_NOTFOUND  nothing at that scope
 */
dart_ret_t
dart_domain_split_scope(const dart_domain_locality_t *domain_in,
                        dart_locality_scope_t scope, int num_parts,
                        dart_domain_locality_t *split_domain_out) DART_NOTHROW;

/*
 * Put domains below @domain_in into a new group, the last child of the lowest
 * domain that is above all of them.  A domain that the group takes only parts of
 * is both in the group and where it was, with what each has of it.  The group's
 * tag goes to @group_domain_tag_out, which has room for
 * DART_LOCALITY_DOMAIN_TAG_MAX_SIZE.  Pointers to what it takes become invalid.
 *   DART_ERR_INVAL     NULL, or no tags; @domain_in itself is named; a tag would
 *                      be too long
 *   DART_ERR_NOTFOUND  a tag names nothing
 */
dart_ret_t dart_domain_group(dart_domain_locality_t *domain_in,
                             int num_group_subdomains,
                             const char **group_subdomain_tags,
                             char *group_domain_tag_out) DART_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif /* DART__LOCALITY_H_ */
