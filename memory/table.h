/*
 * table.h - a sparse array in the control part.  Private to memory/.
 *
 * Entries are zero at first.  An entry may be touched once table_reserve() has
 * covered it; a bitmap says which granules are reserved.  Thread-safe.
 */
#ifndef MEMORY_TABLE_H
#define MEMORY_TABLE_H

#include "memory/space.h"

#include <stdint.h>

#define TABLE_GRANULE_BYTES ((uint64_t)65536)

struct table {
    uint64_t offset; /* in the control file, as is the bitmap's */
    uint64_t bitmap_offset;
    uint64_t entry_bytes; /* a divisor of the granule */
    uint64_t entries;
};

/* 0, DRASYNC_EINVAL (outside the table), or DRASYNC_ENOMEM. */
int table_reserve(const struct space *space, const struct table *table,
                  uint64_t first, uint64_t count);

/* May this entry be touched? */
int table_reserved(const struct space *space, const struct table *table,
                   uint64_t index);

/* Bytes of the table and of its bitmap. */
uint64_t table_bytes(const struct table *table);
uint64_t table_bitmap_bytes(const struct table *table);

static inline void *table_at(const struct space *space,
                             const struct table *table, uint64_t index)
{
    return space->control + table->offset + index * table->entry_bytes;
}

#endif
