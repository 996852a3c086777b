/*
 * group.h - sets of units in one process: ascending numbers, no MPI.
 */
#ifndef DRASYNC_FRONTS_DART_GROUP_H
#define DRASYNC_FRONTS_DART_GROUP_H

#include "dash/dart/if/dart.h"

struct dart_group_struct {
    int size, room;
    dart_unit_t *units; /* [size], ascending */
};

/* A group of these, ascending; @units may be NULL if there are none.  NULL: no
 * memory. */
struct dart_group_struct *group_new(const dart_unit_t *units, int size);
void group_free(struct dart_group_struct *group);

/* Where @unit is or would be: the first member that is not below it. */
int group_place(const struct dart_group_struct *group, dart_unit_t unit);

#endif /* DRASYNC_FRONTS_DART_GROUP_H */
