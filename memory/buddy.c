/* The buddy allocator of address runs: see buddy.h. */
#include "memory/buddy.h"

#include "drasync.h"
#include "memory/buddy_lists.h"
#include "memory/frames.h"
#include "memory/shared.h"

#include <assert.h>
#include <string.h>

/* How many cached runs of an order are looked at for one with just the frames
 * that are wanted. */
#define CACHED_SEARCH_MAX 16

/* Enter a run without frames, merged with its neighbours. */
static void insert_free(const struct space *space, struct buddy *buddy,
                        uint64_t at, unsigned order)
{
    while (order + 1 < BUDDY_ORDERS) {
        uint64_t size = (uint64_t)1 << order, other = at ^ size;

        if (!other || other >= buddy->pages || size > buddy->pages - other ||
            state_at(space, buddy, other) != BUDDY_FREE ||
            record(space, buddy, other)->order != order)
            break;
        unlink_run(space, buddy, &buddy->free[order], other);
        record(space, buddy, at > other ? at : other)->state = BUDDY_NOTHING;
        at &= ~size;
        order++;
    }
    push(space, buddy, &buddy->free[order], at, order, BUDDY_FREE, 0);
}

int buddy_create(const struct space *space, struct buddy *buddy,
                 uint64_t base_page, uint64_t pages)
{
    int err;

    memset(buddy, 0, sizeof(*buddy));
    buddy->base_page = base_page;
    buddy->pages = pages;
    err = lock_init(&buddy->trim_lock, LOCK_RANK_TRIM,
                    control_poison_flag(space));
    if (err)
        return err;
    return lock_init(&buddy->lock, LOCK_RANK_RUNS, control_poison_flag(space));
}

/* Enter the block that [at, at + left) begins with; its record is reserved. */
static uint64_t enter_block(const struct space *space, struct buddy *buddy,
                            uint64_t at, uint64_t left)
{
    unsigned order = leading_order(at, left);

    insert_free(space, buddy, at, order);
    return (uint64_t)1 << order;
}

/* Under the lock. */
static int add(const struct space *space, struct buddy *buddy, uint64_t first,
               uint64_t pages)
{
    uint64_t at, left, size;
    int err;

    for (at = first, left = pages; left; at += size, left -= size) {
        size = (uint64_t)1 << leading_order(at, left);
        if (state_at(space, buddy, at) != BUDDY_NOTHING)
            return DRASYNC_EINVAL;
        err = reserve_record(space, buddy, at);
        if (err)
            return err;
    }
    for (at = first, left = pages; left; at += size, left -= size)
        size = enter_block(space, buddy, at, left);
    return 0;
}

int buddy_add(const struct space *space, struct buddy *buddy, uint64_t first,
              uint64_t pages)
{
    int err;

    if (!first || !pages || first >= buddy->pages ||
        pages > buddy->pages - first)
        return DRASYNC_EINVAL;
    err = lock_take(&buddy->lock);
    if (err)
        return err;
    if (!buddy->fresh) {
        buddy->fresh = first;
        buddy->fresh_pages = pages;
    } else if (first < buddy->fresh + buddy->fresh_pages &&
               buddy->fresh < first + pages) {
        err = DRASYNC_EINVAL;
    } else {
        err = add(space, buddy, first, pages);
    }
    lock_give(&buddy->lock);
    return err;
}

/* The smallest order of free runs from @order on, BUDDY_ORDERS: none. */
static unsigned smallest_free(const struct buddy *buddy, unsigned order)
{
    while (order < BUDDY_ORDERS && !buddy->free[order])
        order++;
    return order;
}

int buddy_enter_fresh(const struct space *space, struct buddy *buddy)
{
    int err = buddy->fresh_pages ? reserve_record(space, buddy, buddy->fresh)
                                 : DRASYNC_ENOSPACE;
    uint64_t size;

    if (err)
        return err;
    size = enter_block(space, buddy, buddy->fresh, buddy->fresh_pages);
    buddy->fresh += size;
    buddy->fresh_pages -= size;
    return 0;
}

/* The same, with blocks of what is fresh if need be: they get larger, or one is
 * all of it, so that the first that is large enough is the smallest. */
static int find_free(const struct space *space, struct buddy *buddy,
                     unsigned order, unsigned *from_out)
{
    while ((*from_out = smallest_free(buddy, order)) == BUDDY_ORDERS) {
        int err = buddy_enter_fresh(space, buddy);

        if (err)
            return err;
    }
    return 0;
}

/* Cut a run of @order from the smallest free run that holds it. */
static int cut_free(const struct space *space, struct buddy *buddy,
                    unsigned order, uint64_t *first_out)
{
    unsigned from, half;
    uint64_t at;
    int err = find_free(space, buddy, order, &from);

    if (err)
        return err;
    at = buddy->free[from];
    for (half = order; half < from; half++) {
        err = reserve_record(space, buddy, at + ((uint64_t)1 << half));
        if (err)
            return err;
    }
    unlink_run(space, buddy, &buddy->free[from], at);
    for (half = from; half-- > order;)
        push(space, buddy, &buddy->free[half], at + ((uint64_t)1 << half), half,
             BUDDY_FREE, 0);
    *first_out = at;
    return 0;
}

/* The cached run of @order to take for @pages, of those given back last: one
 * with as many frames, or the last. */
static uint64_t best_cached(const struct space *space,
                            const struct buddy *buddy, unsigned order,
                            uint64_t pages)
{
    uint64_t at = buddy->cached[order];

    for (int tries = 0; at && tries < CACHED_SEARCH_MAX; tries++) {
        const struct buddy_record *r = record(space, buddy, at);

        if (r->pages == pages)
            return at;
        at = r->next;
    }
    return buddy->cached[order];
}

/* Take a run and say how many of its first pages have frames. */
static int take_run(const struct space *space, struct buddy *buddy,
                    uint64_t pages, int with_frames, uint64_t *first_out,
                    uint64_t *frames_out)
{
    unsigned order = order_for(pages);
    struct buddy_record *r;
    int err;

    *frames_out = 0;
    err = lock_take(&buddy->lock);
    if (err)
        return err;
    if (with_frames && buddy->cached[order]) {
        *first_out = best_cached(space, buddy, order, pages);
        *frames_out = record(space, buddy, *first_out)->pages;
        unlink_run(space, buddy, &buddy->cached[order], *first_out);
        buddy->cached_pages -= *frames_out;
    } else {
        err = cut_free(space, buddy, order, first_out);
        if (err)
            goto unlock;
    }
    r = record(space, buddy, *first_out);
    r->order = (uint8_t)order;
    r->state = BUDDY_TAKEN;
    r->pages = (uint32_t)pages;
    buddy->taken_pages += pages;
    buddy->taken_runs++;

unlock:
    lock_give(&buddy->lock);
    return err;
}

/* Let the @had frames of a run become @want. */
static int fit_frames(const struct space *space, const struct buddy *buddy,
                      uint64_t at, uint64_t had, uint64_t want)
{
    uint64_t offset = space_page_offset(buddy->base_page + at);

    if (had < want)
        return frames_reserve(space, offset + space_page_offset(had),
                              space_page_offset(want - had));
    if (had > want)
        return frames_unreserve(space, offset + space_page_offset(want),
                                space_page_offset(had - want));
    return 0;
}

/* Put a run back, under the lock: cached if it has frames. */
static void put_back(const struct space *space, struct buddy *buddy,
                     uint64_t at, uint64_t frames)
{
    unsigned order = record(space, buddy, at)->order;

    if (frames) {
        push(space, buddy, &buddy->cached[order], at, order, BUDDY_CACHED,
             frames);
        buddy->cached_pages += frames;
    } else {
        insert_free(space, buddy, at, order);
    }
}

/* A run that is taken, with @pages, becomes free, with @frames.  Says how many
 * are cached now. */
static int untake(const struct space *space, struct buddy *buddy, uint64_t at,
                  uint64_t pages, uint64_t frames, uint64_t *cached_out)
{
    struct buddy_record *r = record(space, buddy, at);
    int err = lock_take(&buddy->lock);

    if (err)
        return err;
    if (state_at(space, buddy, at) != BUDDY_TAKEN || r->pages != pages) {
        lock_give(&buddy->lock);
        return DRASYNC_EINVAL;
    }
    r->state = BUDDY_MOVING;
    buddy->taken_pages -= pages;
    buddy->taken_runs--;
    put_back(space, buddy, at, frames);
    *cached_out = buddy->cached_pages;
    lock_give(&buddy->lock);
    return 0;
}

int buddy_take(const struct space *space, struct buddy *buddy, uint64_t pages,
               int with_frames, uint64_t *first_out)
{
    uint64_t frames, at;
    int err;

    if (!pages)
        return DRASYNC_EINVAL;
    if (pages > buddy->pages || order_for(pages) >= BUDDY_ORDERS - 1)
        return DRASYNC_ENOSPACE;
    err = take_run(space, buddy, pages, with_frames, &at, &frames);
    if (err == DRASYNC_ENOSPACE || err == DRASYNC_ENOMEM) {
        /* Cached runs do not merge; without their frames they do.  And a record
         * may lack the memory that they keep. */
        err = buddy_trim(space, buddy, 0);
        if (!err)
            err = take_run(space, buddy, pages, with_frames, &at, &frames);
    }
    if (err)
        return err;
    if (with_frames) {
        err = fit_frames(space, buddy, at, frames, pages);
        if (err == DRASYNC_ENOMEM && !buddy_trim(space, buddy, 0))
            err = fit_frames(space, buddy, at, frames, pages);
        if (err) {
            untake(space, buddy, at, pages, frames, &frames);
            return err;
        }
    }
    *first_out = at;
    return 0;
}

int buddy_give(const struct space *space, struct buddy *buddy, uint64_t first,
               uint64_t pages, int with_frames, uint64_t cached_pages_max)
{
    uint64_t cached;
    int err;

    if (!first || first >= buddy->pages)
        return DRASYNC_EINVAL;
    err = untake(space, buddy, first, pages, with_frames ? pages : 0, &cached);
    if (err || !with_frames || cached <= cached_pages_max)
        return err;
    return buddy_trim(space, buddy, cached_pages_max);
}

/* Take the largest cached run away, of which there is one, under the lock. */
static uint64_t take_cached(const struct space *space, struct buddy *buddy,
                            uint64_t *frames_out)
{
    unsigned order = BUDDY_ORDERS;
    uint64_t at;

    while (!buddy->cached[--order])
        ;
    at = buddy->cached[order];
    *frames_out = record(space, buddy, at)->pages;
    buddy->cached_pages -= *frames_out;
    unlink_run(space, buddy, &buddy->cached[order], at);
    return at;
}

static int pick_cached(const struct space *space, struct buddy *buddy,
                       uint64_t keep_pages, uint64_t *at_out,
                       uint64_t *frames_out)
{
    int err = lock_take(&buddy->lock);

    if (err)
        return err;
    *frames_out = 0;
    if (buddy->cached_pages > keep_pages)
        *at_out = take_cached(space, buddy, frames_out);
    lock_give(&buddy->lock);
    return 0;
}

static int trim_one(const struct space *space, struct buddy *buddy, uint64_t at,
                    uint64_t frames)
{
    int err = fit_frames(space, buddy, at, frames, 0);

    if (err)
        return err;
    err = lock_take(&buddy->lock);
    if (err)
        return err;
    put_back(space, buddy, at, 0);
    lock_give(&buddy->lock);
    return 0;
}

int buddy_trim(const struct space *space, struct buddy *buddy,
               uint64_t keep_pages)
{
    uint64_t at, frames;
    int err;

    /* One trimmer at a time: who waits here finds all runs in their places. */
    err = lock_take(&buddy->trim_lock);
    if (err)
        return err;
    do {
        err = pick_cached(space, buddy, keep_pages, &at, &frames);
        if (!err && frames)
            err = trim_one(space, buddy, at, frames);
    } while (!err && frames);
    lock_give(&buddy->trim_lock);
    return err;
}

uint64_t buddy_trim_try(const struct space *space, struct buddy *buddy)
{
    uint64_t trimmed = 0, at, frames;

    if (lock_try(&buddy->trim_lock))
        return 0;
    if (!lock_try(&buddy->lock)) {
        while (buddy->cached_pages) {
            at = take_cached(space, buddy, &frames);
            if (fit_frames(space, buddy, at, frames, 0)) {
                put_back(space, buddy, at, frames);
                break;
            }
            put_back(space, buddy, at, 0);
            trimmed += frames;
        }
        lock_give(&buddy->lock);
    }
    lock_give(&buddy->trim_lock);
    return trimmed;
}
