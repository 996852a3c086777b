/* memory_magazines.h - a region with magazines, for memory_magazines.c. */
#ifndef TESTS_UNIT_MEMORY_MAGAZINES_H
#define TESTS_UNIT_MEMORY_MAGAZINES_H

#include "memory_common.h"

#include "memory/extents.h"
#include "memory/heap.h"
#include "memory/heap_magazine.h"

#define WINDOWS 3
#define OBJECTS 4000

/* A region, its magazines, and who has which object. */
struct region {
    struct heap_context context;
    struct heap *heap;
    uint64_t pages_left;
    struct heap_magazine magazine[WINDOWS];
    struct heap_magazine_free free[WINDOWS][HEAP_MAGAZINE_CLASSES];
    struct heap_parts parts[WINDOWS];
};

static int more(void *arg, uint64_t pages_min, uint64_t pages_wanted,
                struct heap_extent *extent_out)
{
    struct region *region = arg;
    struct extent *extent;

    (void)pages_min;
    if (pages_wanted > region->pages_left ||
        extent_new(region->context.space, pages_wanted, region, 1, &extent))
        return DRASYNC_ENOMEM;
    region->pages_left -= pages_wanted;
    extent_out->first_page = extent->first_page;
    extent_out->pages = pages_wanted;
    return 0;
}

static void region_open(struct region *region, const struct space *space,
                        unsigned align)
{
    struct heap_extent first;

    memset(region, 0, sizeof(*region));
    region->pages_left = UINT64_MAX;
    region->context = (struct heap_context){
        .space = space, .owner = region, .more = more, .arg = region};
    REQUIRE(!more(region, 1, 1, &first));
    region->heap = (void *)((char *)space_address(space, first.first_page) +
                            HEAP_HEADER_OFFSET);
    REQUIRE(!heap_init(&region->context, region->heap, align, &first,
                       sizeof(struct heap)));
    for (int i = 0; i < WINDOWS; i++) {
        heap_magazine_open(region->heap, &region->magazine[i], region->free[i]);
        heap_parts_open(&region->parts[i], space, PAGE_SHIFT);
    }
}

static int take(struct region *region, int magazine, size_t bytes, void **ptr)
{
    *ptr = heap_magazine_alloc(&region->magazine[magazine], bytes);
    if (!*ptr)
        *ptr = heap_magazine_alloc_any(&region->magazine[magazine], bytes);
    return *ptr ? 0
                : heap_magazine_refill(&region->context, region->heap,
                                       &region->magazine[magazine], bytes, ptr);
}

static int give(struct region *region, void *ptr)
{
    return heap_free(&region->context, region->heap, ptr);
}

/* Onto a stack, without the heap; false: not possible. */
static int stack(struct region *region, int magazine, void *ptr)
{
    struct heap_parts *parts = &region->parts[magazine];
    const struct heap_part *part = heap_parts_met(parts, ptr, PAGE_SHIFT);

    return part->magazine == &region->magazine[magazine] &&
           heap_magazine_give(&region->magazine[magazine], part,
                              region->magazine[magazine].shift, ptr);
}

/* As a thread of its own does. */
static int give_to(struct region *region, int magazine, void *ptr)
{
    return stack(region, magazine, ptr)
               ? 0
               : heap_magazine_free(&region->context, region->heap,
                                    &region->magazine[magazine],
                                    &region->parts[magazine],
                                    &region->magazine[magazine], 1, ptr);
}

static int close_window(struct region *region, int magazine)
{
    heap_parts_forget(&region->parts[magazine], &region->magazine[magazine],
                      HEAP_PARTS_ALL);
    return heap_magazine_close(&region->context, region->heap,
                               &region->magazine[magazine]);
}

#endif /* TESTS_UNIT_MEMORY_MAGAZINES_H */
