/* The manager's book of the upper half. */
#include "drasync.h"
#include "memory/pages.h"
#include "memory/shared.h"

#include <string.h>

/* A node's first chunk is at most this part of the upper half. */
#define FIRST_CHUNK_PART 4

/*
 * Take a block of exactly 2^@order pages.  Blocks never come back, so there is
 * at most one free block of each order: halves are left only at orders that had
 * none.
 */
static uint64_t cut(struct chunks *chunks, unsigned order)
{
    unsigned from = order;
    uint64_t first;

    while (from < BUDDY_ORDERS && !chunks->free_first[from])
        from++;
    if (from == BUDDY_ORDERS)
        return 0;
    first = chunks->free_first[from];
    chunks->free_first[from] = 0;
    while (from-- > order)
        chunks->free_first[from] = first + ((uint64_t)1 << from);
    return first;
}

static unsigned order_for(uint64_t pages)
{
    return pages <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(pages - 1);
}

/* What the node has got so far decides what it gets next. */
static unsigned wanted_order(const struct space *space,
                             const struct chunks *chunks, int node)
{
    uint64_t nodes = (uint64_t)shared_of(space)->nodes, had = 0, i;
    uint64_t first = space->pages / 2 / nodes / FIRST_CHUNK_PART;

    for (i = 0; i < chunks->count; i++)
        if (chunks->granted[i].node == (uint64_t)node)
            had += chunks->granted[i].pages;
    return order_for(had > first ? had : first);
}

/* Where in the book a chunk with this first page belongs. */
static uint64_t position(const struct chunks *chunks, uint64_t page)
{
    uint64_t low = 0, high = chunks->count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (chunks->granted[middle].first_page <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void enter(struct chunks *chunks, struct chunk chunk)
{
    uint64_t at = position(chunks, chunk.first_page);

    memmove(&chunks->granted[at + 1], &chunks->granted[at],
            (chunks->count - at) * sizeof(chunk));
    chunks->granted[at] = chunk;
    chunks->count++;
}

static int grant(const struct space *space, struct chunks *chunks, int node,
                 uint64_t pages, struct chunk *chunk_out)
{
    unsigned least = order_for(pages), order;
    uint64_t first = 0;
    void *book;
    int err;

    if (!chunks->granted) {
        err = control_alloc(space, CHUNKS_MAX * sizeof(struct chunk), &book);
        if (err)
            return err;
        chunks->granted = book;
    }
    if (chunks->count == CHUNKS_MAX)
        return DRASYNC_ELIMIT;
    order = wanted_order(space, chunks, node);
    if (order < least)
        order = least;
    for (;; order--) {
        first = cut(chunks, order);
        if (first || order == least)
            break;
    }
    if (!first)
        return DRASYNC_ENOSPACE;
    *chunk_out = (struct chunk){.first_page = first,
                                .pages = (uint64_t)1 << order,
                                .node = (uint64_t)node};
    enter(chunks, *chunk_out);
    return 0;
}

int chunks_grant(const struct space *space, int node, uint64_t pages,
                 uint64_t *first_out, uint64_t *pages_out)
{
    struct shared *shared = shared_of(space);
    struct chunk chunk;
    int err;

    if (node < 0 || node >= shared->nodes || !pages)
        return DRASYNC_EINVAL;
    if (pages > space->pages / 2)
        return DRASYNC_ENOSPACE;
    err = lock_take(&shared->chunks.lock);
    if (err)
        return err;
    err = grant(space, &shared->chunks, node, pages, &chunk);
    lock_give(&shared->chunks.lock);
    if (err)
        return err;
    *first_out = chunk.first_page;
    *pages_out = chunk.pages;
    return 0;
}

int chunks_home(const struct space *space, uint64_t page)
{
    struct chunks *chunks = &shared_of(space)->chunks;
    int node = page_home(space, page);
    uint64_t at;

    if (node >= 0 || page >= space->pages || lock_take(&chunks->lock))
        return node;
    at = position(chunks, page);
    if (at) {
        const struct chunk *chunk = &chunks->granted[at - 1];

        if (page - chunk->first_page < chunk->pages)
            node = (int)chunk->node;
    }
    lock_give(&chunks->lock);
    return node;
}
