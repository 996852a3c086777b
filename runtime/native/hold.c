/* Holds: acquire in all its forms, and release. */
#include <stdlib.h>

#include "memory/limit.h"
#include "memory/frames.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/ahead.h"
#include "runtime/native/delta.h"
#include "runtime/native/frames.h"
#include "runtime/native/guard.h"
#include "runtime/native/magazine.h"
#include "runtime/check/check.h"
#include "runtime/native/map.h"
#include "runtime/native/objects.h"
#include "runtime/native/request.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/waiting.h"

/* A look takes in one message. */
#define GLANCES_MAX 3

bool native_address_valid(drasync_region_t region)
{
    uint64_t page = space_page(&runtime.space, region);

    return page != SPACE_NO_PAGE && page != 0 &&
           (uintptr_t)region % PAGE_BYTES == 0;
}

static uint64_t address_of(drasync_region_t region)
{
    return (uint64_t)(uintptr_t)region;
}

/* Give back what was acquired for @mode, and is not used: for READ that is not
 * the WRITE hold that the rank may have as well. */
int native_hold_undo(uint64_t address, enum drasync_mode mode)
{
    struct proto_effects *effects;
    struct native_tree tree;
    int err;

    limit_reserve_enter();
    err = native_lock(address, &tree);
    if (err)
        goto leave;
    if (tree.region) {
        err = native_magazines_end(&tree, tree.region);
        if (err)
            goto unlock;
        effects = native_effects();
        err = proto_release(&native.node, native_rank(), tree.region, mode,
                            effects);
        native_do(effects, NULL);
        if (native.check)
            native_guard_again(&tree, address);
    } else {
        err = native_unknown(address);
    }
unlock:
    native_unlock(&tree);
    if (!err)
        runtime_count(native.self, RUNTIME_COUNT_RELEASES, 1);
leave:
    limit_reserve_leave();
    return err;
}

/* --- Acquire -------------------------------------------------------------- */

/* Does this rank hold @region for READ, covered by a WRITE hold of it or of an
 * ancestor?  Then a release must know which of them ends. */
static bool is_mixed(const struct proto_region *region)
{
    const struct proto_hold *hold = proto_read_hold(region, native.rank);

    return hold && hold->covered && NATIVE_RULE(MIXED) &&
           proto_held(region, native.rank) == DRASYNC_WRITE;
}

static int start(struct native_pending *q, bool nowait)
{
    enum drasync_mode mode = q->mode;
    struct proto_asked asked = {.rank = native.rank,
                                .mode = mode,
                                .nowait = nowait,
                                .newer = q->version ? *q->version : 0};
    struct proto_effects *effects;
    struct proto_grant grant;
    struct native_tree tree;
    /* A lease's writes are versions only once it has ended. */
    int err = native_lock_for(
        q->version ? NATIVE_FOR_ALL : native_step_for(mode), q->address, &tree);

    if (err)
        return err;
    if (!tree.region && runtime.nodes == 1) {
        native_unlock(&tree);
        return DRASYNC_ENOREGION;
    }
    if (mode == DRASYNC_READ && tree.region && !q->version &&
        native_lease_join(&native.shared->leases[tree.stripe], tree.region)) {
        native_unlock(&tree);
        return 0;
    }
    q->wait = native_wait_take();
    if (!q->wait) {
        native_unlock(&tree);
        return DRASYNC_ENOMEM;
    }
    q->away = !tree.region || !tree.region->owned;
    asked.waiter = q->wait;
    effects = native_effects();
    err = proto_acquire_as(&native.node, tree.region, q->address, &asked,
                           &grant, &q->op, effects);
    if (q->later)
        native_effects_soon(effects);
    native_do(effects, NULL);
    if (err == PROTO_WAIT) {
        q->record = proto_target(q->op);
        runtime_count(native.self, RUNTIME_COUNT_ACQUIRES_WAITED, 1);
        native_unlock(&tree);
        return err;
    }
    native_wait_give(q->wait);
    q->wait = NULL;
    if (err) {
        native_unlock(&tree);
        return err;
    }
    runtime_count(native.self, RUNTIME_COUNT_ACQUIRES, 1);
    waiting_hold_note(q->address);
    tree.region = grant.region;
    q->incarnation = grant.region->incarnation;
    if (q->version)
        *q->version = proto_seen_version(grant.region, grant.hold);
    q->noted =
        native_taken_by_several() || native.check || is_mixed(grant.region);
    return native_hold_show(q->address, &tree, true, mode,
                            grant.split || native_read_splits(grant.hold));
}

/* May what makes this acquire cheap have come already, and nobody have looked?
 * WRITE: other nodes have no use any more for what they were promised, and what
 * was sent to them has left; READ: what was asked ahead.  A look without a lock:
 * it may be out of date. */
__attribute__((no_sanitize("thread"))) static bool
is_coming(uint64_t address, enum drasync_mode mode)
{
    const struct proto_region *region =
        runtime.nodes > 1 ? native_find(address) : NULL;

    if (!region)
        return false;
    return mode == DRASYNC_WRITE
               ? *(const volatile uint32_t *)&region->promised ||
                     *(const volatile uint32_t *)&region->pinned
               : proto_ahead_comes(region);
}

int native_pending_start(struct native_pending *q)
{
    int err;

    for (int i = 0; i < GLANCES_MAX && is_coming(q->address, q->mode); i++)
        runtime_glance();
    q->told = native_ahead_told(q->address);
    err = start(q, q->nowait);
    if (atomic_load_explicit(&native_ahead_learns, memory_order_relaxed) &&
        (!err || err == PROTO_WAIT))
        native_ahead_acquired(q, err == PROTO_WAIT);
    return err;
}

int native_pending_granted(struct native_pending *q, int result)
{
    struct native_wait *wait = q->wait;
    struct native_tree tree;
    bool must_split = wait->split;
    bool shown = !result && native_mapping_granted(q->address, wait);

    q->incarnation = wait->incarnation;
    q->waited = wait->waited;
    if (q->version && !result)
        *q->version = wait->version;
    q->noted = !shown || !wait->slot ||
               !native_lease_note(q->address, wait->slot, wait->word);
    if (!result)
        waiting_hold_note(q->address);
    native_wait_give(wait);
    q->wait = NULL;
    if (result)
        return result;
    runtime_count(native.self, RUNTIME_COUNT_ACQUIRES, 1);
    /* A handover on a node: nothing to show, so the lock, for which the one who
     * released may wait already, is left alone. */
    if (shown && !must_split)
        return 0;
    return native_hold_show(q->address, &tree, false, q->mode, must_split);
}

int native_pending_took(const struct native_pending *q, int result)
{
    if (result == DRASYNC_ENOREGION && q->forgot)
        return DRASYNC_EDELETED;
    /* The program may send what it holds. */
    if (!result)
        frames_catch_up(&runtime.space);
    if (result || !q->noted)
        return result;
    result = native_taken_add(q->address, q->incarnation, q->mode);
    if (result)
        native_hold_undo(q->address, q->mode);
    else if (native.check)
        native_guard_took(q->address, q->incarnation, q->mode);
    return result;
}

bool native_pending_ended(struct native_pending *q)
{
    struct proto_effects *effects;
    struct native_tree tree;
    bool ended;
    int result;

    if (native_lock(q->address, &tree))
        return false;
    ended = waiter_done(&q->wait->waiter);
    /* A waiting operation keeps its region's record.  If that is gone, and maybe
     * another region has the address, the holder of that tree's lock, which may
     * be another one, has ended the operation, and will wake us. */
    if (!ended && tree.region != q->record) {
        native_unlock(&tree);
        return !waiter_wait(&q->wait->waiter, WAIT_FOREVER, &result);
    }
    if (!ended) {
        effects = native_effects();
        proto_detach(&native.node, q->op, effects);
        native_do(effects, NULL);
        native_wait_give(q->wait);
        q->wait = NULL;
    }
    native_unlock(&tree);
    return ended;
}

int native_pending_wait(struct native_pending *q, uint64_t deadline,
                        int *result_out)
{
    struct waiting w = {
        .what = q->version && *q->version ? WAITING_NEWER : WAITING_REGION,
        .mode = q->mode,
        .address = q->address,
        .version = q->version ? *q->version : 0,
        .as = q->as,
        .timed = deadline != WAIT_FOREVER || q->nowait,
    };
    int err;

    waiting_begin(&w);
    err = runtime_wait_remote(&q->wait->waiter,
                              deadline ? deadline : WAIT_FOREVER, result_out);
    waiting_end(&w);
    return err;
}

static int acquire_once(struct native_pending *q, uint64_t deadline)
{
    uint64_t since_us;
    int result, err;
    bool credit;

    if (q->mode == DRASYNC_WRITE && deadline)
        native_delta_finish(q->address);
    q->nowait = deadline == 0;
    err = native_pending_start(q);
    if (err != PROTO_WAIT)
        return native_pending_took(q, err);
    since_us = q->told ? runtime_now_us() : 0;
    /* Who waits until somebody writes may wait for long. */
    credit = q->away && q->mode == DRASYNC_WRITE && deadline && !q->version;
    if (credit)
        native_credit_wait();
    err = native_pending_wait(q, deadline, &result);
    if (credit)
        native_credit_waited(!err && !result);
    if (q->told)
        native_ahead_waited(since_us);
    if ((err == DRASYNC_EAGAIN || err == DRASYNC_EDEADLK) &&
        native_pending_ended(q)) {
        result = q->wait->waiter.result;
        err = 0;
    }
    return err ? err
               : native_pending_took(q, native_pending_granted(q, result));
}

bool native_forget_gone(uint64_t address, int err, bool waited)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (err != DRASYNC_EDELETED || runtime.nodes == 1 || waited ||
        native_lock(address, &tree))
        return false;
    if (tree.region) {
        effects = native_effects();
        proto_forget_gone(&native.node, tree.region, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
    return true;
}

int native_attempt(uint64_t address, bool evicts, native_attempt_fn *attempt,
                   void *context)
{
    bool waited = false;
    int err = attempt(context, &waited);

    if (err == DRASYNC_ENOMEM && evicts) {
        native_evict();
        err = attempt(context, &waited);
    }
    if (native_forget_gone(address, err, waited)) {
        err = attempt(context, &waited);
        if (err == DRASYNC_ENOREGION)
            err = DRASYNC_EDELETED;
    }
    return err;
}

struct acquiring {
    struct native_pending *q;
    const struct native_pending first; /* what it is at first */
    const uint64_t version;            /* and what that points to */
    const uint64_t deadline;
};

static int acquire_attempt(void *context, bool *waited_out)
{
    struct acquiring *a = context;
    int err;

    *a->q = a->first;
    /* What was granted and could not be shown has set it. */
    if (a->q->version)
        *a->q->version = a->version;
    err = acquire_once(a->q, a->deadline);
    *waited_out = a->q->waited;
    return err;
}

int native_acquire_pending(struct native_pending *q, uint64_t deadline)
{
    struct acquiring a = {
        .q = q,
        .first = *q,
        .version = q->version ? *q->version : 0,
        .deadline = deadline,
    };

    return native_attempt(q->address, deadline != 0, acquire_attempt, &a);
}

int native_acquire(drasync_region_t region, enum drasync_mode mode,
                   uint64_t timeout_us)
{
    uint64_t deadline = timeout_us ? wait_deadline_us(timeout_us) : 0;
    int err = native_lease_take(address_of(region), mode, deadline);

    if (err == NATIVE_LEASE_NOT) {
        struct native_pending q = {.address = address_of(region), .mode = mode};

        err = native_address_valid(region)
                  ? native_acquire_pending(&q, deadline)
                  : DRASYNC_ENOREGION;
    } else if (!err) {
        frames_catch_up(&runtime.space);
    }
    return err != DRASYNC_EAGAIN ? err : death_refused(err);
}

/* Which of the holds of this rank on @region ends; 0: there is none.  One for
 * READ is a lease's if it is @shared.  *other_out: another thread took it. */
static enum drasync_mode to_give(const struct proto_region *region, bool shared,
                                 bool *other_out)
{
    const struct proto_hold *hold = proto_read_hold(region, native.rank);
    uint32_t reads = hold ? hold->count - shared : 0, writes = 0;
    enum drasync_mode mode;

    *other_out = false;
    if (region->write_rank == native.rank)
        writes = region->write_count;
    if (!writes && !reads)
        return 0;
    mode = native_taken_end(region->address, region->incarnation, writes, reads,
                            other_out);
    if (!writes || !reads)
        mode = writes ? DRASYNC_WRITE : DRASYNC_READ;
    return mode;
}

/* Has this rank a shared lease of @region?  It has not if that had all of its
 * holds: these are counted then, so that one of them can end. */
static bool is_shared(struct native_leases *leases,
                      const struct proto_region *region)
{
    int i = native_lease_shared(leases, region);

    if (i < 0 || proto_read_hold(region, native.rank)->count > 1)
        return i >= 0;
    native_lease_end(leases, (uint32_t)i);
    return false;
}

int native_hold_give(struct native_tree *tree)
{
    struct native_leases *leases = &native.shared->leases[tree->stripe];
    struct proto_region *region = tree->region;
    bool shared = is_shared(leases, region), other;
    enum drasync_mode mode = to_give(region, shared, &other);
    const uint64_t address = region->address;
    const uint64_t incarnation = region->incarnation;
    struct native_found *found = NULL;
    struct proto_effects *effects;
    int err = 0;

    if (mode == DRASYNC_WRITE && region->write_count == 1) {
        err = native_magazines_end(tree, region);
        if (native.objects)
            found = native_objects_look(region, CHECK_AT_RELEASE);
    }
    waiting_hold_forget(address);
    if (!err && (shared || !native_lease_begin(leases, region))) {
        effects = native_effects();
        err = proto_release(&native.node, native.rank, region, mode, effects);
        native_lease_hand(leases, region, effects);
        native_do(effects, NULL);
        if (native.check && !err)
            native_guard_gave(tree, address, incarnation, mode);
    }
    native_unlock(tree);
    /* Not under the lock: reports look at trees. */
    if (other && native.threads)
        check_other_thread(address, incarnation, mode);
    native_objects_end(found);
    if (!err)
        runtime_count(native.self, RUNTIME_COUNT_RELEASES, 1);
    if (!err && mode == DRASYNC_READ)
        run_serve_released();
    return err;
}

static int give(drasync_region_t region)
{
    struct native_tree tree;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock_for(NATIVE_FOR_READ, address_of(region), &tree);
    if (err)
        return err;
    if (tree.region)
        return native_hold_give(&tree);
    err = native_unknown(address_of(region));
    native_unlock(&tree);
    return err;
}

int native_release(drasync_region_t region)
{
    int err = native_lease_give(address_of(region));

    if (!err)
        return 0;
    if (err == NATIVE_LEASE_LEFT)
        return native_lease_left(address_of(region));
    limit_reserve_enter();
    err = give(region);
    limit_reserve_leave();
    return err;
}
