/* Making and deleting regions. */
#include <time.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/check/check.h"
#include "runtime/messages/messages.h"
#include "runtime/native/frames.h"
#include "runtime/native/guard.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/objects.h"
#include "runtime/native/recycle.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/survive.h"
#include "runtime/waiting.h"

/* The first extent of a region that is being made, with what belongs to it. */
struct fresh {
    uint64_t address;
    struct native_memory *memory;
    struct native_frames *frames;
};

/* Room for a region: an extent that this process sees, and an empty heap. */
static int fresh_make(struct fresh *fresh)
{
    struct extent *extent;
    int err = native_memory_new(0, 0, &fresh->memory);

    if (err)
        return err;
    err = native_extent_new(fresh->memory, NATIVE_FIRST_PAGES,
                            NATIVE_FIRST_PAGES, &extent);
    if (err)
        goto free_memory;
    fresh->address = (uint64_t)(uintptr_t)space_address(
        &runtime.space, atomic_load(&extent->first_page));
    atomic_store(&fresh->memory->address, fresh->address);
    native_memory_append(fresh->memory, extent);
    err = native_header_make(fresh->memory);
    if (!err)
        err = native_frames_new(fresh->memory, &fresh->frames);
    if (!err)
        return 0;
    extent_delete(&runtime.space, extent);
free_memory:
    control_free(&runtime.space, fresh->memory);
    return err;
}

static void fresh_undo(struct fresh *fresh)
{
    struct extent *extent = fresh->memory->first;

    native_frames_free(fresh->frames);
    extent_delete(&runtime.space, extent);
    atomic_store(&fresh->memory->address, 0);
    control_free(&runtime.space, fresh->memory);
}

/* The record is there: what is written from now on is told by it. */
static void fresh_enter(struct fresh *fresh, struct proto_region *region,
                        drasync_region_t *region_out)
{
    fresh->memory->incarnation = region->incarnation;
    fresh->memory->maker = 1 + runtime.local;
    fresh->memory->home = true;
    *region_out = (drasync_region_t)(uintptr_t)fresh->address;
}

int native_new_region(drasync_region_t *region_out)
{
    struct proto_effects *effects;
    struct proto_region *region;
    struct native_tree tree;
    struct fresh fresh;
    int err;

    drasync_region_t in_stock = native_recycle_take();
    if (in_stock) {
        *region_out = in_stock;
        return 0;
    }
    err = fresh_make(&fresh);
    if (err)
        return err;
    err = native_lock(fresh.address, &tree);
    if (err)
        goto undo;
    effects = native_effects();
    err = proto_create_root(&native.node, native.rank, fresh.address,
                            fresh.memory, fresh.frames, &region, effects);
    native_do(effects, NULL);
    if (!err)
        fresh_enter(&fresh, region, region_out);
    native_unlock(&tree);
    if (!err)
        waiting_hold_note(fresh.address);
    /* Without memory for the note the hold is nobody's, as it is otherwise. */
    if (!err && native.check) {
        native_taken_add(fresh.address, region->incarnation, DRASYNC_WRITE);
        check_event(CHECK_MADE, fresh.address, region->incarnation,
                    DRASYNC_WRITE);
    }
    if (!err)
        return 0;
undo:
    fresh_undo(&fresh);
    return err;
}

int native_new_subregion(drasync_region_t parent, drasync_region_t *region_out)
{
    uint64_t above = (uint64_t)(uintptr_t)parent;
    struct proto_effects *effects;
    struct proto_region *region;
    struct native_tree tree;
    struct fresh fresh;
    int err;

    if (!native_address_valid(parent))
        return DRASYNC_ENOREGION;
    err = fresh_make(&fresh);
    if (err)
        return err;
    err = native_lock(above, &tree);
    if (err)
        goto undo;
    err = native_unknown(above);
    if (tree.region) {
        effects = native_effects();
        err = proto_create_subregion(&native.node, native_rank(), tree.region,
                                     fresh.address, fresh.memory, fresh.frames,
                                     &region, effects);
        native_do(effects, NULL);
    }
    if (!err)
        fresh_enter(&fresh, region, region_out);
    native_unlock(&tree);
    if (!err && native.check)
        check_event(CHECK_MADE, fresh.address, fresh.memory->incarnation,
                    DRASYNC_NONE);
    if (!err)
        return 0;
undo:
    fresh_undo(&fresh);
    return err;
}

/* Is this rank to delete what @tree has, for native_delete_unused() of
 * @incarnation? */
static int unused(const struct native_tree *tree, uint64_t incarnation,
                  bool taken)
{
    const struct proto_region *r = tree->region;

    if (r->dead || r->incarnation != incarnation)
        return DRASYNC_ENOREGION;
    /* What this call took another thread of the rank may have by now, too. */
    if (taken)
        return proto_held_once(r, native.rank) ? 0 : DRASYNC_EBUSY;
    return proto_held(r, native.rank) || proto_held_below(r, native.rank)
               ? DRASYNC_EBUSY
               : 0;
}

/* So long a delete tries again while another node's READ is answered, and not
 * over: longer than a node that computes is deaf, as a rule. */
#define UNSETTLED_US_MAX 100000
#define UNSETTLED_NAP_NS 50000

/* What is to be deleted. */
struct deletion {
    drasync_region_t region;
    uint64_t incarnation; /* of what was there */
    uint64_t wanted;      /* that one alone, if it is unused; 0: any */
    bool once;            /* only while this rank holds it once */
    bool taken;           /* by native_take_again() */
    bool unknown;         /* it is not known which one is there */
    bool unsettled;       /* it was refused for what is over soon */
    bool waited;          /* it was deleted while this waited */
};

/* The rank that deletes @region may have read what another one of its node, which
 * made it, wrote. */
static void note_read(const struct proto_region *region)
{
    struct native_memory *memory = region ? region->memory : NULL;

    if (memory)
        memory->reader = memory->maker && memory->maker != 1 + runtime.local &&
                                 !native.check && !native.objects &&
                                 region->write_count > 0 &&
                                 region->write_rank == native.rank
                             ? 1 + runtime.local
                             : 0;
}

/* Others have to answer first. */
static int await_deleted(struct native_wait *wait, uint64_t address)
{
    struct waiting w;
    bool seen = waiting_in_call(&w, WAITING_NOBODY);
    int result, err;

    if (seen)
        w.address = address;
    err = runtime_wait_remote(&wait->waiter, WAIT_FOREVER, &result);
    if (seen)
        waiting_end(&w);
    return err ? err : result;
}

static int delete_one(struct deletion *d)
{
    uint64_t address = (uint64_t)(uintptr_t)d->region;
    struct proto_effects *effects;
    struct native_found *found = NULL;
    struct native_wait *wait = NULL;
    struct native_goes *goes = NULL;
    struct native_tree tree;
    int err;

    d->unsettled = d->waited = false;
    if (!native_address_valid(d->region))
        return DRASYNC_ENOREGION;
    err = native_lock(address, &tree);
    if (err)
        return err;
    d->incarnation = tree.region ? tree.region->incarnation : 0;
    d->unknown = !d->incarnation;
    if (d->wanted &&
        (d->unknown || (err = unused(&tree, d->wanted, d->taken)))) {
        native_unlock(&tree);
        return err;
    }
    if (d->once && tree.region && !proto_held_once(tree.region, native.rank)) {
        native_unlock(&tree);
        return DRASYNC_EBUSY;
    }
    if (tree.region && native_recycle_put(&tree)) {
        native_unlock(&tree);
        return 0;
    }
    if (!tree.region && runtime.nodes == 1) {
        err = DRASYNC_ENOREGION;
    } else if (!(wait = native_wait_take())) {
        err = DRASYNC_ENOMEM;
    } else {
        if (tree.region)
            err = native_magazines_end(&tree, tree.region);
        if (tree.region && native.objects)
            found = native_objects_look(tree.region, CHECK_AT_DELETE);
        if (!err) {
            if (native.check && tree.region)
                goes = native_guard_close(tree.region);
            wait->unsettled = wait->waited = false;
            effects = native_effects();
            note_read(tree.region);
            err = proto_delete(&native.node, native.rank, tree.region, address,
                               wait, effects);
            native_do(effects, NULL);
        }
    }
    native_unlock(&tree);
    native_objects_end(found);
    if (err == PROTO_WAIT)
        err = await_deleted(wait, address);
    if (wait) {
        d->unsettled = err == DRASYNC_EBUSY && wait->unsettled;
        d->waited = wait->waited;
        native_wait_give(wait);
    }
    if (native.check && err)
        native_guard_at(address);
    else if (native.check)
        check_event(CHECK_DELETED, address, d->incarnation, DRASYNC_NONE);
    native_guard_deleted(goes, !err);
    return err != DRASYNC_EBUSY ? err : death_refused(err);
}

bool native_take_again(drasync_region_t region)
{
    return native_address_valid(region) &&
           native_lease_take_own((uint64_t)(uintptr_t)region, DRASYNC_WRITE);
}

/* A reader's node may still be telling that its READ is over, although by the
 * program's order its ranks released long ago.  So try again for a while. */
static int delete_settled(void *context, bool *waited_out)
{
    struct deletion *d = context;
    const struct timespec nap = {.tv_nsec = UNSETTLED_NAP_NS};
    uint64_t since_us = 0;
    int err;

    for (;;) {
        limit_reserve_enter();
        err = delete_one(d);
        limit_reserve_leave();
        *waited_out = d->waited;
        /* Who serves other nodes may not wait for one. */
        if (!d->unsettled || native_running.server)
            return err;
        if (!since_us)
            since_us = runtime_now_us();
        if (runtime_now_us() - since_us > UNSETTLED_US_MAX)
            return err;
        runtime_glance();
        nanosleep(&nap, NULL);
    }
}

static int delete (drasync_region_t region, struct deletion *d)
{
    int err;

    /* Deleted as one that is held it can be recycled. */
    d->taken = native_take_again(region);
    d->region = region;
    /* Who serves other nodes does not wait for one.  Of another node a region comes
     * with its data. */
    if (native_running.server)
        err = delete_settled(d, &d->waited);
    else
        err = native_attempt((uint64_t)(uintptr_t)region, runtime.nodes > 1,
                             delete_settled, d);
    if ((err || (d->wanted && d->unknown)) && d->taken)
        native_release(region);
    else if (!err)
        native_taken_forget((uint64_t)(uintptr_t)region, d->incarnation);
    return err;
}

int native_delete(drasync_region_t region)
{
    struct deletion d = {0};

    return delete (region, &d);
}

int native_delete_held_once(drasync_region_t region)
{
    struct deletion d = {.once = true};

    return delete (region, &d);
}

int native_delete_unused(drasync_region_t region, uint64_t incarnation)
{
    struct deletion d = {.wanted = incarnation};
    uint64_t now;
    int err = delete (region, &d);

    if (err || !d.unknown)
        return err;
    /* A home that gave the region away may have to ask its owner. */
    err = native_ask_incarnation(region, &now);
    if (err)
        return err;
    return now == incarnation ? native_delete(region) : DRASYNC_ENOREGION;
}

int native_set_recovery(drasync_region_t region, enum drasync_recovery recovery)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    bool previous = recovery == DRASYNC_RECOVERY_PREVIOUS;
    struct native_tree tree;
    const char *why;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = native_lock(address, &tree);
    if (err)
        return err;
    if (!tree.region)
        err = native_unknown(address);
    else if (tree.region->dead || tree.region->gone)
        err = DRASYNC_EDELETED;
    /* Else no death is survived, and copies would be made for nothing. */
    else if (survive_wanted(&why))
        proto_set_recovery(tree.region, previous);
    native_unlock(&tree);
    /* Between nodes it may live elsewhere. */
    return err == DRASYNC_ENOTHELD ? 0 : err;
}

bool native_take_alone(drasync_region_t region, uint64_t incarnation)
{
    bool taken = native_take_again(region), alone;
    struct proto_effects *effects;
    struct native_tree tree;
    struct proto_grant grant;
    struct proto_op *op;

    if (!native_address_valid(region) ||
        native_lock((uint64_t)(uintptr_t)region, &tree))
        return false;
    alone = tree.region && tree.region->incarnation == incarnation;
    if (alone && taken) {
        alone = proto_alone(native.rank, tree.region);
    } else if (alone && (alone = proto_idle(tree.region))) {
        effects = native_effects();
        alone = !proto_acquire(&native.node, native.rank, tree.region,
                               tree.region->address, DRASYNC_WRITE, true, NULL,
                               &grant, &op, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
    if (taken && !alone)
        native_release(region);
    return alone;
}

int native_release_alone(drasync_region_t region)
{
    return native_hold_undo((uint64_t)(uintptr_t)region, DRASYNC_WRITE);
}
