/* The upper half: districts, and the managers' books. */
#include "drasync.h"
#include "memory/pages.h"
#include "memory/shared.h"

#include <string.h>

/* A node's first chunk is at most this part of the upper half. */
#define FIRST_CHUNK_PART 4

/* So many nodes at least have a manager. */
#define DISTRICT_NODES 4

/* The upper half: `count` districts, one behind the other, then the rest. */
struct districts {
    uint64_t count; /* a power of two; 1: there are none, all is rest */
    uint64_t first, pages;
    uint64_t rest_first, rest;
};

static struct districts districts_of(const struct space *space)
{
    uint64_t groups = (uint64_t)shared_of(space)->nodes / DISTRICT_NODES;
    uint64_t half = space->pages / 2;
    uint64_t pool = half & -half; /* what has an order */
    struct districts in = {1, half, 0, half, pool};

    if (groups < 2 || pool / 2 < groups)
        return in;
    in.count = (uint64_t)1 << (63 - __builtin_clzll(groups));
    in.pages = pool / 2 / in.count;
    in.rest_first = half + pool / 2;
    in.rest = pool / 2;
    return in;
}

/* District d is managed by node d * nodes / count, and is of those from there
 * up to the next manager. */
static uint64_t district_of(const struct districts *in, uint64_t nodes,
                            uint64_t node)
{
    return ((node + 1) * in->count - 1) / nodes;
}

/*
 * Take a block of exactly 2^@order pages.  Blocks never come back, so there is
 * at most one free block of each order: halves are left only at orders that had
 * none.
 */
static uint64_t cut(struct chunk_book *book, unsigned order)
{
    unsigned from = order;
    uint64_t first;

    while (from < BUDDY_ORDERS && !book->free_first[from])
        from++;
    if (from == BUDDY_ORDERS)
        return 0;
    first = book->free_first[from];
    book->free_first[from] = 0;
    while (from-- > order)
        book->free_first[from] = first + ((uint64_t)1 << from);
    return first;
}

static unsigned order_for(uint64_t pages)
{
    return pages <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(pages - 1);
}

/* Where in the book a chunk with this first page belongs. */
static uint64_t position(const struct chunk_book *book, uint64_t page)
{
    uint64_t low = 0, high = book->count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (book->granted[middle].first_page <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void enter(struct chunk_book *book, struct chunk chunk)
{
    uint64_t at = position(book, chunk.first_page);

    memmove(&book->granted[at + 1], &book->granted[at],
            (book->count - at) * sizeof(chunk));
    book->granted[at] = chunk;
    book->count++;
}

/* Room for @more; 0 or an error. */
static int book_grow(const struct space *space, struct chunk_book *book,
                     uint64_t more)
{
    uint64_t room = book->room ? book->room * 2 : 64;
    void *bigger;
    int err;

    if (book->count + more <= book->room)
        return 0;
    if (book->count + more > CHUNKS_MAX)
        return DRASYNC_ELIMIT;
    err = control_alloc(space, room * sizeof(struct chunk), &bigger);
    if (err)
        return err;
    if (book->room) {
        memcpy(bigger, book->granted, book->count * sizeof(struct chunk));
        control_free(space, book->granted);
    }
    book->granted = bigger;
    book->room = room;
    return 0;
}

static int grant(const struct space *space, struct chunk_book *book, int node,
                 uint64_t pages, uint64_t wanted, struct chunk *chunk_out)
{
    unsigned least = order_for(pages), order = order_for(wanted);
    uint64_t first = 0;
    int err = book_grow(space, book, 1);

    if (err)
        return err;
    if (order < least)
        order = least;
    for (;; order--) {
        first = cut(book, order);
        if (first || order == least)
            break;
    }
    if (!first)
        return DRASYNC_ENOSPACE;
    *chunk_out = (struct chunk){.first_page = first,
                                .pages = (uint64_t)1 << order,
                                .node = (uint64_t)node};
    enter(book, *chunk_out);
    return 0;
}

int chunks_grant(const struct space *space, struct chunk_book *book, int node,
                 uint64_t pages, uint64_t wanted, uint64_t *first_out,
                 uint64_t *pages_out)
{
    struct chunk chunk;
    int err;

    if (node < 0 || node >= shared_of(space)->nodes || !pages)
        return DRASYNC_EINVAL;
    if (pages > space->pages / 2)
        return DRASYNC_ENOSPACE;
    if (wanted > space->pages / 2)
        wanted = pages;
    err = lock_take(&book->lock);
    if (err)
        return err;
    err = grant(space, book, node, pages, wanted, &chunk);
    lock_give(&book->lock);
    if (err)
        return err;
    *first_out = chunk.first_page;
    *pages_out = chunk.pages;
    return 0;
}

/* The order of the free block that has [first, first + pages); BUDDY_ORDERS: none
 * has. */
static unsigned free_around(const struct chunk_book *book, uint64_t first,
                            uint64_t pages)
{
    unsigned order = 0;

    while (order < BUDDY_ORDERS &&
           !(book->free_first[order] && first >= book->free_first[order] &&
             first + pages <= book->free_first[order] + ((uint64_t)1 << order)))
        order++;
    return order;
}

/*
 * Grant @node the block of @order that has @first, out of the free one of order
 * @from.  Halves that are left over stay free, or where there is one of their
 * order already, are granted too.  How many chunks are in @granted.
 */
static int carve(struct chunk_book *book, int node, uint64_t first,
                 unsigned order, unsigned from,
                 struct chunk granted[BUDDY_ORDERS])
{
    int count = 0;

    book->free_first[from] = 0;
    granted[count++] = (struct chunk){
        .first_page = first & ~(((uint64_t)1 << order) - 1),
        .pages = (uint64_t)1 << order,
        .node = (uint64_t)node,
    };
    for (; order < from; order++) {
        uint64_t pages = (uint64_t)1 << order;
        uint64_t other = (first & ~(pages - 1)) ^ pages;

        if (!book->free_first[order])
            book->free_first[order] = other;
        else
            granted[count++] = (struct chunk){other, pages, (uint64_t)node};
    }
    for (int i = 0; i < count; i++)
        enter(book, granted[i]);
    return count;
}

int chunks_carve(const struct space *space, uint64_t first, uint64_t pages)
{
    struct chunk_book *book = chunk_book_of(space);
    unsigned order = order_for(pages), from,
             usual = order_for(chunks_wanted(space, 0));
    struct chunk granted[BUDDY_ORDERS];
    int node = shared_of(space)->node, count = 0, err;

    if (first < space->pages / 2 || chunks_manager(space, first) != node)
        return 0;
    err = lock_take(&book->lock);
    if (err)
        return err;
    from = free_around(book, first, pages);
    if (from < BUDDY_ORDERS)
        err = book_grow(space, book, BUDDY_ORDERS);
    if (from < BUDDY_ORDERS && !err)
        count = carve(book, node, first,
                      usual < order  ? order
                      : usual < from ? usual
                                     : from,
                      from, granted);
    lock_give(&book->lock);
    for (int i = 0; i < count && !err; i++)
        err = pages_add_chunk(space, granted[i].first_page, granted[i].pages);
    return err;
}

int chunks_home(const struct space *space, struct chunk_book *book,
                uint64_t page)
{
    int node = page_home(space, page);
    uint64_t at;

    if (node >= 0 || page >= space->pages || lock_take(&book->lock))
        return node;
    at = position(book, page);
    if (at) {
        const struct chunk *chunk = &book->granted[at - 1];

        if (page - chunk->first_page < chunk->pages)
            node = (int)chunk->node;
    }
    lock_give(&book->lock);
    return node;
}

uint64_t chunks_wanted(const struct space *space, uint64_t had)
{
    uint64_t nodes = (uint64_t)shared_of(space)->nodes;
    uint64_t first = space->pages / 2 / nodes / FIRST_CHUNK_PART;

    return had > first ? had : first;
}

uint64_t chunks_had(const struct space *space)
{
    struct chunks *chunks = &shared_of(space)->chunks;
    uint64_t had = 0;

    if (lock_take(&chunks->book.lock))
        return 0;
    for (uint64_t i = 0; i < chunks->added_count; i++)
        had += chunks->added[i].pages;
    lock_give(&chunks->book.lock);
    return had;
}

size_t chunk_book_bytes(void)
{
    return sizeof(struct chunk_book);
}

struct chunk_book *chunk_book_of(const struct space *space)
{
    return &shared_of(space)->chunks.book;
}

int chunk_book_open(const struct space *space, struct chunk_book *book,
                    int node)
{
    struct districts in = districts_of(space);
    uint64_t nodes = (uint64_t)shared_of(space)->nodes, d;
    int err =
        lock_init(&book->lock, LOCK_RANK_CHUNKS, control_poison_flag(space));

    if (err || nodes == 1)
        return err;
    if (in.count > 1) {
        d = district_of(&in, nodes, (uint64_t)node);
        if (d * nodes / in.count == (uint64_t)node)
            book->free_first[order_for(in.pages)] = in.first + d * in.pages;
    }
    if (node == 0)
        book->free_first[order_for(in.rest)] = in.rest_first;
    return 0;
}

int chunks_manager_of(const struct space *space, int node)
{
    struct districts in = districts_of(space);
    uint64_t nodes = (uint64_t)shared_of(space)->nodes;

    if (in.count == 1)
        return 0;
    return (int)(district_of(&in, nodes, (uint64_t)node) * nodes / in.count);
}

int chunks_manager(const struct space *space, uint64_t page)
{
    struct districts in = districts_of(space);
    uint64_t nodes = (uint64_t)shared_of(space)->nodes;

    if (page < in.first || page >= space->pages)
        return -1;
    if (in.count == 1 || page >= in.rest_first)
        return 0;
    return (int)((page - in.first) / in.pages * nodes / in.count);
}
