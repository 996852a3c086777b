/*
 * unchecked.h - stands in for runtime/check/ where nothing is checked: for one
 * file of a program that has not that.
 */
#ifndef DRASYNC_TESTS_UNCHECKED_H
#define DRASYNC_TESTS_UNCHECKED_H

#include "runtime/check/check.h"

void check_open_all(void)
{
}

/* Objects are not checked. */
struct heap_who check_who(void)
{
    return (struct heap_who){0};
}

heap_points_out_fn *check_pointers(enum check_when when)
{
    (void)when;
    return NULL;
}

void check_objects(const struct heap_faults *faults,
                   const struct check_region *region, enum check_when when,
                   struct heap_who who, bool may_ask)
{
    (void)faults;
    (void)region;
    (void)when;
    (void)who;
    (void)may_ask;
}

#endif
