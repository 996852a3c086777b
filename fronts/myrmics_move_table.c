#include <stdlib.h>

#include "fronts/myrmics_move.h"

#define BUCKETS 4096u

static struct move_region *buckets[BUCKETS];

struct move_region *move_find(uint32_t rid)
{
    struct move_region *region = buckets[rid % BUCKETS];

    while (region && region->rid != rid)
        region = region->hash_next;
    return region;
}

static void unlink_child(struct move_region *region)
{
    struct move_region *parent = region->parent;

    if (!parent)
        return;
    if (region->prev)
        region->prev->next = region->next;
    else
        parent->first_child = region->next;
    if (region->next)
        region->next->prev = region->prev;
    region->parent = NULL;
    region->next = NULL;
    region->prev = NULL;
}

struct move_region *move_enter(uint32_t rid, struct move_region *parent,
                               drasync_region_t handle)
{
    struct move_region *region = move_find(rid);

    if (!region) {
        region = calloc(1, sizeof(*region));
        if (!region)
            return NULL;
        region->rid = rid;
        region->hash_next = buckets[rid % BUCKETS];
        buckets[rid % BUCKETS] = region;
    }
    region->handle = handle;
    if (region->parent == parent)
        return region;
    unlink_child(region);
    region->parent = parent;
    if (parent) {
        region->next = parent->first_child;
        if (region->next)
            region->next->prev = region;
        parent->first_child = region;
    }
    return region;
}

void move_forget(struct move_region *region)
{
    struct move_region **link = &buckets[region->rid % BUCKETS];

    while (region->first_child)
        unlink_child(region->first_child);
    unlink_child(region);
    while (*link != region)
        link = &(*link)->hash_next;
    *link = region->hash_next;
    free(region);
}

struct move_region *move_next(const struct move_region *top,
                              const struct move_region *at)
{
    if (at->first_child)
        return at->first_child;
    while (at != top) {
        if (at->next)
            return at->next;
        at = at->parent;
    }
    return NULL;
}
