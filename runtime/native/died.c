/*
 * A rank of this node has died, and the others go on (runtime/survive.h): what it
 * had and asked for, tree by tree.
 *
 * Its leases are settled by taking the locks (lease.h).  What is its own alone is
 * left as it is, and lost to the job: caches of threads, regions that it kept to
 * use again, magazines, which are of regions that it had for WRITE.
 */
#include "memory/limit.h"
#include "runtime/native/give.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

static void died_in_tree(uint64_t address, void *rank)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (!address || native_lock(address, &tree))
        return;
    if (tree.region && tree.region->root == tree.region) {
        effects = native_effects();
        proto_rank_died(&native.node, *(const int *)rank, tree.region, effects);
        native_do(effects, NULL);
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
