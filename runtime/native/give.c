/* drasync_give() and drasync_take(): see give.h. */
#include "runtime/native/give.h"

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/guard.h"
#include "runtime/native/magazine.h"
#include "runtime/native/objects.h"
#include "runtime/native/run.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/waiting.h"

int gift_new(int32_t from, int32_t tag, uint64_t address, struct gift **out)
{
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(**out), &v);

    if (err)
        return err;
    *out = v;
    (*out)->from = from;
    (*out)->tag = tag;
    (*out)->address = address;
    return 0;
}

void gift_free(struct gift *gift)
{
    control_free(&runtime.space, gift);
}

static uint64_t address_of(drasync_region_t region)
{
    return (uint64_t)(uintptr_t)region;
}

/* --- Give ----------------------------------------------------------------- */

/* Under the lock of @tree: the hold of its region goes to rank @to.  *back_out:
 * that is of this node, and has a hold that is in the way, so nobody has it. */
static int give_hold(struct native_tree *tree, uint64_t address, int to,
                     int tag, uint64_t *incarnation_out, bool *back_out,
                     struct native_found **found_out)
{
    struct proto_region *region = tree->region;
    struct proto_gift gift = {
        .node = (uint32_t)runtime.node_of[to],
        .rank = to,
        .words = (uint64_t)runtime.rank << 32 | (uint32_t)tag,
    };
    struct proto_effects *effects;
    int err;

    if (!region)
        return native_unknown(address);
    if (region->write_rank != native.rank)
        return DRASYNC_ENOTHELD;
    err = native_magazines_end(tree, region);
    if (err)
        return err;
    if (native.objects)
        *found_out = native_objects_look(region, CHECK_AT_RELEASE);
    *incarnation_out = region->incarnation;
    gift.back = runtime.node_of[to] == runtime.node && to != runtime.rank &&
                run_flies_in(to, address, NULL);
    effects = native_effects();
    err = proto_give(&native.node, native.rank, region, &gift, effects);
    *back_out = gift.back;
    native_do(effects, NULL);
    if (err)
        return err;
    /* Before anybody of this rank may take it again. */
    native_taken_forget(address, *incarnation_out);
    waiting_hold_forget(address);
    return 0;
}

void gift_give_up(const struct gift *gift, int to)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (native_lock(gift->address, &tree))
        return;
    if (tree.region && tree.region->incarnation == gift->incarnation &&
        tree.region->write_rank == to) {
        effects = native_effects();
        proto_release(&native.node, to, tree.region, DRASYNC_WRITE, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
}

/* What goes to rank @to of this node is @gift, which is posted if it is @reserved:
 * under the lock, as who finds the hold has to find that. */
static int give_locked(uint64_t address, int to, int tag, struct gift *gift,
                       bool reserved, bool *posted_out)
{
    struct native_found *found = NULL;
    struct native_tree tree;
    uint64_t incarnation = 0;
    bool back = false;
    int err = native_lock(address, &tree);

    if (err)
        return err;
    err = give_hold(&tree, address, to, tag, &incarnation, &back, &found);
    if (native.check && !err)
        native_guard_given(&tree, address, incarnation);
    if (gift && !err) {
        gift->incarnation = incarnation;
        gift->back = back;
        *posted_out = reserved && !give_post(runtime.local_of[to], gift);
    }
    native_unlock(&tree);
    native_objects_end(found);
    return err;
}

/* To a rank of this node. */
static int give_here(uint64_t address, int to, int tag)
{
    struct gift *gift;
    int local = runtime.local_of[to], holder = to;
    int err = gift_new(runtime.rank, tag, address, &gift);
    bool reserved = false, posted = false;

    if (err)
        return err;
    give_half(true);
    err = give_reserve(local);
    reserved = !err;
    /* To a rank that has ended, as where that cannot be known: the region is free
     * afterwards.  This rank has it until then, as what a dead one has is lost. */
    if (err == DRASYNC_ENOTREADY) {
        holder = runtime.rank;
        err = 0;
    }
    if (!err)
        err = give_locked(address, holder, tag, gift, reserved, &posted);
    if (posted) {
        give_half(false);
        return 0;
    }
    if (!err)
        gift_give_up(gift, holder);
    else if (reserved)
        give_unreserve(local);
    give_half(false);
    gift_free(gift);
    return err;
}

int native_give(drasync_region_t region, int to, int tag)
{
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    limit_reserve_enter();
    if (runtime.node_of[to] == runtime.node)
        err = give_here(address_of(region), to, tag);
    else
        err = give_locked(address_of(region), to, tag, NULL, false, NULL);
    limit_reserve_leave();
    if (!err)
        runtime_count(native.self, RUNTIME_COUNT_RELEASES, 1);
    return err;
}

void give_arrives(int node, struct proto_message *message)
{
    int32_t from = (int32_t)(message->after >> 32);
    int32_t tag = (int32_t)(uint32_t)message->after;
    struct gift *gift;
    int err;

    if (message->version >= (uint64_t)runtime.ranks ||
        runtime.node_of[message->version] != runtime.node || from < 0 ||
        from >= runtime.ranks || runtime.node_of[from] != node || tag < 0) {
        runtime_broken("node %d sent a broken message: a gift of nobody's",
                       node);
        return;
    }
    err = gift_new(from, tag, message->region, &gift);
    if (!err) {
        gift->incarnation = message->incarnation;
        gift->back =
            run_flies_in((int32_t)message->version, message->region, message);
        gift->far = !gift->back;
        gift->wait.gift = true;
        message->waiter = gift->far ? &gift->wait : NULL;
        err = give_reserve(runtime.local_of[message->version]);
    }
    if (!err)
        err = give_post(runtime.local_of[message->version], gift);
    if (!err)
        return;
    message->waiter = NULL;
    if (err == DRASYNC_ENOTREADY)
        gift_free(gift);
    else
        runtime_poison("rank %d cannot be given a region by rank %d: %s",
                       (int)message->version, from, drasync_strerror(err));
}

/* --- Take ----------------------------------------------------------------- */

/* The hold is this rank's already: show it.  DRASYNC_EAGAIN: it is not. */
static int show(const struct gift *gift)
{
    struct proto_region *region;
    struct native_tree tree;
    bool noted;
    int err = native_lock(gift->address, &tree);

    if (err)
        return err;
    region = tree.region;
    if (!region || region->incarnation != gift->incarnation ||
        region->write_rank != native.rank) {
        native_unlock(&tree);
        return DRASYNC_EAGAIN;
    }
    noted = native_taken_by_several() || native.check ||
            proto_read_hold(region, native.rank);
    err = native_hold_show(gift->address, &tree, true, DRASYNC_WRITE,
                           region->pinned > 0);
    if (err)
        return err;
    if (noted)
        err = native_taken_add(gift->address, gift->incarnation, DRASYNC_WRITE);
    if (err) {
        native_hold_undo(gift->address, DRASYNC_WRITE);
        return err;
    }
    if (native.check)
        native_guard_took(gift->address, gift->incarnation, DRASYNC_WRITE);
    waiting_hold_note(gift->address);
    runtime_count(native.self, RUNTIME_COUNT_ACQUIRES, 1);
    return err;
}

/* The hold got lost on its way: take another one. */
static int acquire(const struct gift *gift, uint64_t deadline)
{
    drasync_region_t region = (drasync_region_t)(uintptr_t)gift->address;
    uint64_t now = runtime_now_us(), timeout_us = DRASYNC_FOREVER, incarnation;
    int err;

    if (deadline != WAIT_FOREVER)
        timeout_us = deadline > now ? deadline - now : 0;
    err = native_acquire(region, DRASYNC_WRITE, timeout_us);
    if (err == DRASYNC_ENOREGION)
        return DRASYNC_EDELETED;
    if (err)
        return err;
    if (!native_incarnation(region, &incarnation) &&
        incarnation == gift->incarnation)
        return 0;
    err = native_release(region);
    return err ? err : DRASYNC_EDELETED;
}

/* It has been told of, and is on its way. */
static int wait_for_data(struct gift *gift, uint64_t deadline, int *result)
{
    struct waiting w = {
        .what = WAITING_GIFT,
        .mode = (uint32_t)gift->tag,
        .peer = gift->from,
        .timed = deadline != WAIT_FOREVER,
    };
    int err;

    waiting_begin(&w);
    err = runtime_wait_remote(&gift->wait.waiter, deadline, result);
    waiting_end(&w);
    return err;
}

/* 0, and this rank holds @gift's region. */
static int own(struct gift *gift, uint64_t deadline)
{
    int result = 0, err = 0;

    if (gift->far) {
        if (waiter_done(&gift->wait.waiter))
            result = gift->wait.waiter.result;
        else if (deadline)
            err = wait_for_data(gift, deadline, &result);
        else
            err = DRASYNC_EAGAIN;
        if (err)
            return err;
        gift->far = false;
        gift->back = result != 0;
    }
    err = gift->back ? DRASYNC_EAGAIN : show(gift);
    if (err == DRASYNC_EAGAIN)
        return acquire(gift, deadline);
    /* What could not be shown has been released. */
    gift->back |= err != 0;
    return err;
}

/* Of gifts alike the first one comes first. */
static bool is_behind(const struct gift *passed, const struct gift *gift)
{
    for (; passed; passed = passed->next)
        if (passed->from == gift->from && passed->tag == gift->tag)
            return true;
    return false;
}

/*
 * The first gift that can be had without waiting.  A gift that came back must be
 * acquired again, and may be refused while others want its region.  It must not
 * block a later gift, for which those others may wait.
 */
static int take_now(int from, int tag, struct gift **out, struct gift *refused)
{
    struct gift *passed = NULL;
    int err;

    while (!(err = give_take_out(from, tag, 0, out))) {
        err = is_behind(passed, *out) ? DRASYNC_EAGAIN : own(*out, 0);
        if (!err || err == DRASYNC_EDELETED)
            break;
        (*out)->next = passed;
        passed = *out;
        /* One whose data is on its way comes first. */
        if (err != DRASYNC_EAGAIN)
            *refused = *passed;
        if (err != DRASYNC_EAGAIN || passed->far)
            break;
    }
    give_put_back(passed);
    return err;
}

static int take_waiting(int from, int tag, uint64_t deadline, struct gift **out,
                        struct gift *refused)
{
    int err = give_take_out(from, tag, deadline, out);

    if (err)
        return err;
    err = own(*out, deadline);
    if (err && err != DRASYNC_EDELETED) {
        *refused = **out;
        give_put_back(*out);
    }
    return err;
}

static void tell(const struct gift *gift, drasync_region_t *region_out,
                 struct drasync_gift *gift_out)
{
    *region_out = (drasync_region_t)(uintptr_t)gift->address;
    *gift_out = (struct drasync_gift){.from = gift->from, .tag = gift->tag};
}

int native_take(int from, int tag, uint64_t timeout_us,
                drasync_region_t *region_out, struct drasync_gift *gift_out)
{
    struct gift *gift, refused = {0};
    int err;

    if (timeout_us) {
        err = take_waiting(from, tag, wait_deadline_us(timeout_us), &gift,
                           &refused);
    } else {
        err = take_now(from, tag, &gift, &refused);
        if (err == DRASYNC_EAGAIN) {
            runtime_look(runtime_now_us());
            err = take_now(from, tag, &gift, &refused);
        }
    }
    if (err && err != DRASYNC_EDELETED) {
        if (native_gift_stays(err))
            tell(&refused, region_out, gift_out);
        return err != DRASYNC_EAGAIN ? err : death_refused(err);
    }
    tell(gift, region_out, gift_out);
    gift_free(gift);
    return err;
}
