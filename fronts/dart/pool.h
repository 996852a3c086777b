/*
 * pool.h - the buddy system: power-of-two pieces of a pool, as numbers, not
 * memory.  All of the pool can be given out.  One call at a time.
 */
#ifndef DRASYNC_FRONTS_DART_POOL_H
#define DRASYNC_FRONTS_DART_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The smallest piece; also the alignment of all. */
#define POOL_PIECE_BYTES 8

/* The largest pool. */
#define POOL_BYTES_MAX (UINT64_C(1) << 47)

struct pool;

/* A pool of @bytes, a power of two from POOL_PIECE_BYTES on.  NULL: no memory. */
struct pool *pool_new(uint64_t bytes);
void pool_delete(struct pool *pool);

/* False: no piece of @bytes (rounded up to a power of two) is free. */
bool pool_take(struct pool *pool, uint64_t bytes, uint64_t *offset_out);

/* False: no piece that was taken begins there. */
bool pool_give(struct pool *pool, uint64_t offset);

#endif /* DRASYNC_FRONTS_DART_POOL_H */
