/*
 * Addresses that change hands: see pages.h.
 *
 * A claimed run is a power of two of pages, like all that a buddy allocator
 * gives out.  Where lanes or chunks of several nodes meet inside of it, each
 * node has blocks of it that are a power of two again.
 */
#include "memory/pages.h"

#include "drasync.h"
#include "memory/shared.h"

#include <stdbool.h>
#include <string.h>

/* Entries that one run may add: itself, and the rest of what it cuts in two. */
#define ENTRIES_PER_RUN 2

static struct moved *moved_of(const struct space *space)
{
    return &shared_of(space)->chunks.moved;
}

static struct lock *lock_of(const struct space *space)
{
    return &shared_of(space)->chunks.book.lock;
}

static unsigned order_of(uint64_t pages)
{
    return pages <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(pages - 1);
}

static uint64_t end_of(const struct chunk *entry)
{
    return entry->first_page + entry->pages;
}

/* The first entry that ends behind @page. */
static uint64_t position(const struct moved *m, uint64_t page)
{
    uint64_t low = 0, high = m->count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (end_of(&m->run[middle]) <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int page_moved_to(const struct space *space, uint64_t page)
{
    const struct moved *m = moved_of(space);
    int node = -1;
    uint64_t at;

    if (lock_take(lock_of(space)))
        return -1;
    at = position(m, page);
    if (at < m->count && m->run[at].first_page <= page)
        node = (int)m->run[at].node;
    lock_give(lock_of(space));
    return node;
}

/* --- The table, under the lock -------------------------------------------- */

static int reserve(const struct space *space, struct moved *m, uint64_t more)
{
    uint64_t room = m->room ? m->room : 64;
    void *bigger;
    int err;

    if (m->count + m->reserved + more > MOVED_MAX)
        return DRASYNC_ELIMIT;
    while (room < m->count + m->reserved + more)
        room *= 2;
    if (room > m->room) {
        err = control_alloc(space, room * sizeof(struct chunk), &bigger);
        if (err)
            return err;
        if (m->room) {
            memcpy(bigger, m->run, m->count * sizeof(struct chunk));
            control_free(space, m->run);
        }
        m->run = bigger;
        m->room = room;
    }
    m->reserved += more;
    return 0;
}

/* For so many runs?  What a message says need not be true. */
static bool has_reserved(const struct moved *m, uint64_t runs)
{
    return runs <= m->reserved / ENTRIES_PER_RUN;
}

static void insert(struct moved *m, uint64_t at, struct chunk entry)
{
    memmove(&m->run[at + 1], &m->run[at],
            (m->count - at) * sizeof(struct chunk));
    m->run[at] = entry;
    atomic_store_explicit(&m->count, m->count + 1, memory_order_relaxed);
}

static void drop(struct moved *m, uint64_t at)
{
    atomic_store_explicit(&m->count, m->count - 1, memory_order_relaxed);
    memmove(&m->run[at], &m->run[at + 1],
            (m->count - at) * sizeof(struct chunk));
}

/* Entries lose what they have of [first, end).  Where a new one belongs. */
static uint64_t cut_out(struct moved *m, uint64_t first, uint64_t end)
{
    uint64_t at = position(m, first);

    if (at < m->count && m->run[at].first_page < first) {
        struct chunk rest = m->run[at];

        m->run[at].pages = first - rest.first_page;
        at++;
        if (end_of(&rest) > end) {
            rest.pages = end_of(&rest) - end;
            rest.first_page = end;
            insert(m, at, rest);
        }
    }
    while (at < m->count && end_of(&m->run[at]) <= end)
        drop(m, at);
    if (at < m->count && m->run[at].first_page < end) {
        m->run[at].pages = end_of(&m->run[at]) - end;
        m->run[at].first_page = end;
    }
    return at;
}

static void assign(struct moved *m, uint64_t first, uint64_t pages,
                   uint64_t node)
{
    uint64_t at = cut_out(m, first, first + pages);
    struct chunk entry = {first, pages, node};

    if (at < m->count && m->run[at].first_page == first + pages &&
        m->run[at].node == node) {
        entry.pages += m->run[at].pages;
        drop(m, at);
    }
    if (at && end_of(&m->run[at - 1]) == first && m->run[at - 1].node == node)
        m->run[at - 1].pages += entry.pages;
    else
        insert(m, at, entry);
}

/* --- Whose is it? --------------------------------------------------------- */

/* Do [first, first + pages) lie in one entry, or in none? */
static bool moved_as_one(const struct space *space, uint64_t first,
                         uint64_t pages)
{
    const struct moved *m = moved_of(space);
    bool one = true;
    uint64_t at;

    if (lock_take(lock_of(space)))
        return true;
    at = position(m, first);
    if (at < m->count && m->run[at].first_page < first + pages)
        one = m->run[at].first_page <= first &&
              end_of(&m->run[at]) >= first + pages;
    lock_give(lock_of(space));
    return one;
}

typedef int block_fn(const struct space *space, uint64_t first, uint64_t pages,
                     void *arg);

/*
 * Call @fn for the blocks of [first, first + 2^order) that this node hands out,
 * in order, until it fails.
 */
static int each_block(const struct space *space, uint64_t first, unsigned order,
                      block_fn *fn, void *arg)
{
    uint64_t pages = (uint64_t)1 << order;
    int err, home = page_home(space, first);

    if (moved_as_one(space, first, pages) &&
        page_home(space, first + pages - 1) == home &&
        /* Chunks are aligned as blocks are: both ends in chunks of this node
         * may be two, with others between. */
        (order == 0 || first < space->pages / 2 ||
         page_home(space, first + pages / 2) == home))
        return home == shared_of(space)->node ? fn(space, first, pages, arg)
                                              : 0;
    err = each_block(space, first, order - 1, fn, arg);
    return err ? err : each_block(space, first + pages / 2, order - 1, fn, arg);
}

struct claimed {
    uint64_t pages;
    uint64_t refused; /* a page that is not free; 0: none */
};

static int take_block(const struct space *space, uint64_t first, uint64_t pages,
                      void *arg)
{
    struct claimed *claimed = arg;
    int err = buddy_take_at(space, &shared_of(space)->runs, first, pages);

    if (err)
        claimed->refused = first;
    else
        claimed->pages += pages;
    return err;
}

/* As many pages as were claimed. */
static int give_block(const struct space *space, uint64_t first, uint64_t pages,
                      void *arg)
{
    struct claimed *claimed = arg;

    if (claimed->pages < pages)
        return DRASYNC_EAGAIN;
    claimed->pages -= pages;
    return buddy_give(space, &shared_of(space)->runs, first, pages, 0, 0);
}

static int forget_block(const struct space *space, uint64_t first,
                        uint64_t pages, void *arg)
{
    (void)arg;
    return buddy_forget(space, &shared_of(space)->runs, first, pages);
}

static bool is_run(const struct space *space, const struct pages_run *run)
{
    unsigned order = order_of(run->pages);

    return space_run_valid(space, run->first, run->pages) &&
           order < BUDDY_ORDERS - 1 &&
           !(run->first & (((uint64_t)1 << order) - 1)) &&
           (uint64_t)1 << order <= space->pages - run->first;
}

/* --- Calls ---------------------------------------------------------------- */

uint64_t pages_run_whole(const struct pages_run *run)
{
    return (uint64_t)1 << order_of(run->pages);
}

static int mine_block(const struct space *space, uint64_t first, uint64_t pages,
                      void *arg)
{
    (void)space;
    (void)first;
    *(uint64_t *)arg = pages;
    return DRASYNC_EAGAIN;
}

bool pages_run_here(const struct space *space, const struct pages_run *run)
{
    uint64_t pages = 0;

    if (!is_run(space, run))
        return false;
    each_block(space, run->first, order_of(run->pages), mine_block, &pages);
    return pages == pages_run_whole(run);
}

int pages_take_at(const struct space *space, const struct pages_run *run)
{
    return buddy_take_at(space, &shared_of(space)->runs, run->first,
                         run->pages);
}

void pages_unclaim(const struct space *space, const struct pages_run *runs,
                   uint64_t count, uint64_t pages)
{
    struct claimed claimed = {.pages = pages};

    for (uint64_t i = 0; i < count && claimed.pages; i++)
        if (is_run(space, &runs[i]))
            each_block(space, runs[i].first, order_of(runs[i].pages),
                       give_block, &claimed);
    if (lock_take(lock_of(space)))
        return;
    if (has_reserved(moved_of(space), count))
        moved_of(space)->reserved -= count * ENTRIES_PER_RUN;
    lock_give(lock_of(space));
}

int pages_claim(const struct space *space, const struct pages_run *runs,
                uint64_t count, uint64_t *pages_out, uint64_t *refused_out)
{
    struct claimed claimed = {0};
    int err = lock_take(lock_of(space));

    *refused_out = 0;
    if (err)
        return err;
    err = reserve(space, moved_of(space), count * ENTRIES_PER_RUN);
    lock_give(lock_of(space));
    if (err)
        return err;
    for (uint64_t i = 0; i < count && !err; i++) {
        err = is_run(space, &runs[i]) ? chunks_carve(space, runs[i].first,
                                                     pages_run_whole(&runs[i]))
                                      : DRASYNC_EINVAL;
        if (!err)
            err = each_block(space, runs[i].first, order_of(runs[i].pages),
                             take_block, &claimed);
    }
    if (err) {
        pages_unclaim(space, runs, count, claimed.pages);
        *refused_out = claimed.refused;
        return err;
    }
    *pages_out = claimed.pages;
    return 0;
}

int pages_move(const struct space *space, const struct pages_run *runs,
               uint64_t count, int node)
{
    struct moved *m = moved_of(space);
    int err = 0;

    for (uint64_t i = 0; i < count && !err; i++)
        err = is_run(space, &runs[i])
                  ? each_block(space, runs[i].first, order_of(runs[i].pages),
                               forget_block, NULL)
                  : DRASYNC_EINVAL;
    if (err)
        return err;
    err = lock_take(lock_of(space));
    if (err)
        return err;
    if (!has_reserved(m, count)) {
        lock_give(lock_of(space));
        return DRASYNC_EINVAL;
    }
    m->reserved -= count * ENTRIES_PER_RUN;
    for (uint64_t i = 0; i < count; i++)
        assign(m, runs[i].first, pages_run_whole(&runs[i]), (uint64_t)node);
    lock_give(lock_of(space));
    for (uint64_t i = 0; i < count && !err; i++)
        if (node == shared_of(space)->node)
            err = buddy_enter_taken(space, &shared_of(space)->runs,
                                    runs[i].first, runs[i].pages);
    return err;
}
