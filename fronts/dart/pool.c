/*
 * A tree with a byte for each piece of each size, root first.  Only what is used
 * of it takes memory: a piece that is free as a whole, and all below it, is zero.
 */
#include "fronts/dart/pool.h"

#include <stdlib.h>
#include <sys/mman.h>

struct pool {
    unsigned orders; /* the pool is 1 << (orders - 1) smallest pieces */
    size_t map_bytes;
    /* [1 .. 2^orders) Of a piece of order o (0: the smallest): o + 1 less the
     * order + 1 of the largest free piece in it.  So 0: all free, o + 1: none;
     * and if all below it is 0, then it was taken in one. */
    uint8_t *missing;
};

/* The least order of pieces that hold @bytes. */
static unsigned order_for(uint64_t bytes)
{
    uint64_t pieces = (bytes + POOL_PIECE_BYTES - 1) / POOL_PIECE_BYTES;

    return pieces <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(pieces - 1);
}

struct pool *pool_new(uint64_t bytes)
{
    struct pool *pool = malloc(sizeof(*pool));

    if (!pool)
        return NULL;
    pool->orders = order_for(bytes) + 1;
    pool->map_bytes = (size_t)1 << pool->orders;
    pool->missing = mmap(NULL, pool->map_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->missing == MAP_FAILED) {
        free(pool);
        return NULL;
    }
    return pool;
}

void pool_delete(struct pool *pool)
{
    munmap(pool->missing, pool->map_bytes);
    free(pool);
}

/* Order + 1 of the largest free piece in @node, which is of @order; 0: none. */
static unsigned largest(const struct pool *pool, uint64_t node, unsigned order)
{
    return order + 1 - pool->missing[node];
}

/* @node, of @order, has changed: so do those above it. */
static void tell_above(struct pool *pool, uint64_t node, unsigned order)
{
    while (node > 1) {
        unsigned left = largest(pool, node & ~UINT64_C(1), order);
        unsigned right = largest(pool, node | 1, order);
        unsigned most = left > right ? left : right;

        if (left == order + 1 && right == order + 1)
            most = order + 2;
        node /= 2;
        order++;
        pool->missing[node] = (uint8_t)(order + 1 - most);
    }
}

bool pool_take(struct pool *pool, uint64_t bytes, uint64_t *offset_out)
{
    unsigned order = pool->orders - 1, wanted;
    uint64_t node = 1;

    if (bytes > POOL_BYTES_MAX)
        return false;
    wanted = order_for(bytes);
    if (wanted > order || largest(pool, 1, order) < wanted + 1)
        return false;
    for (; order > wanted; order--) {
        unsigned left = largest(pool, 2 * node, order - 1);
        unsigned right = largest(pool, 2 * node + 1, order - 1);

        /* The smaller that is enough, so that large ones stay. */
        node *= 2;
        if (left < wanted + 1 || (right >= wanted + 1 && right < left))
            node++;
    }
    pool->missing[node] = (uint8_t)(order + 1);
    tell_above(pool, node, order);
    *offset_out = ((node << order) - (UINT64_C(1) << (pool->orders - 1))) *
                  POOL_PIECE_BYTES;
    return true;
}

bool pool_give(struct pool *pool, uint64_t offset)
{
    uint64_t pieces = UINT64_C(1) << (pool->orders - 1);
    uint64_t first = offset / POOL_PIECE_BYTES, node = pieces + first;
    unsigned order = 0;

    if (offset % POOL_PIECE_BYTES || first >= pieces)
        return false;
    /* Up to the piece that was taken: the first that has nothing free. */
    while (node > 1 && largest(pool, node, order)) {
        node /= 2;
        order++;
    }
    if (largest(pool, node, order) || node << order != pieces + first)
        return false;
    pool->missing[node] = 0;
    tell_above(pool, node, order);
    return true;
}
