/*
 * later_pages.h - for later.c: what each page of a version of a region is to be,
 * by what was announced and came.
 */
#ifndef TESTS_FUZZ_LATER_PAGES_H
#define TESTS_FUZZ_LATER_PAGES_H

#include "tests/fuzz/native_node.h"

enum { FIRST = 10, VERSIONS = 8, EXTENTS = 3 };

/* What the pages of a version are. */
enum { UNKNOWN, CAME, BASE_PAGE };
#define PAGES_MAX 8

struct version {
    bool known, other; /* announced; and again, otherwise */
    uint64_t used[EXTENTS];
    uint8_t page[EXTENTS][PAGES_MAX];
};

static const uint64_t extent_pages[EXTENTS] = {1, 8, 4};
static const uint64_t extent_used[EXTENTS] = {PAGE_BYTES, 7 * PAGE_BYTES - 100,
                                              3 * PAGE_BYTES - 4000};

struct region {
    uint64_t first_page, address;
    struct version version[VERSIONS];
    struct native_wait wait;
};

static struct version *version_of(struct region *r, uint64_t version)
{
    return version - FIRST < VERSIONS ? &r->version[version - FIRST] : NULL;
}

/* As far as both use it a page is as in @base. */
static void as_base(struct version *v, const struct version *base)
{
    for (int e = 0; e < EXTENTS; e++)
        for (uint64_t p = 0; p < PAGES_MAX; p++) {
            bool cut = base->used[e] < (p + 1) << PAGE_SHIFT &&
                       base->used[e] < v->used[e];

            v->page[e][p] = base->known && !base->other && !cut
                                ? base->page[e][p]
                                : UNKNOWN;
        }
}

/* Of a message that nobody asked for the runs may be anything. */
static void runs_came(struct version *v, const struct delta_run *run,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint64_t p = run[i].page; p < run[i].page + run[i].pages; p++)
            if (run[i].extent < EXTENTS && p < PAGES_MAX)
                v->page[run[i].extent][p] = CAME;
}

static uint8_t base_byte(int extent, uint64_t page)
{
    return (uint8_t)(0x40 + (uint64_t)extent * PAGES_MAX + page);
}

static unsigned char *page_at(const struct native_frames *frames, int extent,
                              uint64_t page)
{
    return space_window(&runtime.space,
                        frames->set->run[extent].offset + (page << PAGE_SHIFT),
                        PAGE_BYTES);
}

static void check_page(const struct native_frames *frames,
                       const struct version *v, int e, uint64_t page)
{
    uint64_t at = page << PAGE_SHIFT, bytes = v->used[e] - at;
    const unsigned char *is = page_at(frames, e, page);
    uint8_t byte = v->page[e][page] == CAME ? 1 : base_byte(e, page);

    if (v->page[e][page] == UNKNOWN)
        return;
    if (bytes > PAGE_BYTES)
        bytes = PAGE_BYTES;
    FUZZ_HOLDS(is[0] == byte && !memcmp(is, is + 1, bytes - 1));
}

static void check_copy(const struct proto_copy *copy, struct region *r)
{
    const struct version *v = version_of(r, copy->version);
    const struct native_frames *frames = copy->frames;

    if (copy->arriving || copy->taken || !frames || !v || !v->known || v->other)
        return;
    for (int e = 0; e < EXTENTS && (uint64_t)e < frames->set->runs; e++)
        for (uint64_t p = 0; p << PAGE_SHIFT < v->used[e]; p++)
            check_page(frames, v, e, p);
}

#endif
