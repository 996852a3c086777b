/* What of a process others may use: a sorted list in control memory. */
#include <string.h>

#include "memory/control.h"
#include "runtime/process.h"
#include "runtime/rma/state.h"

/* The first range that does not come before (@address, @bytes). */
static uint64_t position(const struct rma_ranges *ranges, uint64_t address,
                         uint64_t bytes)
{
    uint64_t low = 0, high = ranges->used;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const struct rma_range *r = &ranges->list[middle];

        if (r->address < address || (r->address == address && r->bytes < bytes))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From @at on, until nothing changes. */
static void correct_ends(struct rma_ranges *ranges, uint64_t at)
{
    for (uint64_t i = at; i < ranges->used; i++) {
        struct rma_range *r = &ranges->list[i];
        uint64_t end = r->address + r->bytes;
        uint64_t before = i ? ranges->list[i - 1].end_max : 0;
        uint64_t end_max = end > before ? end : before;

        if (r->end_max == end_max)
            return;
        r->end_max = end_max;
    }
}

static int grow(struct rma_ranges *ranges)
{
    uint64_t room = ranges->room ? 2 * ranges->room : 32;
    void *list;
    int err;

    if (ranges->used < ranges->room)
        return 0;
    if (room > RMA_RANGES_MAX)
        return DRASYNC_ELIMIT;
    err = control_alloc(&runtime.space, room * sizeof(*ranges->list), &list);
    if (err)
        return err;
    if (ranges->used)
        memcpy(list, ranges->list, ranges->used * sizeof(*ranges->list));
    control_free(&runtime.space, ranges->list);
    ranges->list = list;
    ranges->room = room;
    return 0;
}

static bool is_at(const struct rma_ranges *ranges, uint64_t at,
                  uint64_t address, uint64_t bytes)
{
    return at < ranges->used && ranges->list[at].address == address &&
           ranges->list[at].bytes == bytes;
}

int rma_ranges_add(struct rma_ranges *ranges, uint64_t address, uint64_t bytes,
                   bool *first_out)
{
    int err = lock_take(&ranges->lock);
    uint64_t at;

    if (err)
        return err;
    *first_out = ranges->used == 0;
    at = position(ranges, address, bytes);
    if (is_at(ranges, at, address, bytes)) {
        ranges->list[at].count++;
    } else if (!(err = grow(ranges))) {
        struct rma_range *r = &ranges->list[at];

        memmove(r + 1, r, (ranges->used - at) * sizeof(*r));
        ranges->used++;
        *r = (struct rma_range){.address = address, .bytes = bytes, .count = 1};
        correct_ends(ranges, at);
    }
    lock_give(&ranges->lock);
    return err;
}

int rma_ranges_remove(struct rma_ranges *ranges, uint64_t address,
                      uint64_t bytes, bool *last_out)
{
    int err = lock_take(&ranges->lock);
    uint64_t at;

    if (err)
        return err;
    at = position(ranges, address, bytes);
    if (!is_at(ranges, at, address, bytes)) {
        err = DRASYNC_EINVAL;
    } else if (--ranges->list[at].count == 0) {
        struct rma_range *r = &ranges->list[at];

        ranges->used--;
        memmove(r, r + 1, (ranges->used - at) * sizeof(*r));
        correct_ends(ranges, at);
    }
    *last_out = !err && ranges->used == 0;
    lock_give(&ranges->lock);
    return err;
}

void rma_ranges_clear(struct rma_ranges *ranges)
{
    if (lock_take(&ranges->lock))
        return;
    control_free(&runtime.space, ranges->list);
    ranges->list = NULL;
    ranges->used = ranges->room = 0;
    lock_give(&ranges->lock);
}

int rma_ranges_check(struct rma_ranges *ranges, uint64_t address,
                     uint64_t bytes)
{
    int err = lock_take(&ranges->lock);
    uint64_t at, end;

    if (err)
        return err;
    /* Of those that begin at or before it, does the one that ends last? */
    at = position(ranges, address, UINT64_MAX);
    end = at ? ranges->list[at - 1].end_max : 0;
    lock_give(&ranges->lock);
    return end >= address && bytes <= end - address && end ? 0 : DRASYNC_EINVAL;
}
