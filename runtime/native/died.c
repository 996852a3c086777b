/*
 * A rank of this node has died, and the others go on (runtime/survive.h): what it
 * had and asked for, tree by tree.
 *
 * Its leases are settled by taking the locks (lease.h).  What is its own alone is
 * left as it is, and lost to the job: caches of threads, regions that it kept to
 * use again, magazines, which are of regions that it had for WRITE.
 */
#include "memory/limit.h"
#include "runtime/native/frames.h"
#include "runtime/native/give.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* --- Regions that go back to what they were ------------------------------- */

/* A region of @root's tree, from @r on (NULL: none), that @rank made under a hold
 * that is to be undone. */
static struct proto_region *
find_fresh(struct proto_region *root, struct proto_region *r, int rank)
{
    while (r && !(r->fresh && !r->dead && !r->gone &&
                  proto_held(r, rank) == DRASYNC_WRITE))
        r = proto_next(root, r);
    return r;
}

/* Nothing that is there afterwards refers to them.  Without memory they stay, and
 * will be lost. */
static void delete_fresh(struct proto_region *root, int rank)
{
    struct native_wait *wait = native_wait_take();
    struct proto_effects *effects;
    struct proto_region *r, *next = root;

    while (wait && (r = find_fresh(root, next, rank))) {
        next = proto_next_beyond(root, r); /* stays: what is below @r goes */
        waiter_reset(&wait->waiter);
        effects = native_effects();
        if (proto_delete(&native.node, rank, r, r->address, wait, effects) !=
            PROTO_WAIT)
            break;
        native_do(effects, NULL);
        if (!waiter_done(&wait->waiter) || wait->waiter.result)
            break;
    }
    if (wait)
        native_wait_give(wait);
}

static bool has_frames(const struct frameset *set, uint64_t first_page)
{
    for (uint64_t i = 0; i < set->runs; i++)
        if (set->run[i].first_page == first_page)
            return true;
    return false;
}

/* What @r grew by under the hold that was undone. */
static void give_back_growth(const struct proto_region *r)
{
    const struct proto_copy *copy = proto_newest(r);
    const struct native_memory *memory = r->memory;
    const struct native_frames *frames = copy ? copy->frames : NULL;
    struct extent *e, *next;

    if (!frames || !memory || frames->set->runs == memory->extents)
        return;
    for (e = memory->first; e; e = next) {
        uint64_t first = atomic_load(&e->first_page);
        uint64_t pages = atomic_load(&e->pages);
        void *address = space_address(&runtime.space, first);

        next = e->next;
        if (!has_frames(frames->set, first))
            native_extent_back((uint64_t)(uintptr_t)address, pages);
    }
}

/* --- Trees ---------------------------------------------------------------- */

static void died_in_tree(uint64_t address, void *arg)
{
    int rank = *(const int *)arg;
    struct proto_effects *effects;
    struct proto_region *r;
    struct native_tree tree;

    if (!address || native_lock(address, &tree))
        return;
    if (tree.region && tree.region->root == tree.region) {
        delete_fresh(tree.region, rank);
        effects = native_effects();
        proto_rank_died(&native.node, rank, runtime.ranks, tree.region,
                        effects);
        native_do(effects, NULL);
        for (r = tree.region; r; r = proto_next(tree.region, r))
            if (r->recovers && r->owned && !r->lost)
                give_back_growth(r);
    }
    native_unlock(&tree);
}

/* Had it one of these locks?  Some look at what they guard without them. */
static void find_locks(void)
{
    for (int i = 0; i < NATIVE_STRIPES; i++)
        if (!lock_take(&runtime.shared->trees[i]))
            lock_give(&runtime.shared->trees[i]);
    if (!lock_take(&native.shared->table_lock))
        lock_give(&native.shared->table_lock);
}

void native_rank_died(int rank)
{
    limit_reserve_enter();
    find_locks();
    give_bury(rank);
    native_each(died_in_tree, &rank);
    limit_reserve_leave();
}
