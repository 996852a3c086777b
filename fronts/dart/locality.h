/*
 * locality.h - what units know of the hardware they run on.
 */
#ifndef DRASYNC_FRONTS_DART_LOCALITY_H
#define DRASYNC_FRONTS_DART_LOCALITY_H

#include <stdbool.h>

#include "dash/dart/if/dart_locality.h"

/* Forget what was made for a team, which is about to go.  Local. */
void locality_drop(dart_team_t id);

/* Is it the root of a team's tree, which the library frees? */
bool locality_owns(const dart_domain_locality_t *domain);

/* What this process sees of its machine and its place in it: as it was at the
 * first call.  What is unknown is -1.  One thread at a time. */
void hardware_look(dart_hwinfo_t *out);

/*
 * The tree of a team: global, nodes (by host name), modules, and what the units'
 * hwinfo.scopes name; each unit in one core.
 *
 * @unit_count units; unit i of the team is all[ids[i]], which runs on host number
 * hosts[ids[i]].  Fills in out_units[i] too.  NULL: no memory.
 */
struct locality_input {
    dart_team_t team;
    int unit_count;
    const dart_unit_t *ids;
    const dart_hwinfo_t *all;
    const int *hosts;
};

dart_domain_locality_t *locality_tree(const struct locality_input *input,
                                      dart_unit_locality_t *out_units);

/* Number the hosts of @count units in the order of their first units, by name;
 * false: no memory. */
bool locality_hosts(const dart_hwinfo_t *all, int count, int *out_hosts);

#endif /* DRASYNC_FRONTS_DART_LOCALITY_H */
