/* The table of a file: see table.h. */
#include "save/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "save/bytes.h"

static int wrong(char *why, const char *what, uint64_t which)
{
    snprintf(why, SAVE_WHY_BYTES,
             "its table makes no sense: %s (entry %" PRIu64 ")", what, which);
    return DRASYNC_EFORMAT;
}

int table_header(const unsigned char *h, struct save_table *t, char *why)
{
    t->base = get64(h + HEADER_BASE);
    t->space_bytes = get64(h + HEADER_SPACE);
    t->when_ns = get64(h + HEADER_WHEN);
    t->regions = get64(h + HEADER_REGIONS);
    t->extents = get64(h + HEADER_EXTENTS);
    t->names = get64(h + HEADER_NAMES);
    t->data_bytes = get64(h + HEADER_DATA_BYTES);
    memcpy(t->writer, h + HEADER_WRITER, SAVE_WRITER_BYTES);
    if (!t->regions || t->regions > t->extents ||
        t->extents > SAVE_EXTENTS_MAX || t->names > SAVE_NAMES_MAX ||
        t->regions > SAVE_REGIONS_MAX ||
        get64(h + HEADER_TABLE_BYTES) != t->regions * SAVE_REGION_BYTES +
                                             t->extents * SAVE_EXTENT_BYTES +
                                             t->names * SAVE_NAME_BYTES ||
        t->base % SAVE_PAGE_BYTES || t->space_bytes % SAVE_PAGE_BYTES ||
        t->space_bytes > SAVE_SPACE_BYTES_MAX ||
        t->base > UINT64_MAX - t->space_bytes ||
        t->writer[SAVE_WRITER_BYTES - 1]) {
        snprintf(why, SAVE_WHY_BYTES, "its header makes no sense");
        return DRASYNC_EFORMAT;
    }
    return 0;
}

static int region_read(const unsigned char *at, uint64_t i,
                       struct save_region *region, char *why)
{
    region->address = get64(at);
    region->parent = get32(at + 8);
    region->extents = get32(at + 12);
    if (i ? region->parent >= i : region->parent != SAVE_NO_PARENT)
        return wrong(why, "a region comes before its parent", i);
    return region->extents ? 0 : wrong(why, "a region has no extents", i);
}

static int extent_read(const unsigned char *at, uint64_t i,
                       const struct save_table *t, struct save_extent *extent,
                       char *why)
{
    uint64_t from, pages = t->space_bytes / SAVE_PAGE_BYTES;

    extent->address = get64(at);
    extent->pages = get64(at + 8);
    extent->used_bytes = get64(at + 16);
    from = (extent->address - t->base) / SAVE_PAGE_BYTES;
    if (extent->address % SAVE_PAGE_BYTES || extent->address <= t->base ||
        !extent->pages || extent->pages > SAVE_EXTENT_PAGES_MAX ||
        from >= pages || extent->pages > pages - from)
        return wrong(why, "an extent lies outside of the address space", i);
    /* Runs of pages are cut so (memory/buddy.h). */
    if (extent->pages > 1 &&
        from & ((UINT64_C(1) << (64 - __builtin_clzll(extent->pages - 1))) - 1))
        return wrong(why, "an extent begins where none can", i);
    return extent->used_bytes <= extent->pages * SAVE_PAGE_BYTES
               ? 0
               : wrong(why, "more of an extent is used than there is", i);
}

static int name_read(const unsigned char *at, uint64_t i,
                     const struct save_table *t, struct save_name *name,
                     char *why)
{
    uint64_t region = get64(at);
    size_t length;

    memcpy(name->name, at + 8, sizeof(name->name));
    length = strnlen(name->name, sizeof(name->name));
    if (region >= t->regions || !length || length == sizeof(name->name))
        return wrong(why, "a name is not one, or no region's", i);
    name->region = (uint32_t)region;
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct save_extent *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* No two extents have a page in common. */
static int extents_apart(const struct save_table *t, char *why)
{
    struct save_extent *sorted = malloc(t->extents * sizeof(*sorted));
    int err = 0;

    if (!sorted)
        return DRASYNC_ENOMEM;
    memcpy(sorted, t->extent, t->extents * sizeof(*sorted));
    qsort(sorted, t->extents, sizeof(*sorted), by_address);
    for (uint64_t i = 1; i < t->extents && !err; i++)
        if (sorted[i].address - sorted[i - 1].address <
            sorted[i - 1].pages * SAVE_PAGE_BYTES)
            err = wrong(why, "two extents have a page in common", i);
    free(sorted);
    return err;
}

/* Sums, and that each region begins with its first extent. */
static int table_agrees(const struct save_table *t, char *why)
{
    uint64_t at = 0, bytes = 0;

    for (uint64_t i = 0; i < t->regions; i++) {
        if (t->region[i].extents > t->extents - at)
            return wrong(why, "regions have more extents than there are", i);
        if (t->extent[at].address != t->region[i].address)
            return wrong(why, "a region does not begin with an extent", i);
        at += t->region[i].extents;
    }
    for (uint64_t i = 0; i < t->extents; i++)
        bytes += t->extent[i].used_bytes;
    if (at != t->extents || bytes != t->data_bytes)
        return wrong(why, "its sums do not agree", at);
    return extents_apart(t, why);
}

int table_read(const unsigned char *bytes, struct save_table *t, char *why)
{
    int err = 0;

    t->region = malloc(t->regions * sizeof(*t->region));
    t->extent = malloc(t->extents * sizeof(*t->extent));
    t->name = malloc((t->names + 1) * sizeof(*t->name));
    if (!t->region || !t->extent || !t->name)
        err = DRASYNC_ENOMEM;
    for (uint64_t i = 0; i < t->regions && !err; i++)
        err = region_read(bytes + i * SAVE_REGION_BYTES, i, &t->region[i], why);
    bytes += t->regions * SAVE_REGION_BYTES;
    for (uint64_t i = 0; i < t->extents && !err; i++)
        err = extent_read(bytes + i * SAVE_EXTENT_BYTES, i, t, &t->extent[i],
                          why);
    bytes += t->extents * SAVE_EXTENT_BYTES;
    for (uint64_t i = 0; i < t->names && !err; i++)
        err = name_read(bytes + i * SAVE_NAME_BYTES, i, t, &t->name[i], why);
    if (!err)
        err = table_agrees(t, why);
    if (err)
        save_table_free(t);
    return err;
}
