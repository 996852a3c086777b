/*
 * The hold under which the executing node runs functions for others.
 *
 * It is one for WRITE, by a rank of its own that only the protocol of this node
 * knows: so it keeps out the ranks of this node, the leader too, in whose
 * process the function runs, and waits in the queue with everybody.  For the
 * same reason a function that only reads has the region for itself: this
 * process may have an address only once, so nothing must move on beside it.
 * It does not wait for what a rank of this node wants run, which may hold the
 * region, or stand before it in the queue.
 *
 * And so a READ hold of the leader, which keeps no writer of another process
 * out, keeps this one out: the process shows an older version, or would have to
 * write where the leader reads.
 */
#include "runtime/messages/messages.h"
#include "runtime/native/guard.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

void run_hold_act(const struct run_hold *hold)
{
    native_running.server = hold ? hold->rank : 0;
}

/* Does the leader read some of @region's subtree? */
static bool read_here(const struct proto_region *region)
{
    return proto_held(region, native.rank) == DRASYNC_READ ||
           proto_held_below(region, native.rank);
}

int32_t native_rank_new(bool saves)
{
    uint32_t all = (uint32_t)(INT32_MAX / runtime.ranks) - 1, few = all / 16,
             number;

    number =
        saves ? atomic_fetch_add(&native.shared->saves, 1) % few
              : few + atomic_fetch_add(&native.shared->runs, 1) % (all - few);
    return (int32_t)(1 + number) * runtime.ranks + runtime.rank;
}

/* Who else has it, or knows who has it?  -1: this node, or nobody. */
static int elsewhere(const struct proto_region *region, uint64_t address)
{
    int node = region && region->incarnation && region->epoch
                   ? (int)region->hint
                   : native_home(address);

    if (region && (region->owned || region->dead))
        return -1;
    return node == runtime.node ? -1 : node;
}

/* Give back what was just taken; under the lock of @tree. */
static void give_back(const struct run_hold *hold,
                      const struct native_tree *tree)
{
    struct proto_effects *effects = native_effects();

    proto_release(&native.node, hold->rank, tree->region, DRASYNC_WRITE,
                  effects);
    native_do(effects, NULL);
}

/* The data can be used, if not @err. */
static int shown(const struct run_hold *hold, int err)
{
    if (err)
        return err;
    runtime_count(native.self, RUNTIME_COUNT_ACQUIRES, 1);
    if (native.check)
        native_guard_at(hold->address);
    return 0;
}

/* The hold is there; under the lock of @tree, which is given back. */
static int taken(struct run_hold *hold, struct native_tree *tree, bool split)
{
    int err;

    if (read_here(tree->region)) {
        give_back(hold, tree);
        native_unlock(tree);
        return RUN_HOLD_LATER;
    }
    if (split) {
        native_unlock(tree);
        return RUN_HOLD_SPLIT;
    }
    run_hold_act(hold);
    err = native_hold_show(hold->address, tree, true, DRASYNC_WRITE, false);
    run_hold_act(NULL);
    return shown(hold, err);
}

int run_hold_take(struct run_hold *hold, bool here, int32_t caller)
{
    struct proto_effects *effects;
    struct proto_grant grant;
    struct native_tree tree;
    int err = native_lock(hold->address, &tree);

    if (err)
        return err;
    hold->rank = native_rank_new(false);
    hold->node = elsewhere(tree.region, hold->address);
    err = hold->node >= 0 && !here                  ? RUN_HOLD_AWAY
          : !tree.region && hold->node < 0          ? DRASYNC_ENOREGION
          : !tree.region || !read_here(tree.region) ? 0
          : caller >= 0                             ? RUN_HOLD_CALLER
                                                    : RUN_HOLD_LATER;
    if (!err) {
        hold->wait = native_wait_take();
        err = hold->wait ? 0 : DRASYNC_ENOMEM;
    }
    if (err) {
        native_unlock(&tree);
        return err;
    }
    hold->wait->served = true;
    effects = native_effects();
    err = proto_acquire(&native.node, hold->rank, tree.region, hold->address,
                        DRASYNC_WRITE, caller >= 0, hold->wait, &grant,
                        &hold->op, effects);
    native_do(effects, NULL);
    if (err == PROTO_WAIT) {
        native_unlock(&tree);
        return RUN_HOLD_WAIT;
    }
    native_wait_give(hold->wait);
    hold->wait = NULL;
    if (err) {
        native_unlock(&tree);
        return err == DRASYNC_EAGAIN ? RUN_HOLD_CALLER : err;
    }
    tree.region = grant.region;
    return taken(hold, &tree, grant.split);
}

int run_hold_look(struct run_hold *hold)
{
    struct native_tree tree;
    bool split;
    int err;

    if (!waiter_done(&hold->wait->waiter))
        return RUN_HOLD_WAIT;
    err = hold->wait->waiter.result;
    split = hold->wait->split;
    native_wait_give(hold->wait);
    hold->wait = NULL;
    if (!err)
        err = native_lock(hold->address, &tree);
    if (err)
        return err == DRASYNC_EAGAIN ? RUN_HOLD_CALLER : err;
    if (!tree.region) {
        native_unlock(&tree);
        return DRASYNC_EDELETED;
    }
    return taken(hold, &tree, split);
}

int run_hold_split(struct run_hold *hold)
{
    struct native_tree tree;
    int err;

    run_hold_act(hold);
    err = native_hold_show(hold->address, &tree, false, DRASYNC_WRITE, true);
    run_hold_act(NULL);
    return shown(hold, err);
}

void run_hold_give(struct run_hold *hold)
{
    run_hold_act(hold);
    native_hold_undo(hold->address, DRASYNC_WRITE);
    run_hold_act(NULL);
}
