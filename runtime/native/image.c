/* What a held subtree consists of: see image.h. */
#include "runtime/native/image.h"

#include <stdlib.h>
#include <time.h>

#include "memory/limit.h"
#include "runtime/native/frames.h"
#include "runtime/native/lease_inline.h"
#include "runtime/native/magazine.h"
#include "runtime/native/native.h"
#include "runtime/native/request.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/native/taken.h"
#include "runtime/process.h"

/* An image that grows, and the records that its regions are of. */
struct draft {
    struct native_image image;
    const struct proto_region **record;
    uint64_t regions_room, extents_room;
};

static int grow(void **list, uint64_t *room, uint64_t wanted, size_t bytes)
{
    uint64_t more = *room ? *room : 64;
    void *grown;

    if (wanted <= *room)
        return 0;
    while (more < wanted)
        more *= 2;
    grown = realloc(*list, more * bytes);
    if (!grown)
        return DRASYNC_ENOMEM;
    *list = grown;
    *room = more;
    return 0;
}

static int draft_room(struct draft *d, uint64_t extents)
{
    struct native_image *image = &d->image;
    uint64_t records_room = d->regions_room;
    void *list = image->region, *records = (void *)d->record;
    int err = grow(&records, &records_room, image->regions + 1,
                   sizeof(struct proto_region *));

    d->record = records;
    if (!err)
        err = grow(&list, &d->regions_room, image->regions + 1,
                   sizeof(image->region[0]));
    image->region = list;
    list = image->extent;
    if (!err)
        err = grow(&list, &d->extents_room, image->extents + extents,
                   sizeof(image->extent[0]));
    image->extent = list;
    return err;
}

/* The place of @parent: that of the region before, or above it, as regions come
 * in the order of the subtree, mostly.  If it is not there it is the top. */
static uint32_t parent_at(const struct draft *d,
                          const struct proto_region *parent)
{
    uint64_t at = d->image.regions - 1;

    while (d->record[at] != parent && at)
        at = d->image.region[at].parent;
    if (d->record[at] != parent)
        for (at = d->image.regions - 1; at && d->record[at] != parent;)
            at--;
    return (uint32_t)at;
}

static int draft_add(struct draft *d, const struct proto_region *r,
                     const struct proto_copy *copy)
{
    struct native_image *image = &d->image;
    const struct native_frames *frames = copy ? copy->frames : NULL;
    const struct native_memory *memory = r->memory;
    const struct frameset *set = frames ? frames->set : NULL;
    uint64_t first;
    int err;

    if ((!set || !set->runs) && (r->dead || r->gone))
        return 0;
    if (!set || !set->runs)
        return DRASYNC_EINTERNAL;
    if (image->regions >= NATIVE_IMAGE_NO_PARENT - 1 || set->runs > UINT32_MAX)
        return DRASYNC_ELIMIT;
    err = draft_room(d, set->runs);
    if (err)
        return err;
    first = set->run[0].first_page << PAGE_SHIFT;
    if (first + (uint64_t)(uintptr_t)runtime.space.base != r->address)
        return DRASYNC_EINTERNAL;
    image->region[image->regions] = (struct native_image_region){
        .address = r->address,
        .incarnation = r->incarnation,
        .parent =
            image->regions ? parent_at(d, r->parent) : NATIVE_IMAGE_NO_PARENT,
        .extents = (uint32_t)set->runs,
        .nameless = memory && memory->home && !memory->named,
    };
    d->record[image->regions++] = r;
    for (uint64_t i = 0; i < set->runs; i++) {
        const struct frameset_run *run = &set->run[i];
        uint64_t used = native_used_bytes(frames, i),
                 most = run->pages << PAGE_SHIFT;

        image->extent[image->extents++] = (struct native_image_extent){
            .address = (uint64_t)(uintptr_t)space_address(&runtime.space,
                                                          run->first_page),
            .pages = run->pages,
            .used_bytes = used < most ? used : most,
            .offset = run->offset,
        };
    }
    return 0;
}

/* What a WRITE hold covers. */
static int draft_newest(struct draft *d, const struct proto_region *top)
{
    int err = 0;

    for (struct proto_region *r = native_next_covered(top, NULL); r && !err;
         r = native_next_covered(top, r))
        err = draft_add(d, r, proto_newest(r));
    return err;
}

static bool is_below(const struct proto_region *r,
                     const struct proto_region *top)
{
    while (r && r != top)
        r = r->parent;
    return r;
}

/* What a READ hold of @top, or of what is above it, pins there. */
static int draft_pinned(struct draft *d, const struct proto_region *top)
{
    const struct proto_hold *hold = NULL;
    int err = 0;

    for (const struct proto_region *r = top; r; r = r->parent) {
        hold = proto_read_hold(r, d->image.rank);
        if (hold && !hold->covered)
            break;
        hold = NULL;
    }
    if (!hold)
        return DRASYNC_ENOTHELD;
    for (const struct proto_link *l = hold->pins.next; l != &hold->pins && !err;
         l = l->next) {
        /* The link is the pin's first member. */
        const struct proto_pin *pin = (const struct proto_pin *)l;

        if (is_below(pin->region, top))
            err = draft_add(d, pin->region, pin->copy);
    }
    return err;
}

_Static_assert(offsetof(struct proto_pin, link) == 0, "a link is its pin");

/* --- The hold ------------------------------------------------------------- */

/* Who may be stopped is asked so often. */
#define STOP_US 200000

/* What it has of a subtree keeps writers out while it waits for the rest.  So it
 * lets go if it gets no more for so long; later for twice as long and so on. */
#define ATTEMPT_US     200000
#define ATTEMPT_US_MAX 1600000

/* How long hold_once() waits for a hold of this rank that is another thread's, or
 * may be. */
#define PATIENCE_US 1000000

/* What waits, if it may be stopped. */
struct stop {
    native_stop_fn *asks; /* or NULL */
    uint64_t attempt_us;  /* that it waits with a part of the subtree */
};

/* What @q has of the subtree, as proto_progress(); or it is over. */
static const void *progress(const struct native_pending *q)
{
    const void *part = NULL;
    struct native_tree tree;

    if (native_lock(q->address, &tree))
        return NULL;
    if (!waiter_done(&q->wait->waiter) && tree.region == q->record)
        part = proto_progress(q->op);
    native_unlock(&tree);
    return part;
}

/* DRASYNC_EAGAIN: @stop says so, or the attempt is over. */
static int wait_for_parts(struct native_pending *q, const struct stop *stop,
                          int *result_out)
{
    uint64_t since_us = runtime_now_us();
    const void *last = NULL, *now;
    int err;

    do {
        err = native_pending_wait(q, wait_deadline_us(STOP_US), result_out);
        now = err == DRASYNC_EAGAIN ? progress(q) : NULL;
        if (now != last || !now)
            since_us = runtime_now_us();
        last = now;
    } while (err == DRASYNC_EAGAIN && !stop->asks() &&
             runtime_now_us() < since_us + stop->attempt_us);
    return err;
}

/* Wait for @q, until @until at most: 0 with *result_out, or it is over without. */
static int wait_for(struct native_pending *q, const struct stop *stop,
                    uint64_t until, int *result_out)
{
    int err = stop->asks ? wait_for_parts(q, stop, result_out)
                         : native_pending_wait(q, until, result_out);

    if ((err == DRASYNC_EAGAIN || err == DRASYNC_EDEADLK) &&
        native_pending_ended(q)) {
        *result_out = q->wait->waiter.result;
        err = 0;
    }
    return err;
}

/* What there is of a hold. */
struct held {
    int32_t rank; /* whose it is, as the protocol numbers ranks */
    bool waited;  /* the region was deleted while it was waited for */
};

/* Take the hold under a number of its own (native_rank_new()).  Under the lock
 * of @tree, which is given back. */
static int hold_start(struct native_tree *tree, uint64_t address,
                      const struct stop *stop, uint64_t until,
                      struct held *held_out)
{
    struct native_pending q = {.address = address, .mode = DRASYNC_READ};
    struct proto_effects *effects;
    struct proto_grant grant;
    int err, result = 0;

    q.as = held_out->rank = native_rank_new(true);
    q.wait = native_wait_take();
    if (!q.wait) {
        native_unlock(tree);
        return DRASYNC_ENOMEM;
    }
    effects = native_effects();
    err = proto_acquire(&native.node, q.as, tree->region, address, DRASYNC_READ,
                        false, q.wait, &grant, &q.op, effects);
    native_do(effects, NULL);
    if (err == PROTO_WAIT)
        q.record = proto_target(q.op);
    native_unlock(tree);
    if (err == PROTO_WAIT) {
        err = wait_for(&q, stop, until, &result);
        /* The wait is not ours any more: given back, or the job is over. */
        if (err)
            return err;
        err = result;
        held_out->waited = q.wait->waited;
    }
    native_wait_give(q.wait);
    return err;
}

/* Has this thread a hold of @r, or of what is above it?  The tree is locked, so no
 * lease is left there.  A hold without a note is this thread's if that took it by
 * a lease; with @may_read also if it knows of no lease. */
static bool thread_holds(const struct proto_region *r, bool may_read)
{
    for (; r; r = r->parent) {
        const struct proto_hold *hold = proto_read_hold(r, native.rank);
        enum native_taken_by by =
            native_taken_by(r->address, r->incarnation,
                            r->write_rank == native.rank ? r->write_count : 0,
                            hold ? hold->count : 0);

        if (by == NATIVE_TAKEN_BY_ME ||
            (by == NATIVE_TAKEN_BY_NOBODY &&
             (native_lease_mine(r->address) ||
              (may_read && !native_lease_of(r->address)))))
            return true;
    }
    return false;
}

/* Take one more hold as this rank, which holds the region. */
static int hold_as_rank(uint64_t address, struct held *held_out)
{
    held_out->rank = native.rank;
    return native_acquire((drasync_region_t)(uintptr_t)address, DRASYNC_READ,
                          DRASYNC_FOREVER);
}

/* Take the hold where this rank holds nothing of the region. */
static int hold_apart(struct native_tree *tree, uint64_t address,
                      const struct stop *stop, struct held *held_out)
{
    if (tree->region || runtime.nodes > 1)
        return hold_start(tree, address, stop, WAIT_FOREVER, held_out);
    native_unlock(tree);
    return DRASYNC_ENOREGION;
}

/* As long as an attempt was.  False: @stop says so. */
static bool pause_between(const struct stop *stop)
{
    struct timespec part = {.tv_nsec = STOP_US * 1000L};

    for (uint64_t us = 0; us < stop->attempt_us; us += STOP_US) {
        if (stop->asks())
            return false;
        nanosleep(&part, NULL);
    }
    return !stop->asks();
}

/* By a thread of the library's, which holds nothing, until @asks says so. */
static int hold_by_attempts(uint64_t address, native_stop_fn *asks,
                            struct held *held_out)
{
    struct stop stop = {.asks = asks, .attempt_us = ATTEMPT_US};
    struct native_tree tree;
    bool again;
    int err;

    do {
        err = native_lock(address, &tree);
        if (!err)
            err = hold_apart(&tree, address, &stop, held_out);
        again = err == DRASYNC_EAGAIN && pause_between(&stop);
        if (stop.attempt_us < ATTEMPT_US_MAX)
            stop.attempt_us *= 2;
    } while (again);
    return err;
}

static int hold_once(uint64_t address, native_stop_fn *asks,
                     struct held *held_out)
{
    const struct stop never = {.asks = NULL};
    const struct proto_region *below;
    struct native_tree tree;
    int held, err;
    bool mine;

    if (asks)
        return hold_by_attempts(address, asks, held_out);
    err = native_lock(address, &tree);
    if (err)
        return err;
    held = tree.region ? proto_held(tree.region, native.rank) : 0;
    below = tree.region ? proto_held_below(tree.region, native.rank) : NULL;
    if (!held && !below)
        return hold_apart(&tree, address, &never, held_out);
    /* Beside this thread's hold, one under a number of its own would wait for
     * ever, or see another version.  Beside one for READ that may be this
     * thread's it is as well to read what the rank does. */
    mine = held ? thread_holds(tree.region,
                               held == DRASYNC_READ &&
                                   (native_taken_any() || native_leases_mine))
                : thread_holds(below, false);
    if (mine)
        native_unlock(&tree);
    else
        err = hold_start(&tree, address, &never, wait_deadline_us(PATIENCE_US),
                         held_out);
    if (!mine && err != DRASYNC_EAGAIN)
        return err;
    return held ? hold_as_rank(address, held_out) : DRASYNC_EORDER;
}

struct holding {
    uint64_t address;
    native_stop_fn *asks;
    struct held held;
};

static int hold_attempt(void *context, bool *waited_out)
{
    struct holding *h = context;
    int err;

    h->held.waited = false;
    err = hold_once(h->address, h->asks, &h->held);
    *waited_out = h->held.waited;
    return err;
}

static int hold_take(uint64_t address, native_stop_fn *asks, int32_t *rank_out)
{
    struct holding h = {.address = address, .asks = asks};
    int err;

    err = native_attempt(address, true, hold_attempt, &h);
    *rank_out = h.held.rank;
    return err;
}

static void hold_give(uint64_t address, int32_t rank)
{
    struct proto_effects *effects;
    struct native_tree tree;

    if (rank == native.rank) {
        native_release((drasync_region_t)(uintptr_t)address);
        return;
    }
    limit_reserve_enter();
    if (!native_lock(address, &tree)) {
        effects = native_effects();
        if (tree.region)
            proto_release(&native.node, rank, tree.region, DRASYNC_READ,
                          effects);
        native_do(effects, NULL);
        native_unlock(&tree);
    }
    limit_reserve_leave();
}

/* --- Calls ---------------------------------------------------------------- */

static int draft_held(struct draft *d, uint64_t address)
{
    struct native_tree tree;
    int err = native_lock(address, &tree), held;

    if (err)
        return err;
    held = tree.region ? proto_held(tree.region, d->image.rank) : 0;
    if (!held)
        err = tree.region ? DRASYNC_ENOTHELD : native_unknown(address);
    /* What is pinned was complete when its WRITE hold ended. */
    if (!err && held == DRASYNC_WRITE)
        err = native_magazines_end(&tree, tree.region);
    if (!err)
        d->image.root = !tree.region->parent;
    if (!err)
        err = held == DRASYNC_WRITE ? draft_newest(d, tree.region)
                                    : draft_pinned(d, tree.region);
    native_unlock(&tree);
    return !err && !d->image.regions ? DRASYNC_EDELETED : err;
}

int native_image_take(drasync_region_t region, native_stop_fn *stop,
                      struct native_image *image_out)
{
    uint64_t address = (uint64_t)(uintptr_t)region;
    struct draft draft = {0};
    int err;

    if (!native_address_valid(region))
        return DRASYNC_ENOREGION;
    err = hold_take(address, stop, &draft.image.rank);
    if (err)
        return err;
    err = draft_held(&draft, address);
    free((void *)draft.record);
    if (err) {
        hold_give(address, draft.image.rank);
        native_image_free(&draft.image);
    } else {
        *image_out = draft.image;
    }
    return err;
}

void native_image_give(struct native_image *image)
{
    hold_give(image->region[0].address, image->rank);
    native_image_free(image);
}

void native_image_free(struct native_image *image)
{
    free(image->region);
    free(image->extent);
    *image = (struct native_image){0};
}
