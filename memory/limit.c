#include "memory/limit.h"

#include "drasync.h"
#include "memory/os.h"
#include "memory/shared.h"

#include <stdatomic.h>

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

void limit_set(const struct space *space, uint64_t bytes)
{
    atomic_store(&shared_of(space)->limit.limit_bytes, bytes);
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

int limit_charge(const struct space *space, uint64_t bytes)
{
    struct limit *limit = &shared_of(space)->limit;
    uint64_t max = atomic_load(&limit->limit_bytes);
    uint64_t used = atomic_load(&limit->used_bytes);

    do {
        if (used > max || bytes > max - used)
            return DRASYNC_ENOMEM;
    } while (
        !atomic_compare_exchange_weak(&limit->used_bytes, &used, used + bytes));
    if (room_outside(limit, bytes, max))
        return 0;
    limit_release(space, bytes);
    return DRASYNC_ENOMEM;
}

void limit_release(const struct space *space, uint64_t bytes)
{
    atomic_fetch_sub(&shared_of(space)->limit.used_bytes, bytes);
}
