/*
 * domain.h - trees of locality domains, as the files of the front share them.
 *
 * Every domain and its arrays (children, units, aliases) come from malloc, so a
 * program may build domains of its own.  Arrays that are missing count as empty,
 * whatever their counts say.  Units are in one place of a tree: a domain has its
 * own and those of the domains below it.  Tags stay as they are when domains
 * around them come and go; so the last number of a tag may differ from
 * relative_index, but no two domains of a tree ever have the same tag.
 *
 * Local; a tree is one thread's at a time while it changes.
 */
#ifndef DRASYNC_FRONTS_DART_DOMAIN_H
#define DRASYNC_FRONTS_DART_DOMAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "dash/dart/if/dart_locality.h"

static inline int domain_children(const dart_domain_locality_t *domain)
{
    return domain->children && domain->num_domains > 0 ? domain->num_domains
                                                       : 0;
}

static inline int domain_units(const dart_domain_locality_t *domain)
{
    return domain->unit_ids && domain->num_units > 0 ? domain->num_units : 0;
}

/* A domain without anything, tagged "."; NULL: no memory. */
dart_domain_locality_t *domain_new(void);

/* A tree that is in no other: its root (NULL is fine), or all but the root. */
void domain_free(dart_domain_locality_t *root);
void domain_clear(dart_domain_locality_t *root);

dart_domain_locality_t *domain_root(const dart_domain_locality_t *domain);

/* The child of @domain that has @tag or is above it; NULL: none. */
dart_domain_locality_t *domain_towards(const dart_domain_locality_t *domain,
                                       const char *tag);

/* @domain or what is below it; NULL: none. */
dart_domain_locality_t *domain_find(const dart_domain_locality_t *domain,
                                    const char *tag);

/* Does @tag name @domain or a domain above it? */
bool domain_is_in(const dart_domain_locality_t *domain, const char *tag);

/* The outermost domains at @scope in the tree's order; returns how many; with
 * @out, stores them. */
int domain_at_scope(const dart_domain_locality_t *domain,
                    dart_locality_scope_t scope, dart_domain_locality_t **out);

/* --- Tags ------------------------------------------------------------------ */

/* The last number of a tag; -1: it has none. */
int domain_last_number(const char *tag);

/* Write the tag of a child; false, with nothing written: too long. */
bool domain_tag_child(const char *parent, int number,
                      char out[DART_LOCALITY_DOMAIN_TAG_MAX_SIZE]);

/* Would all tags below @domain have room if its own had @length characters? */
bool domain_tags_fit(const dart_domain_locality_t *domain, size_t length);

/* Give what is below @domain tags by position, and levels, team and parents. */
void domain_retag(dart_domain_locality_t *domain);

/* --- What domains say of those below ---------------------------------------- */

int domain_unit_order(const void *a, const void *b);

/* Take @gone (ascending) from @domain's units. */
void domain_lose_units(dart_domain_locality_t *domain,
                       const dart_global_unit_t *gone, int count);
void domain_lose_cores(dart_domain_locality_t *domain, int cores);
void domain_gain_cores(dart_domain_locality_t *domain, int cores);

/* Nodes and symmetry anew, from its children. */
void domain_survey(dart_domain_locality_t *domain);

/* Forget the aliases that are no longer in the tree. */
void domain_drop_aliases(dart_domain_locality_t *root);

/* --- Copies ----------------------------------------------------------------- */

/* Of the tree below @domain; tag and level stay, the parent is NULL.  NULL: no
 * memory. */
dart_domain_locality_t *domain_copy(const dart_domain_locality_t *domain);

/* The same with only the @count domains in @picked, which are below @top, in the
 * tree's order, none in another, and what is above and below them. */
dart_domain_locality_t *domain_copy_part(const dart_domain_locality_t *top,
                                         dart_domain_locality_t *const *picked,
                                         int count);

/* The first of @count things that part @part of @parts gets, when they are dealt
 * out in order and the first parts get one more. */
int domain_part_start(int count, int parts, int part);

#endif /* DRASYNC_FRONTS_DART_DOMAIN_H */
