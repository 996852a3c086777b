/* Runs at a given place, and runs that change hands: see buddy.h. */
#include "memory/buddy.h"

#include "drasync.h"
#include "memory/buddy_lists.h"

/* The free block that [at, at + 2^order) lies in: *from_out is its order.  0:
 * there is none. */
static uint64_t block_around(const struct space *space,
                             const struct buddy *buddy, uint64_t at,
                             unsigned order, unsigned *from_out)
{
    for (unsigned k = order; k < BUDDY_ORDERS; k++) {
        uint64_t block = at & ~(((uint64_t)1 << k) - 1);

        if (block && state_at(space, buddy, block) == BUDDY_FREE &&
            record(space, buddy, block)->order == k) {
            *from_out = k;
            return block;
        }
    }
    return 0;
}

/* Cut the block at @at of @order from @block of order @from: halves that are
 * left over stay free. */
static int cut_at(const struct space *space, struct buddy *buddy,
                  uint64_t block, unsigned from, uint64_t at, unsigned order)
{
    for (unsigned half = order; half < from; half++) {
        uint64_t low = at & ~(((uint64_t)2 << half) - 1);
        int err = reserve_record(space, buddy, low);

        if (!err)
            err = reserve_record(space, buddy, low + ((uint64_t)1 << half));
        if (err)
            return err;
    }
    unlink_run(space, buddy, &buddy->free[from], block);
    record(space, buddy, block)->state = BUDDY_NOTHING;
    for (unsigned half = from; half-- > order;) {
        uint64_t mine = at & ~(((uint64_t)1 << half) - 1);

        push(space, buddy, &buddy->free[half], mine ^ ((uint64_t)1 << half),
             half, BUDDY_FREE, 0);
    }
    return 0;
}

static void take(const struct space *space, struct buddy *buddy, uint64_t at,
                 uint64_t pages, unsigned order)
{
    struct buddy_record *r = record(space, buddy, at);

    r->next = 0;
    r->prev = 0;
    r->order = (uint8_t)order;
    r->state = BUDDY_TAKEN;
    r->pages = (uint32_t)pages;
    buddy->taken_pages += pages;
    buddy->taken_runs++;
}

static bool is_run(const struct buddy *buddy, uint64_t first, uint64_t pages)
{
    return first && pages && first < buddy->pages &&
           pages <= buddy->pages - first &&
           order_for(pages) < BUDDY_ORDERS - 1 &&
           !(first & (((uint64_t)1 << order_for(pages)) - 1));
}

/* Under the lock. */
static int take_at(const struct space *space, struct buddy *buddy,
                   uint64_t first, uint64_t pages)
{
    unsigned order = order_for(pages), from;
    uint64_t block;
    int err;

    while (!(block = block_around(space, buddy, first, order, &from)) &&
           first >= buddy->fresh && first < buddy->fresh + buddy->fresh_pages) {
        err = buddy_enter_fresh(space, buddy);
        if (err)
            return err;
    }
    if (!block)
        return DRASYNC_EBUSY;
    err = cut_at(space, buddy, block, from, first, order);
    if (!err)
        take(space, buddy, first, pages, order);
    return err;
}

static int try_at(const struct space *space, struct buddy *buddy,
                  uint64_t first, uint64_t pages)
{
    int err = lock_take(&buddy->lock);

    if (err)
        return err;
    err = take_at(space, buddy, first, pages);
    lock_give(&buddy->lock);
    return err;
}

int buddy_take_at(const struct space *space, struct buddy *buddy,
                  uint64_t first, uint64_t pages)
{
    int err;

    if (!is_run(buddy, first, pages))
        return DRASYNC_EINVAL;
    err = try_at(space, buddy, first, pages);
    if (err != DRASYNC_EBUSY)
        return err;
    /* What is cached is free, too. */
    err = buddy_trim(space, buddy, 0);
    return err ? err : try_at(space, buddy, first, pages);
}

int buddy_forget(const struct space *space, struct buddy *buddy, uint64_t first,
                 uint64_t pages)
{
    struct buddy_record *r;
    int err;

    if (!is_run(buddy, first, pages))
        return DRASYNC_EINVAL;
    err = lock_take(&buddy->lock);
    if (err)
        return err;
    if (state_at(space, buddy, first) != BUDDY_TAKEN ||
        record(space, buddy, first)->pages != pages) {
        err = DRASYNC_EINVAL;
    } else {
        r = record(space, buddy, first);
        r->state = BUDDY_NOTHING;
        buddy->taken_pages -= pages;
        buddy->taken_runs--;
    }
    lock_give(&buddy->lock);
    return err;
}

int buddy_enter_taken(const struct space *space, struct buddy *buddy,
                      uint64_t first, uint64_t pages)
{
    int err;

    if (!is_run(buddy, first, pages))
        return DRASYNC_EINVAL;
    err = lock_take(&buddy->lock);
    if (err)
        return err;
    err = reserve_record(space, buddy, first);
    if (!err && state_at(space, buddy, first) != BUDDY_NOTHING)
        err = DRASYNC_EINVAL;
    if (!err)
        take(space, buddy, first, pages, order_for(pages));
    lock_give(&buddy->lock);
    return err;
}
