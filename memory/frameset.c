/* Sets of frames, one for each copy of a region: see frameset.h. */
#include "memory/frameset.h"

#include "drasync.h"
#include "memory/control.h"
#include "memory/frames.h"

#include <string.h>

static uint64_t set_bytes(uint64_t runs)
{
    return sizeof(struct frameset) + runs * sizeof(struct frameset_run);
}

static int alloc_set(const struct space *space, uint64_t runs,
                     struct frameset **set_out)
{
    struct frameset *set;
    void *memory;
    int err;

    if (runs > FRAMESET_RUNS_MAX)
        return DRASYNC_ELIMIT;
    err = control_alloc(space, set_bytes(runs), &memory);
    if (err)
        return err;
    set = memory;
    set->runs = 0;
    set->capacity = (control_usable_bytes(space, memory) - sizeof(*set)) /
                    sizeof(struct frameset_run);
    set->bulk_offset = 0;
    set->bulk_pages = 0;
    *set_out = set;
    return 0;
}

static void add_run(struct frameset *set, const struct frameset_extent *extent,
                    uint64_t offset)
{
    uint64_t bytes = space_page_offset(extent->pages);

    set->run[set->runs++] = (struct frameset_run){
        .first_page = extent->first_page,
        .pages = extent->pages,
        .offset = offset,
        .used_bytes = extent->used_bytes && extent->used_bytes < bytes
                          ? extent->used_bytes
                          : bytes,
    };
}

/* Do all extents lie in the space?  Counts their pages. */
static int check_extents(const struct space *space,
                         const struct frameset_extent *extents, uint64_t count,
                         uint64_t *pages_out)
{
    uint64_t i, pages = 0;

    if (count > FRAMESET_RUNS_MAX)
        return DRASYNC_ELIMIT;
    for (i = 0; i < count; i++) {
        if (!space_run_valid(space, extents[i].first_page, extents[i].pages))
            return DRASYNC_EINVAL;
        pages += extents[i].pages;
    }
    *pages_out = pages;
    return 0;
}

int frameset_new_primary(const struct space *space,
                         const struct frameset_extent *extents, uint64_t count,
                         struct frameset **set_out)
{
    struct frameset *set;
    uint64_t i, pages;
    int err;

    err = check_extents(space, extents, count, &pages);
    if (err)
        return err;
    err = alloc_set(space, count, &set);
    if (err)
        return err;
    for (i = 0; i < count; i++)
        add_run(set, &extents[i], space_page_offset(extents[i].first_page));
    *set_out = set;
    return 0;
}

/* Frames for each extent by itself, where there is no room for all in one. */
static int take_each(const struct space *space, struct frameset *set,
                     const struct frameset_extent *extents, uint64_t count)
{
    uint64_t i, offset;
    int err;

    for (i = 0; i < count; i++) {
        err = frames_take(space, extents[i].pages, &offset);
        if (err)
            return err;
        add_run(set, &extents[i], offset);
    }
    return 0;
}

int frameset_new(const struct space *space,
                 const struct frameset_extent *extents, uint64_t count,
                 struct frameset **set_out)
{
    struct frameset *set;
    uint64_t i, pages, offset;
    int err;

    err = check_extents(space, extents, count, &pages);
    if (err)
        return err;
    err = alloc_set(space, count, &set);
    if (err)
        return err;
    if (count > 1) {
        /* One after another, so that neighbours are mapped in one go. */
        err = frames_take(space, pages, &offset);
        if (!err) {
            set->bulk_offset = offset;
            set->bulk_pages = pages;
            for (i = 0; i < count; i++) {
                add_run(set, &extents[i], offset);
                offset += space_page_offset(extents[i].pages);
            }
        }
    }
    if (count == 1 || err == DRASYNC_ENOSPACE)
        err = take_each(space, set, extents, count);
    if (err) {
        frameset_free(space, set);
        return err;
    }
    *set_out = set;
    return 0;
}

int frameset_add_primary(const struct space *space, struct frameset **set,
                         const struct frameset_extent *extent)
{
    struct frameset *grown, *old = *set;
    uint64_t pages, capacity;
    int err;

    err = check_extents(space, extent, 1, &pages);
    if (err)
        return err;
    if (old->runs == old->capacity) {
        err = alloc_set(space, old->runs + 1, &grown);
        if (err)
            return err;
        capacity = grown->capacity;
        memcpy(grown, old, set_bytes(old->runs));
        grown->capacity = capacity;
        control_free(space, old);
        *set = grown;
    }
    add_run(*set, extent, space_page_offset(extent->first_page));
    return 0;
}

static int in_bulk(const struct frameset *set, const struct frameset_run *run)
{
    return run->offset - set->bulk_offset < space_page_offset(set->bulk_pages);
}

int frameset_free(const struct space *space, struct frameset *set)
{
    uint64_t i;
    int err = 0, result;

    if (!set)
        return 0;
    for (i = 0; i < set->runs; i++) {
        if (!frames_alternate(space, set->run[i].offset) ||
            in_bulk(set, &set->run[i]))
            continue;
        result = frames_give(space, set->run[i].offset, set->run[i].pages);
        err = err ? err : result;
    }
    if (set->bulk_pages) {
        result = frames_give(space, set->bulk_offset, set->bulk_pages);
        err = err ? err : result;
    }
    control_free(space, set);
    return err;
}

/* The run of @set for the extent at @first_page; looks first where the one
 * before was found, as sets list their extents in the same order. */
static const struct frameset_run *find_run(const struct frameset *set,
                                           uint64_t first_page, uint64_t *at)
{
    uint64_t tried;

    for (tried = 0; tried < set->runs; tried++) {
        const struct frameset_run *run = &set->run[*at % set->runs];

        (*at)++;
        if (run->first_page == first_page)
            return run;
    }
    return NULL;
}

int frameset_copy(const struct space *space, const struct frameset *to,
                  const struct frameset *from, uint64_t *bytes_out)
{
    uint64_t i, at = 0, total = 0;
    int err;

    for (i = 0; i < from->runs; i++) {
        const struct frameset_run *source = &from->run[i];
        const struct frameset_run *target =
            find_run(to, source->first_page, &at);
        uint64_t bytes = source->used_bytes;

        if (!target || target->offset == source->offset)
            continue;
        if (bytes > space_page_offset(target->pages))
            bytes = space_page_offset(target->pages);
        err = frames_copy(space, target->offset, source->offset, bytes);
        if (err)
            return err;
        total += bytes;
    }
    if (bytes_out)
        *bytes_out = total;
    return 0;
}

int frameset_has_alternate(const struct space *space,
                           const struct frameset *set)
{
    uint64_t i;

    for (i = 0; i < set->runs; i++)
        if (frames_alternate(space, set->run[i].offset))
            return 1;
    return 0;
}
