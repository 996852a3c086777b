/* Tables of control memory that get frames where they are used: see table.h. */
#include "memory/table.h"

#include "drasync.h"
#include "memory/limit.h"
#include "memory/shared.h"

#include <stdatomic.h>

static _Atomic uint64_t *bitmap_of(const struct space *space,
                                   const struct table *table)
{
    return (_Atomic uint64_t *)(void *)(space->control + table->bitmap_offset);
}

uint64_t table_bytes(const struct table *table)
{
    uint64_t bytes = table->entries * table->entry_bytes;

    return (bytes + TABLE_GRANULE_BYTES - 1) / TABLE_GRANULE_BYTES *
           TABLE_GRANULE_BYTES;
}

uint64_t table_bitmap_bytes(const struct table *table)
{
    uint64_t granules = table_bytes(table) / TABLE_GRANULE_BYTES;

    return (granules + 63) / 64 * 8;
}

static uint64_t granule_of(const struct table *table, uint64_t index)
{
    return index * table->entry_bytes / TABLE_GRANULE_BYTES;
}

static int granule_reserved(const _Atomic uint64_t *bitmap, uint64_t granule)
{
    uint64_t word =
        atomic_load_explicit(&bitmap[granule / 64], memory_order_acquire);

    return (int)(word >> (granule % 64) & 1);
}

/* Reserve granules [first, end), of which this caller found none reserved. */
static int reserve_run(const struct space *space, const struct table *table,
                       uint64_t first, uint64_t end)
{
    _Atomic uint64_t *bitmap = bitmap_of(space, table);
    uint64_t granule;
    int err;

    err = shared_reserve(space, table->offset + first * TABLE_GRANULE_BYTES,
                         (end - first) * TABLE_GRANULE_BYTES);
    if (err)
        return err;
    for (granule = first; granule < end; granule++) {
        uint64_t bit = (uint64_t)1 << (granule % 64);

        /* Somebody else reserved, and paid for, the same granule just now. */
        if (atomic_fetch_or(&bitmap[granule / 64], bit) & bit)
            limit_release(space, TABLE_GRANULE_BYTES);
    }
    return 0;
}

int table_reserve(const struct space *space, const struct table *table,
                  uint64_t first, uint64_t count)
{
    const _Atomic uint64_t *bitmap = bitmap_of(space, table);
    uint64_t granule, last, run;
    int err;

    if (!count)
        return 0;
    if (first >= table->entries || count > table->entries - first)
        return DRASYNC_EINVAL;
    last = granule_of(table, first + count - 1);
    for (granule = granule_of(table, first); granule <= last; granule = run) {
        run = granule + 1;
        if (granule_reserved(bitmap, granule))
            continue;
        while (run <= last && !granule_reserved(bitmap, run))
            run++;
        err = reserve_run(space, table, granule, run);
        if (err)
            return err;
    }
    return 0;
}

int table_reserved(const struct space *space, const struct table *table,
                   uint64_t index)
{
    return index < table->entries &&
           granule_reserved(bitmap_of(space, table), granule_of(table, index));
}
