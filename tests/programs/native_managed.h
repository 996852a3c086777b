/* Managed regions with a number in them, for the programs about references. */
#ifndef DRASYNC_TESTS_NATIVE_MANAGED_H
#define DRASYNC_TESTS_NATIVE_MANAGED_H

#include "native_check.h"

struct node {
    uint64_t number;
    drasync_weak_t weak; /* of the region that it is in */
};

static inline drasync_region_t make(struct node **node_out, uint64_t number)
{
    drasync_region_t region;
    void *v;

    OK(drasync_new_region(&region));
    OK(drasync_alloc(region, sizeof(**node_out), &v));
    *node_out = v;
    (*node_out)->number = number;
    OK(drasync_manage(region));
    OK(drasync_weak(region, &(*node_out)->weak));
    OK(drasync_set_root(region, v));
    OK(drasync_release(region));
    return region;
}

static inline void read_it(drasync_region_t region, uint64_t number)
{
    void *v;

    OK(drasync_acquire(region, DRASYNC_READ));
    OK(drasync_get_root(region, &v));
    CHECK(((struct node *)v)->number == number);
    OK(drasync_release(region));
}

/* Regions that are linked in a circle, of which this rank refers to the first. */
static inline drasync_region_t ring(drasync_weak_t *weak, int parts)
{
    drasync_region_t first, last, next;
    struct node *node;

    first = last = make(&node, 30);
    for (int i = 1; i <= parts; i++) {
        next = i == parts ? first : make(&node, 30);
        OK(drasync_acquire(last, DRASYNC_WRITE));
        OK(drasync_link(last, next));
        OK(drasync_release(last));
        if (i < parts)
            OK(drasync_unref(next));
        last = next;
    }
    OK(drasync_weak(first, weak));
    return first;
}

/* All regions of all homes that are managed have ended, once messages that
 * nobody waits for have come. */
static inline void wait_for_ends(void)
{
    struct drasync_managed_stats stats;
    int left, lefts;

    do {
        OK(drasync_collect());
        OK(drasync_get_managed_stats(&stats));
        left = stats.managed != stats.ended;
        MPI_Allreduce(&left, &lefts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } while (lefts);
}

#endif
