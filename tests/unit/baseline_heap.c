/* The baseline's books: pages, regions, objects, and what a worker has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "benchmarks/baseline/copies.h"
#include "benchmarks/baseline/heap.h"
#include "tap.h"

#define NONE ((struct bl_name){0, 0, 0})

static uint64_t first_address(const struct bl_buffer *runs)
{
    const struct bl_run *run = (const struct bl_run *)runs->bytes;

    return ((uint64_t)run->slab.page << BL_PAGE_SHIFT) +
           run->first * run->slab.slot_bytes;
}

static void test_pages(void)
{
    static uint8_t used[1000];
    struct {
        uint32_t page;
        unsigned order;
    } taken[1000];
    struct bl_pages pages;
    unsigned count, round, i, j;
    int apart = 1;
    uint32_t page;

    bl_pages_open(&pages, 37, 1000 - 37);
    srand(1);
    for (round = 0; round < 20; round++) {
        for (count = 0;; count++) {
            unsigned order = (unsigned)rand() % 5;

            page = bl_pages_take(&pages, order);
            if (!page)
                break;
            for (j = 0; j < 1u << order; j++) {
                if (page + j < 37 || page + j >= 1000 || used[page + j])
                    apart = 0;
                used[page + j] = 1;
            }
            taken[count].page = page;
            taken[count].order = order;
        }
        for (i = 0; i < count; i++) {
            memset(used + taken[i].page, 0, (size_t)1 << taken[i].order);
            bl_pages_give(&pages, taken[i].page, taken[i].order);
        }
    }
    tap_ok(apart, "runs of pages are in range and apart");
    page = bl_pages_take(&pages, 8);
    tap_ok(page == 256 || page == 512, "what was given back joins again");
    bl_pages_close(&pages);
}

static void test_objects(void)
{
    static uint64_t addresses[4000];
    struct bl_buffer runs = {0};
    struct bl_slab *slab;
    struct bl_region *region;
    struct bl_heap heap;
    uint32_t slot, count, i, j;
    int apart = 1, found = 1;

    bl_heap_open(&heap, 0, 1 << 16);
    region = bl_heap_new(&heap, NONE);
    for (i = 0; i < 2000; i++) {
        runs.used = count = 0;
        if (bl_heap_alloc(&heap, region, 1 + i * 31, 1, &runs, &count))
            found = 0;
        addresses[i] = first_address(&runs);
    }
    for (i = 0; i < 2000; i++) {
        if (addresses[i] % 64 ||
            bl_heap_lookup(&heap, addresses[i], &slab, &slot) ||
            slab->name.slot_bytes < 1 + i * 31 ||
            slab->name.slot_bytes > (1 + i * 31) * 5 / 4 + 63)
            found = 0;
        for (j = 0; j < i; j++)
            if (addresses[j] < addresses[i] + 1 + i * 31 &&
                addresses[i] < addresses[j] + 1 + j * 31)
                apart = 0;
    }
    tap_ok(apart, "objects of all sizes are apart");
    tap_ok(found, "each is aligned, found, and wastes at most a quarter");
    for (i = 0; i < 2000; i += 2) {
        bl_heap_lookup(&heap, addresses[i], &slab, &slot);
        bl_heap_free(&heap, slab, slot);
    }
    for (found = 1, i = 0; i < 2000; i++) {
        enum bl_status status;

        status = bl_heap_lookup(&heap, addresses[i], &slab, &slot);
        if (status != (i % 2 ? BL_OK : BL_NOT_ALLOCATED))
            found = 0;
    }
    tap_ok(found, "freed objects are gone, the others are not");
    tap_ok(bl_heap_lookup(&heap, addresses[1] + 8, &slab, &slot) ==
               BL_MISALIGNED,
           "a misaligned address is told apart");
    runs.used = count = 0;
    tap_ok(bl_heap_alloc(&heap, region, (uint64_t)1 << 40, 1, &runs, &count) ==
               BL_NO_MEMORY,
           "an object larger than all pages is out of memory");
    bl_heap_delete(&heap, region);
    tap_ok(bl_pages_take(&heap.pages, 15) != 0,
           "a deleted region leaves no page");
    free(runs.bytes);
    bl_heap_close(&heap);
}

static void test_children(void)
{
    struct bl_name names[100];
    struct bl_region *region;
    struct bl_heap heap;
    uint32_t i;

    bl_heap_open(&heap, 0, 1 << 12);
    region = bl_heap_new_root(&heap);
    for (i = 0; i < 100; i++) {
        names[i] = bl_heap_new(&heap, region->name)->name;
        bl_region_add_child(region, names[i]);
    }
    for (i = 0; i < 100; i++)
        bl_region_remove_child(region, names[(i * 37) % 100]);
    tap_ok(region->children_count == 0, "children leave in any order");
    tap_ok(bl_heap_find(&heap, names[3].region, names[3].serial) != NULL &&
               bl_heap_find(&heap, names[3].region, names[3].serial + 1) ==
                   NULL,
           "a region is told apart from an earlier one of its number");
    bl_heap_close(&heap);
}

static void test_copies(void)
{
    struct bl_slab_name old = {1, 64, 8, 2, 128, 0};
    struct bl_slab_name other = {2, 128, 10, 1, 32, 0};
    struct bl_slab_name young = {3, 64, 8, 4, 256, 0};
    uint64_t map[2] = {UINT64_MAX, UINT64_MAX};
    uint32_t incs[128] = {0};
    struct bl_copies copies;
    struct bl_copy *copy;

    bl_copies_open(&copies, 1000);
    copy = bl_copies_adopt(&copies, &old);
    bl_copy_gain(copy, 5, 0);
    bl_copy_gain(copy, 70, 3);
    tap_ok(bl_copies_find(&copies, 9) == copy && !bl_copies_find(&copies, 10),
           "a slab is found by any of its pages");
    tap_ok(bl_copy_mask(copy, map, NULL) == 1 && map[0] == 1 << 5,
           "only slots of the right incarnation are left");
    map[0] = map[1] = UINT64_MAX;
    incs[70] = 3;
    tap_ok(bl_copy_mask(copy, map, incs) == 2,
           "with the table of incarnations too");
    bl_copies_adopt(&copies, &other);
    copy = bl_copies_adopt(&copies, &young);
    tap_ok(copy && bl_copies_find(&copies, 10) == copy,
           "a newer slab takes the place of those on its pages");
    tap_ok(!bl_copies_adopt(&copies, &other) && !bl_copies_adopt(&copies, &old),
           "an older one does not come back");
    bl_copies_close(&copies);
}

int main(void)
{
    test_pages();
    test_objects();
    test_children();
    test_copies();
    return tap_end();
}
