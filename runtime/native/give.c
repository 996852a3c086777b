/* drasync_give() and drasync_take(): see give.h. */
#include "runtime/native/give.h"

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/death.h"
#include "runtime/messages/messages.h"
#include "runtime/native/guard.h"
#include "runtime/native/magazine.h"
#include "runtime/native/objects.h"
#include "runtime/native/request.h"
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

/* Under the lock of @tree: release its region, for rank @to. */
static int give_hold(struct native_tree *tree, uint64_t address, int to,
                     int tag, uint64_t *incarnation_out,
                     struct native_found **found_out)
{
    struct proto_region *region = tree->region;
    const struct proto_gift gift = {
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
    effects = native_effects();
    err = proto_give(&native.node, native.rank, region, &gift, effects);
    native_do(effects, NULL);
    if (err)
        return err;
    /* Before anybody of this rank may take it again. */
    native_taken_forget(address, *incarnation_out);
    waiting_hold_forget(address);
    return 0;
}

static int give_locked(uint64_t address, int to, int tag,
                       uint64_t *incarnation_out)
{
    struct native_found *found = NULL;
    struct native_tree tree;
    int err = native_lock(address, &tree);

    if (err)
        return err;
    err = give_hold(&tree, address, to, tag, incarnation_out, &found);
    if (native.check && !err)
        native_guard_given(&tree, address, *incarnation_out);
    native_unlock(&tree);
    native_objects_end(found);
    return err;
}

/* To a rank of this node. */
static int give_here(uint64_t address, int to, int tag)
{
    struct gift *gift;
    int local = runtime.local_of[to];
    int err = gift_new(runtime.rank, tag, address, &gift);
    bool reserved = false;

    if (err)
        return err;
    err = give_reserve(local);
    reserved = !err;
    /* To a rank that has ended, as where that cannot be known: the region is
     * released. */
    if (err == DRASYNC_ENOTREADY)
        err = 0;
    if (!err)
        err = give_locked(address, to, tag, &gift->incarnation);
    if (!err && reserved && !give_post(local, gift))
        return 0;
    if (err && reserved)
        give_unreserve(local);
    gift_free(gift);
    return err;
}

int native_give(drasync_region_t region, int to, int tag)
{
    uint64_t incarnation;
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    limit_reserve_enter();
    if (runtime.node_of[to] == runtime.node)
        err = give_here(address_of(region), to, tag);
    else
        err = give_locked(address_of(region), to, tag, &incarnation);
    limit_reserve_leave();
    if (!err)
        runtime_count(native.self, RUNTIME_COUNT_RELEASES, 1);
    return err;
}

void give_arrives(int node, const struct proto_message *message)
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
        err = give_reserve(runtime.local_of[message->version]);
    }
    if (!err)
        err = give_post(runtime.local_of[message->version], gift);
    if (!err)
        return;
    if (err == DRASYNC_ENOTREADY)
        gift_free(gift);
    else
        runtime_poison("rank %d cannot be given a region by rank %d: %s",
                       (int)message->version, from, drasync_strerror(err));
}

/* --- Take ----------------------------------------------------------------- */

/* 0, and this rank holds @gift's region. */
static int own(const struct gift *gift, uint64_t deadline)
{
    struct native_pending q = {.address = gift->address, .mode = DRASYNC_WRITE};
    drasync_region_t region = (drasync_region_t)(uintptr_t)gift->address;
    int err = native_run_before_hold(region);

    if (!err)
        err = native_acquire_pending(&q, deadline);
    if (err == DRASYNC_ENOREGION)
        return DRASYNC_EDELETED;
    if (err || q.incarnation == gift->incarnation)
        return err;
    err = native_release(region);
    return err ? err : DRASYNC_EDELETED;
}

/* Of gifts alike the first one comes first. */
static bool is_behind(const struct gift *passed, const struct gift *gift)
{
    for (; passed; passed = passed->next)
        if (passed->from == gift->from && passed->tag == gift->tag)
            return true;
    return false;
}

/* The first gift that can be had without waiting; if there is none and one is
 * refused, the error of the first such. */
static int take_now(int from, int tag, struct gift **out, struct gift *refused)
{
    struct gift *passed = NULL;
    int refusal = 0, err;

    while (!(err = give_take_out(from, tag, 0, out))) {
        err = is_behind(passed, *out) ? DRASYNC_EAGAIN : own(*out, 0);
        if (!err || err == DRASYNC_EDELETED)
            break;
        if (err != DRASYNC_EAGAIN && !refusal) {
            refusal = err;
            *refused = **out;
        }
        (*out)->next = passed;
        passed = *out;
    }
    /* Who gave them may have died. */
    if (err == DRASYNC_EPEER && passed)
        err = DRASYNC_EAGAIN;
    give_put_back(passed);
    return err == DRASYNC_EAGAIN && refusal ? refusal : err;
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

    err = take_now(from, tag, &gift, &refused);
    if (err == DRASYNC_EAGAIN && timeout_us) {
        err = take_waiting(from, tag, wait_deadline_us(timeout_us), &gift,
                           &refused);
    } else if (err == DRASYNC_EAGAIN) {
        runtime_look(runtime_now_us());
        err = take_now(from, tag, &gift, &refused);
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
