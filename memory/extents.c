/* Extents and the page map: see extents.h. */
#include "memory/extents.h"

#include "drasync.h"
#include "memory/dump.h"
#include "memory/frames.h"
#include "memory/limit.h"
#include "memory/pages.h"
#include "memory/shared.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

typedef _Atomic(struct extent *) map_entry;

static uint64_t get(const _Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_acquire);
}

/* Set the map entries of a run, or with @extent NULL clear them. */
static void set_entries(const struct space *space, uint64_t first,
                        uint64_t pages, struct extent *extent)
{
    map_entry *map = space->page_map;
    uint64_t page;

    for (page = first; page < first + pages; page++)
        atomic_store_explicit(&map[page], extent, memory_order_release);
}

static void *owner_of(const struct extent *extent)
{
    return atomic_load_explicit(&extent->owner, memory_order_relaxed);
}

/* --- Forgotten extents that keep their frames; all under the lock ---------- */

enum { USER_KEPT }; /* of user[]: it is one */

static struct extent *before(const struct extent *extent)
{
    return (struct extent *)(uintptr_t)extent->frames;
}

static void keep(struct kept *kept, struct extent *extent)
{
    extent->user[USER_KEPT] = 1;
    extent->next = NULL;
    extent->frames = (uint64_t)(uintptr_t)kept->newest;
    *(kept->newest ? &kept->newest->next : &kept->oldest) = extent;
    kept->newest = extent;
    atomic_fetch_add_explicit(&kept->pages, get(&extent->pages),
                              memory_order_relaxed);
}

static void unkeep(struct kept *kept, struct extent *extent)
{
    struct extent *last = before(extent), *next = extent->next;

    *(last ? &last->next : &kept->oldest) = next;
    if (next)
        next->frames = extent->frames;
    else
        kept->newest = last;
    atomic_fetch_sub_explicit(&kept->pages, get(&extent->pages),
                              memory_order_relaxed);
    extent->user[USER_KEPT] = 0;
}

static bool is_kept(const struct extent *extent)
{
    return !owner_of(extent) && extent->user[USER_KEPT];
}

/* Its frames go. */
static void strip(const struct space *space, struct extent *extent)
{
    unkeep(&shared_of(space)->kept, extent);
    frames_unreserve(space, space_page_offset(get(&extent->first_page)),
                     space_page_offset(get(&extent->pages)));
}

/* Take @extent out of the map. */
static void clear(const struct space *space, struct extent *extent)
{
    if (is_kept(extent))
        strip(space, extent);
    set_entries(space, get(&extent->first_page), get(&extent->pages), NULL);
    control_free(space, extent);
}

/* Give frames of the oldest back until @pages_max are left; stop once
 * EXTENT_KEPT_PAGES_MAX pages or more have gone.  @records: those too, which
 * make_room() does else. */
static uint64_t trim(const struct space *space, uint64_t pages_max,
                     bool records)
{
    struct kept *kept = &shared_of(space)->kept;
    uint64_t pages = kept->pages;

    while (kept->pages > pages_max &&
           pages - kept->pages < EXTENT_KEPT_PAGES_MAX)
        if (records)
            clear(space, kept->oldest);
        else
            strip(space, kept->oldest);
    return pages - kept->pages;
}

uint64_t extents_trim(const struct space *space, bool wait)
{
    struct shared *shared = shared_of(space);
    uint64_t pages;

    if (wait ? lock_take(&shared->extents) : lock_try(&shared->extents))
        return 0;
    /* Who may not wait may have a lock of the control heap, where records are. */
    pages = trim(space, 0, wait);
    lock_give(&shared->extents);
    return pages;
}

/*
 * Clear a run of deleted extents.  DRASYNC_EEXIST if another has a page of it.
 * Called under the lock, with the entries reserved.
 */
static int make_room(const struct space *space, uint64_t first, uint64_t pages)
{
    map_entry *map = space->page_map;
    struct extent *extent;
    uint64_t page;

    for (page = first; page < first + pages; page++) {
        extent = atomic_load_explicit(&map[page], memory_order_relaxed);
        if (extent && owner_of(extent))
            return DRASYNC_EEXIST;
    }
    for (page = first; page < first + pages; page++) {
        extent = atomic_load_explicit(&map[page], memory_order_relaxed);
        if (extent)
            clear(space, extent);
    }
    return 0;
}

/* The deleted extent that is just this run, or NULL.  Under the lock. */
static struct extent *spare(const struct space *space, uint64_t first,
                            uint64_t pages)
{
    map_entry *map = space->page_map;
    struct extent *extent =
        atomic_load_explicit(&map[first], memory_order_relaxed);

    return extent && !owner_of(extent) && get(&extent->first_page) == first &&
                   get(&extent->pages) == pages
               ? extent
               : NULL;
}

static void fill(struct shared *shared, struct extent *extent, uint64_t first,
                 uint64_t pages, void *owner, uint64_t incarnation)
{
    uint64_t stamp = atomic_fetch_add(&shared->extent_stamp, 1) + 1;

    /* Release, so that who sees one of the new fields sees that the old stamp
     * is gone. */
    atomic_store_explicit(&extent->stamp, 0, memory_order_relaxed);
    atomic_store_explicit(&extent->owner, owner, memory_order_release);
    atomic_store_explicit(&extent->first_page, first, memory_order_release);
    atomic_store_explicit(&extent->pages, pages, memory_order_release);
    atomic_store_explicit(&extent->incarnation, incarnation,
                          memory_order_release);
    extent->next = NULL;
    extent->frames = 0;
    memset(extent->user, 0, sizeof(extent->user));
    atomic_store_explicit(&extent->stamp, stamp, memory_order_release);
}

/* Enter a run, with the map's entries reserved. */
static int enter(const struct space *space, uint64_t first, uint64_t pages,
                 void *owner, uint64_t incarnation, struct extent **extent_out)
{
    struct shared *shared = shared_of(space);
    void *memory;
    int err = control_alloc(space, sizeof(struct extent), &memory);

    if (err)
        return err;
    err = lock_take(&shared->extents);
    if (err)
        goto free_extent;
    err = make_room(space, first, pages);
    if (err) {
        lock_give(&shared->extents);
        goto free_extent;
    }
    fill(shared, memory, first, pages, owner, incarnation);
    set_entries(space, first, pages, memory);
    lock_give(&shared->extents);
    *extent_out = memory;
    return 0;

free_extent:
    control_free(space, memory);
    return err;
}

/* extent_insert(); *kept_out: the frames are there, and the caller's. */
static int insert(const struct space *space, uint64_t first, uint64_t pages,
                  void *owner, uint64_t incarnation, struct extent **extent_out,
                  bool *kept_out)
{
    struct shared *shared = shared_of(space);
    struct extent *extent = NULL;
    int err;

    if (!owner || pages > EXTENT_PAGES_MAX ||
        !space_run_valid(space, first, pages))
        return DRASYNC_EINVAL;
    err = table_reserve(space, &shared->layout.page_map, first, pages);
    if (err)
        return err;
    *kept_out = false;
    if (pages >= EXTENT_SPARE_PAGES_MIN || shared->kept.pages) {
        err = lock_take(&shared->extents);
        if (err)
            return err;
        extent = spare(space, first, pages);
        if (extent) {
            *kept_out = is_kept(extent);
            if (*kept_out)
                unkeep(&shared->kept, extent);
            fill(shared, extent, first, pages, owner, incarnation);
        }
        lock_give(&shared->extents);
    }
    if (!extent)
        return enter(space, first, pages, owner, incarnation, extent_out);
    *extent_out = extent;
    return 0;
}

int extent_insert(const struct space *space, uint64_t first, uint64_t pages,
                  void *owner, uint64_t incarnation, struct extent **extent_out)
{
    bool kept;
    int err =
        insert(space, first, pages, owner, incarnation, extent_out, &kept);

    /* An address that was another node's, and is ours now. */
    if (!err && kept)
        frames_unreserve(space, space_page_offset(first),
                         space_page_offset(pages));
    return err;
}

/* It is an extent no more. */
enum leaving { LEAVE_MAP, STAY_ENTERED, STAY_WITH_FRAMES };

static int leave(const struct space *space, struct extent *extent,
                 enum leaving how)
{
    struct shared *shared = shared_of(space);
    uint64_t first = get(&extent->first_page);
    int err = lock_take(&shared->extents);

    if (err)
        return err;
    assert(extent_of(space, space_address(space, first)) == extent);
    (void)first;
    extent->user[USER_KEPT] = 0;
    atomic_store_explicit(&extent->stamp, 0, memory_order_relaxed);
    atomic_store_explicit(&extent->owner, NULL, memory_order_release);
    if (how == LEAVE_MAP) {
        clear(space, extent);
    } else if (how == STAY_WITH_FRAMES) {
        keep(&shared->kept, extent);
        trim(space, limit_kept_bytes(space) / 2 >> PAGE_SHIFT, true);
    }
    lock_give(&shared->extents);
    return 0;
}

int extent_remove(const struct space *space, struct extent *extent)
{
    return leave(space, extent, LEAVE_MAP);
}

int extent_new(const struct space *space, uint64_t pages, void *owner,
               uint64_t incarnation, struct extent **extent_out)
{
    uint64_t first;
    int err;

    if (pages > EXTENT_PAGES_MAX)
        return DRASYNC_ENOSPACE;
    err = pages_take(space, pages, PAGES_FRAMES, &first);
    if (err)
        return err;
    err = extent_insert(space, first, pages, owner, incarnation, extent_out);
    if (err)
        pages_give(space, first, pages, PAGES_FRAMES);
    return err;
}

int extent_park(const struct space *space, struct extent *extent)
{
    return leave(space, extent,
                 get(&extent->pages) >= EXTENT_SPARE_PAGES_MIN ? STAY_ENTERED
                                                               : LEAVE_MAP);
}

int extent_delete(const struct space *space, struct extent *extent)
{
    uint64_t first = get(&extent->first_page), pages = get(&extent->pages);
    int err = extent_park(space, extent);

    return err ? err : pages_give(space, first, pages, PAGES_FRAMES);
}

void extent_prefetch(const struct space *space, uint64_t first)
{
    const map_entry *map = space->page_map;

    __builtin_prefetch(&map[first], 1);
    __builtin_prefetch(
        table_at(space, &shared_of(space)->layout.records, first), 1);
}

int extent_adopt(const struct space *space, uint64_t first, uint64_t pages,
                 void *owner, uint64_t incarnation, struct extent **extent_out)
{
    bool kept;
    int err =
        insert(space, first, pages, owner, incarnation, extent_out, &kept);

    if (err || kept)
        return err;
    err = frames_reserve(space, space_page_offset(first),
                         space_page_offset(pages));
    if (err)
        extent_remove(space, *extent_out);
    else
        dump_cover(space, first, pages);
    return err;
}

int extent_forget(const struct space *space, struct extent *extent)
{
    uint64_t first = get(&extent->first_page), pages = get(&extent->pages);
    int err;

    if (pages <= EXTENT_KEPT_PAGES_MAX)
        return leave(space, extent, STAY_WITH_FRAMES);
    err = extent_remove(space, extent);
    return err ? err
               : frames_unreserve(space, space_page_offset(first),
                                  space_page_offset(pages));
}

int extent_find(const struct space *space, const void *ptr,
                struct extent_copy *copy_out)
{
    struct extent *extent;

    /*
     * The descriptor's memory stays an object of the control heap for ever, so
     * reading it is safe.  If its stamp is the same afterwards, and the map
     * still leads to it, what was read in between was one extent, entered.
     */
    while ((extent = extent_of(space, ptr))) {
        uint64_t stamp = get(&extent->stamp);

        copy_out->extent = extent;
        copy_out->owner =
            atomic_load_explicit(&extent->owner, memory_order_acquire);
        copy_out->first_page = get(&extent->first_page);
        copy_out->pages = get(&extent->pages);
        copy_out->incarnation = get(&extent->incarnation);
        if (stamp && stamp == get(&extent->stamp) &&
            extent == extent_of(space, ptr))
            return 0;
    }
    return DRASYNC_ENOREGION;
}
