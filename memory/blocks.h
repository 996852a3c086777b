/*
 * blocks.h - copying blocks of equal length, each at a distance from the one
 * before.
 */
#ifndef DRASYNC_MEMORY_BLOCKS_H
#define DRASYNC_MEMORY_BLOCKS_H

#include <stddef.h>
#include <string.h>

static inline __attribute__((always_inline)) void
blocks_copy_each(char *to, size_t to_step, const char *from, size_t from_step,
                 size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++)
        memmove(to + i * to_step, from + i * from_step, bytes);
}

/* @count blocks of @bytes; with the size a constant where it is a usual one. */
static inline void blocks_copy(char *to, size_t to_step, const char *from,
                               size_t from_step, size_t count, size_t bytes)
{
    switch (bytes) {
    case 1:
        blocks_copy_each(to, to_step, from, from_step, count, 1);
        break;
    case 4:
        blocks_copy_each(to, to_step, from, from_step, count, 4);
        break;
    case 8:
        blocks_copy_each(to, to_step, from, from_step, count, 8);
        break;
    case 16:
        blocks_copy_each(to, to_step, from, from_step, count, 16);
        break;
    case 64:
        blocks_copy_each(to, to_step, from, from_step, count, 64);
        break;
    default:
        blocks_copy_each(to, to_step, from, from_step, count, bytes);
    }
}

#endif /* DRASYNC_MEMORY_BLOCKS_H */
