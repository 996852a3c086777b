/*
 * memory_look.h - looks into memory/ that only its tests need: what is given
 * out, and another limit.  Callers guarantee nothing but an open space.
 */
#ifndef TESTS_UNIT_MEMORY_LOOK_H
#define TESTS_UNIT_MEMORY_LOOK_H

#include "memory/space.h"

struct pages_stats {
    uint64_t taken_pages; /* given out now */
    uint64_t taken_runs;
    uint64_t cached_pages; /* frames kept for reuse */
    uint64_t chunks;       /* added to this node */
};

void pages_get_stats(const struct space *space, struct pages_stats *stats_out);

struct control_stats {
    uint64_t objects;        /* given out now */
    uint64_t object_bytes;   /* their slots */
    uint64_t reserved_bytes; /* frames behind the control file */
};

void control_get_stats(const struct space *space,
                       struct control_stats *stats_out);

/* Has a holder of a lock died? */
int control_poisoned(const struct space *space);

/* Change the limit; what is in use stays. */
void limit_set(const struct space *space, uint64_t bytes);

#endif /* TESTS_UNIT_MEMORY_LOOK_H */
