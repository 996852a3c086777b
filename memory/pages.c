/* Page runs over the buddy allocator, with the frames they keep. */
#include "memory/pages.h"

#include "drasync.h"
#include "memory/dump.h"
#include "memory/extents.h"
#include "memory/frames.h"
#include "memory/limit.h"
#include "memory/shared.h"

#include <string.h>

/* A node's share of the lower half; everything if it is alone. */
static uint64_t lane_pages(const struct space *space)
{
    uint64_t nodes = (uint64_t)shared_of(space)->nodes;

    return nodes == 1 ? space->pages : space->pages / 2 / nodes;
}

int pages_create(const struct space *space)
{
    struct shared *shared = shared_of(space);
    uint64_t length = lane_pages(space);
    uint64_t first = (uint64_t)shared->node * length;
    int err;

    if (length < 2)
        return DRASYNC_EINVAL;
    err = chunk_book_open(space, chunk_book_of(space), shared->node);
    if (err)
        return err;
    err = lock_init(&shared->extents, LOCK_RANK_EXTENTS,
                    control_poison_flag(space));
    if (err)
        return err;
    err = buddy_create(space, &shared->runs, 0, space->pages);
    if (err)
        return err;
    if (!first) { /* page 0 is never given to anybody */
        first++;
        length--;
    }
    return buddy_add(space, &shared->runs, first, length);
}

int pages_take(const struct space *space, uint64_t pages, unsigned flags,
               uint64_t *first_out)
{
    int err = buddy_take(space, &shared_of(space)->runs, pages,
                         flags != PAGES_ADDRESSES, first_out);

    if (!err) {
        dump_cover(space, *first_out, pages);
        frames_catch_up(space);
    }
    return err;
}

int pages_give(const struct space *space, uint64_t first, uint64_t pages,
               unsigned flags)
{
    return buddy_give(space, &shared_of(space)->runs, first, pages,
                      flags != PAGES_ADDRESSES,
                      limit_kept_bytes(space) >> PAGE_SHIFT);
}

int pages_trim(const struct space *space)
{
    int err = buddy_trim(space, &shared_of(space)->runs, 0);

    while (extents_trim(space, true))
        ;
    return err ? err : buddy_trim(space, &shared_of(space)->alternates, 0);
}

uint64_t pages_trim_try(const struct space *space)
{
    return buddy_trim_try(space, &shared_of(space)->runs) +
           buddy_trim_try(space, &shared_of(space)->alternates) +
           extents_trim(space, false);
}

static int overlaps(const struct chunk *chunk, uint64_t first, uint64_t pages)
{
    return first < chunk->first_page + chunk->pages &&
           first + pages > chunk->first_page;
}

int pages_add_chunk(const struct space *space, uint64_t first, uint64_t pages)
{
    struct shared *shared = shared_of(space);
    struct chunks *chunks = &shared->chunks;
    uint64_t i;
    int err;

    if (shared->nodes == 1 || !space_run_valid(space, first, pages) ||
        first < space->pages / 2 || (pages & (pages - 1)) || first % pages)
        return DRASYNC_EINVAL;
    err = lock_take(&chunks->book.lock);
    if (err)
        return err;
    for (i = 0; i < chunks->added_count; i++)
        if (overlaps(&chunks->added[i], first, pages)) {
            err = DRASYNC_EINVAL;
            goto unlock;
        }
    if (chunks->added_count == CHUNKS_ADDED_MAX) {
        err = DRASYNC_ELIMIT;
        goto unlock;
    }
    err = buddy_add(space, &shared->runs, first, pages);
    if (err)
        goto unlock;
    chunks->added[chunks->added_count++] =
        (struct chunk){.first_page = first, .pages = pages};

unlock:
    lock_give(&chunks->book.lock);
    return err;
}

/* Is @page of a chunk that this node has? */
static int in_own_chunk(const struct space *space, uint64_t page)
{
    struct chunks *chunks = &shared_of(space)->chunks;
    int found = 0;

    if (lock_take(&chunks->book.lock))
        return 0;
    for (uint64_t i = 0; i < chunks->added_count && !found; i++)
        found = overlaps(&chunks->added[i], page, 1);
    lock_give(&chunks->book.lock);
    return found;
}

int page_home(const struct space *space, uint64_t page)
{
    const struct shared *shared = shared_of(space);
    uint64_t node;
    int moved;

    if (page >= space->pages)
        return -1;
    if (shared->nodes == 1)
        return 0;
    /* Relaxed: who may have a pointer there was told of it after the move. */
    if (atomic_load_explicit(&shared->chunks.moved.count,
                             memory_order_relaxed)) {
        moved = page_moved_to(space, page);
        if (moved >= 0)
            return moved;
    }
    node = page / lane_pages(space);
    if (page < space->pages / 2)
        return node < (uint64_t)shared->nodes ? (int)node : -1;
    return in_own_chunk(space, page) ? shared->node : -1;
}
