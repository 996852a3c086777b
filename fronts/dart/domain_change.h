/*
 * domain_change.h - what the changes of trees of locality domains share.
 *
 * All memory that a change needs is taken before it begins, so that on an error
 * nothing has changed.
 */
#ifndef DRASYNC_FRONTS_DART_DOMAIN_CHANGE_H
#define DRASYNC_FRONTS_DART_DOMAIN_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "fronts/dart/domain.h"

/* --- Marks: the domains that tags name, and what is above them --------------- */

struct mark {
    const dart_domain_locality_t *domain;
    bool named;
};

struct marks {
    struct mark *list; /* by address, each domain once */
    size_t count, max;
    int found; /* tags that name a domain */
    bool all;  /* a tag names the tree that is looked at, or one above it */
};

/* To be freed with free(marks->list), whatever is returned. */
dart_ret_t marks_make(struct marks *marks, const dart_domain_locality_t *top,
                      const char *const *tags, int count);

/* --- Taking away -------------------------------------------------------------- */

struct prune {
    const struct marks *marks;
    bool select;              /* keep what is named, else take it away */
    dart_global_unit_t *gone; /* the units of all that goes, ascending */
    int gone_count;
    dart_domain_locality_t *doomed; /* linked by their parents */
};

enum fate { KEEP, KEEP_PART, TAKE };

enum fate prune_fate(const struct prune *prune,
                     const dart_domain_locality_t *domain);

/* Take away below @domain, whose own numbers stay; returns how many cores. */
int prune_take(dart_domain_locality_t *domain, struct prune *prune);

/* Free what was taken from @root's tree, and forget aliases of it. */
void prune_end(struct prune *prune, dart_domain_locality_t *root);

/* --- Adding ------------------------------------------------------------------- */

/* Room for one more child; false: no memory. */
bool domain_reserve_child(dart_domain_locality_t *parent);

/* The tag if @domain were a new child of @parent; false: it, or one below it,
 * would be too long. */
bool domain_tag_for(const dart_domain_locality_t *parent,
                    const dart_domain_locality_t *domain, char *tag);

/* After the two above; numbers of @parent stay as they are. */
void domain_insert(dart_domain_locality_t *parent,
                   dart_domain_locality_t *domain, int at, const char *tag);

#endif /* DRASYNC_FRONTS_DART_DOMAIN_CHANGE_H */
