/* A node's limit of memory, and the reserve for giving back: see limit.h. */
#include "memory/limit.h"

#include "drasync.h"
#include "memory/os.h"
#include "memory/shared.h"

#include <stdatomic.h>
#include <stdbool.h>

/* How many uses of the reserve this thread is within. */
static _Thread_local int in_reserve;

uint64_t limit_default_bytes(void)
{
    uint64_t machine = os_memory_bytes() / 10 * 9;
    uint64_t group = os_cgroup_limit_bytes();

    return group < machine ? group : machine;
}

uint64_t limit_used_bytes(const struct space *space)
{
    return atomic_load(&shared_of(space)->limit.used_bytes);
}

uint64_t limit_bytes(const struct space *space)
{
    return atomic_load(&shared_of(space)->limit.limit_bytes);
}

/*
 * Is there room outside?  Others use the same machine and cgroup, and each node
 * looks only now and then, hence the margin of two steps.
 */
static int room_outside(struct limit *limit, uint64_t bytes, uint64_t max)
{
    uint64_t step = max / 64, unchecked, available;

    if (step > LIMIT_RECHECK_BYTES)
        step = LIMIT_RECHECK_BYTES;
    unchecked = atomic_fetch_add(&limit->unchecked_bytes, bytes) + bytes;
    if (unchecked <= step)
        return 1;
    available = os_available_bytes();
    if (available < bytes || available - bytes < 2 * step)
        return 0;
    atomic_store(&limit->unchecked_bytes, 0);
    return 1;
}

static uint64_t reserve_bytes(uint64_t max)
{
    return max / 32 < LIMIT_RESERVE_BYTES_MAX ? max / 32
                                              : LIMIT_RESERVE_BYTES_MAX;
}

uint64_t limit_kept_bytes(const struct space *space)
{
    uint64_t bytes = limit_bytes(space) / 8;

    return bytes < LIMIT_KEPT_BYTES_MIN ? LIMIT_KEPT_BYTES_MIN : bytes;
}

uint64_t limit_room_bytes(const struct space *space)
{
    uint64_t max = limit_bytes(space), used = limit_used_bytes(space);

    max -= reserve_bytes(max);
    return used < max ? max - used : 0;
}

void limit_reserve_enter(void)
{
    in_reserve++;
}

void limit_reserve_leave(void)
{
    in_reserve--;
}

int limit_charge(const struct space *space, uint64_t bytes, enum limit_for what)
{
    struct limit *limit = &shared_of(space)->limit;
    uint64_t max = atomic_load(&limit->limit_bytes);
    uint64_t used = atomic_load(&limit->used_bytes);
    bool reserve = what == LIMIT_FOR_CONTROL && in_reserve > 0;

    if (!reserve)
        max -= reserve_bytes(max);
    do {
        if (used > max || bytes > max - used)
            return DRASYNC_ENOMEM;
    } while (
        !atomic_compare_exchange_weak(&limit->used_bytes, &used, used + bytes));
    /* The margin outside is kept for just this. */
    if (reserve || room_outside(limit, bytes, max))
        return 0;
    limit_release(space, bytes);
    return DRASYNC_ENOMEM;
}

void limit_release(const struct space *space, uint64_t bytes)
{
    atomic_fetch_sub(&shared_of(space)->limit.used_bytes, bytes);
}
