/* The regions that a worker knows in DRASYNC_MYRMICS=move: a hash table by
 * number, with the tree in it. */
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

struct move_region *move_enter(uint32_t rid, uint64_t incarnation,
                               drasync_region_t handle)
{
    struct move_region *region = move_find(rid);

    if (region && region->incarnation != incarnation) {
        move_forget(region);
        region = NULL;
    }
    if (region)
        return region;
    region = calloc(1, sizeof(*region));
    if (!region)
        return NULL;
    region->rid = rid;
    region->incarnation = incarnation;
    region->handle = handle;
    region->hash_next = buckets[rid % BUCKETS];
    buckets[rid % BUCKETS] = region;
    return region;
}

void move_put_under(struct move_region *region, struct move_region *parent)
{
    if (region->parent == parent)
        return;
    unlink_child(region);
    region->parent = parent;
    region->next = parent->first_child;
    if (region->next)
        region->next->prev = region;
    parent->first_child = region;
}

/* Is it certain that @at is where it is below @top?  Who has a region knows its
 * parts, but for @top, which has just come. */
static int is_certain(const struct move_region *top,
                      const struct move_region *at)
{
    return at->here || (at != top && at->parent != top && at->parent->here);
}

void move_prune(struct move_region *top)
{
    struct move_region *at, *up, *pruned = NULL;

    for (at = top; at; at = move_next(top, at))
        at->kept = 0;
    for (at = top; at; at = move_next(top, at))
        for (up = is_certain(top, at) ? at : top; up != top && !up->kept;
             up = up->parent)
            up->kept = 1;
    for (at = move_next(top, top); at; at = move_next(top, at)) {
        if (at->kept)
            continue;
        at->pruned_next = pruned;
        pruned = at;
    }
    for (at = pruned; at; at = at->pruned_next)
        unlink_child(at);
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

struct move_region *move_next_beside(const struct move_region *top,
                                     const struct move_region *at)
{
    while (at != top) {
        if (at->next)
            return at->next;
        at = at->parent;
    }
    return NULL;
}

struct move_region *move_next(const struct move_region *top,
                              const struct move_region *at)
{
    return at->first_child ? at->first_child : move_next_beside(top, at);
}
