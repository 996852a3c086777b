/* Looks into memory/ for its tests: see memory_look.h. */
#include "tests/unit/memory_look.h"

#include <stdatomic.h>
#include <string.h>

#include "memory/control.h"
#include "memory/lock.h"
#include "memory/shared.h"

void pages_get_stats(const struct space *space, struct pages_stats *stats_out)
{
    struct shared *shared = shared_of(space);

    memset(stats_out, 0, sizeof(*stats_out));
    if (lock_take(&shared->runs.lock))
        return;
    stats_out->taken_pages = shared->runs.taken_pages;
    stats_out->taken_runs = shared->runs.taken_runs;
    stats_out->cached_pages = shared->runs.cached_pages;
    lock_give(&shared->runs.lock);
    if (lock_take(&shared->chunks.book.lock))
        return;
    stats_out->chunks = shared->chunks.added_count;
    lock_give(&shared->chunks.book.lock);
}

void control_get_stats(const struct space *space,
                       struct control_stats *stats_out)
{
    struct shared *shared = shared_of(space);
    unsigned i;

    memset(stats_out, 0, sizeof(*stats_out));
    for (i = 0; i < CONTROL_CLASSES; i++) {
        struct control_class *class = &shared->heap.classes[i];

        if (lock_take(&class->lock))
            continue;
        stats_out->objects += class->objects;
        stats_out->object_bytes += class->objects * class->slot_bytes;
        lock_give(&class->lock);
    }
    stats_out->reserved_bytes = atomic_load(&shared->control_reserved_bytes);
}

int control_poisoned(const struct space *space)
{
    return atomic_load(control_poison_flag(space)) != 0;
}

void limit_set(const struct space *space, uint64_t bytes)
{
    atomic_store(&shared_of(space)->limit.limit_bytes, bytes);
}
