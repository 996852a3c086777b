/* Regions of a scheduler and their objects: see heap.h. */
#include "heap.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bl_malloc(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory) {
        fprintf(stderr, "libmyrmics: out of memory (%zu bytes)\n", bytes);
        abort();
    }
    return memory;
}

void *bl_buffer_add(struct bl_buffer *buffer, size_t bytes)
{
    void *place;

    if (buffer->room - buffer->used < bytes) {
        size_t room = buffer->room * 2 + bytes + 256;
        unsigned char *more = bl_malloc(room);

        if (buffer->used)
            memcpy(more, buffer->bytes, buffer->used);
        free(buffer->bytes);
        buffer->bytes = more;
        buffer->room = room;
    }
    place = buffer->bytes + buffer->used;
    buffer->used += bytes;
    return place;
}

/* Multiples of 64 up to 1 KiB, then four classes for each doubling. */
static unsigned class_of(uint64_t size, uint64_t *slot_bytes)
{
    uint64_t step = BL_ALIGN, base = 1024;
    unsigned class = 16;

    if (size <= base) {
        *slot_bytes = (size + step - 1) / step * step;
        return (unsigned)(*slot_bytes / step) - 1;
    }
    while (size > base * 2) {
        base *= 2;
        class += 4;
    }
    step = base / 4;
    *slot_bytes = (size + step - 1) / step * step;
    return class + (unsigned)((*slot_bytes - base) / step) - 1;
}

int bl_heap_open(struct bl_heap *heap, uint32_t first, uint32_t count)
{
    heap->serial = 0;
    heap->regions = NULL;
    return bl_pages_open(&heap->pages, first, count);
}

static struct bl_region *region_at(struct bl_heap *heap, uint32_t page,
                                   struct bl_name parent)
{
    struct bl_region *region = bl_malloc(sizeof *region);

    memset(region, 0, sizeof *region);
    region->name.region = page + 1;
    region->name.serial = ++heap->serial;
    region->parent = parent;
    region->next = heap->regions;
    if (region->next)
        region->next->prev = region;
    heap->regions = region;
    bl_pages_entry(&heap->pages, page)->region = region;
    return region;
}

struct bl_region *bl_heap_new(struct bl_heap *heap, struct bl_name parent)
{
    uint32_t page = bl_pages_take(&heap->pages, 0);

    return page ? region_at(heap, page, parent) : NULL;
}

struct bl_region *bl_heap_new_root(struct bl_heap *heap)
{
    struct bl_region *root = region_at(heap, 0, (struct bl_name){0, 0, 0});

    /* Page 0 holds no objects, so that no object is at the range's start. */
    root->first_page_used = 1;
    return root;
}

struct bl_region *bl_heap_find(struct bl_heap *heap, uint32_t region,
                               uint64_t serial)
{
    struct bl_page *entry;

    if (region == 0)
        return NULL;
    entry = bl_pages_entry(&heap->pages, region - 1);
    if (!entry || !entry->region)
        return NULL;
    if (serial && entry->region->name.serial != serial)
        return NULL;
    return entry->region;
}

void bl_region_add_child(struct bl_region *region, struct bl_name child)
{
    if (region->children_count == region->children_room) {
        uint32_t room = region->children_room * 2 + 4;
        struct bl_name *more = bl_malloc(room * sizeof *more);

        if (region->children_count)
            memcpy(more, region->children,
                   region->children_count * sizeof *more);
        free(region->children);
        region->children = more;
        region->children_room = room;
    }
    region->children[region->children_count++] = child;
}

/* Children often go in the order they came, or the other way round: the search
 * goes on, cyclically, from where the last one was. */
void bl_region_remove_child(struct bl_region *region, struct bl_name child)
{
    uint32_t count = region->children_count, i, at;

    for (i = 0; i < count; i++) {
        at = region->scan < count ? region->scan : 0;
        region->scan = at + 1;
        if (region->children[at].region == child.region &&
            region->children[at].serial == child.serial)
            break;
    }
    if (i == count)
        return;
    region->children[at] = region->children[count - 1];
    region->children_count--;
    region->scan = at;
}

static void part_add(struct bl_slab *slab)
{
    struct bl_slab **head = &slab->region->parts[slab->class];

    slab->part_prev = NULL;
    slab->part_next = *head;
    if (*head)
        (*head)->part_prev = slab;
    *head = slab;
}

static void part_remove(struct bl_slab *slab)
{
    if (slab->part_next)
        slab->part_next->part_prev = slab->part_prev;
    if (slab->part_prev)
        slab->part_prev->part_next = slab->part_next;
    else
        slab->region->parts[slab->class] = slab->part_next;
}

static struct bl_slab *slab_new(struct bl_heap *heap, struct bl_region *region,
                                uint32_t page, unsigned order,
                                uint64_t slot_bytes, unsigned class)
{
    struct bl_slab *slab = bl_malloc(sizeof *slab);

    memset(slab, 0, sizeof *slab);
    slab->region = region;
    slab->name.serial = ++heap->serial;
    slab->name.slot_bytes = slot_bytes;
    slab->name.page = page;
    slab->name.pages = (uint32_t)1 << order;
    slab->name.slots = 1;
    if (class < BL_CLASSES)
        slab->name.slots = (uint32_t)((BL_PAGE_BYTES << order) / slot_bytes);
    slab->map = bl_malloc(bl_map_words(slab->name.slots) * 8);
    memset(slab->map, 0, bl_map_words(slab->name.slots) * 8);
    slab->class = (uint8_t) class;
    slab->order = (uint8_t)order;
    slab->next = region->slabs;
    if (slab->next)
        slab->next->prev = slab;
    region->slabs = slab;
    bl_pages_entry(&heap->pages, page)->slab = slab;
    if (class < BL_CLASSES)
        part_add(slab);
    return slab;
}

/* A slab for up to @count more objects of a class: pages double with use. */
static struct bl_slab *slab_cut(struct bl_heap *heap, struct bl_region *region,
                                uint64_t slot_bytes, unsigned class,
                                uint32_t count)
{
    unsigned order, wanted;
    uint32_t page;

    if (class == BL_CLASSES) {
        order = bl_order_of((slot_bytes + BL_PAGE_BYTES - 1) / BL_PAGE_BYTES);
        page = order < BL_ORDER_MAX ? bl_pages_take(&heap->pages, order) : 0;
        return page ? slab_new(heap, region, page, order, slot_bytes, class)
                    : NULL;
    }
    order = bl_order_of((slot_bytes + BL_PAGE_BYTES - 1) / BL_PAGE_BYTES);
    if (order < region->orders[class])
        order = region->orders[class];
    wanted =
        bl_order_of((count * slot_bytes + BL_PAGE_BYTES - 1) / BL_PAGE_BYTES);
    if (order < wanted)
        order = wanted;
    if (order > BL_SLAB_ORDER_MAX)
        order = BL_SLAB_ORDER_MAX;
    if (order < BL_SLAB_ORDER_MAX)
        region->orders[class] = (uint8_t)(order + 1);
    if (order == 0 && !region->first_page_used) {
        region->first_page_used = 1;
        return slab_new(heap, region, region->name.region - 1, 0, slot_bytes,
                        class);
    }
    page = bl_pages_take(&heap->pages, order);
    return page ? slab_new(heap, region, page, order, slot_bytes, class) : NULL;
}

/* The next free slot; the slab has one. */
static uint32_t slot_take(struct bl_slab *slab)
{
    uint32_t word = slab->hint, slot;

    while (slab->map[word] == UINT64_MAX)
        word++;
    slab->hint = word;
    slot = word * 64 + (uint32_t)__builtin_ctzll(~slab->map[word]);
    slab->map[word] |= (uint64_t)1 << (slot % 64);
    slab->live++;
    if (slab->live == slab->name.slots && slab->class < BL_CLASSES)
        part_remove(slab);
    return slot;
}

static void run_add(struct bl_buffer *runs, uint32_t *runs_count,
                    const struct bl_slab *slab, uint32_t slot)
{
    uint32_t inc = slab->incs ? slab->incs[slot] : 0;
    struct bl_run *run;

    if (*runs_count) {
        run = (struct bl_run *)(runs->bytes + runs->used) - 1;
        if (run->slab.serial == slab->name.serial && run->inc == inc &&
            run->first + run->count == slot) {
            run->count++;
            return;
        }
    }
    run = bl_buffer_add(runs, sizeof *run);
    run->slab = slab->name;
    run->first = slot;
    run->count = 1;
    run->inc = inc;
    run->pad = 0;
    ++*runs_count;
}

enum bl_status bl_heap_alloc(struct bl_heap *heap, struct bl_region *region,
                             uint64_t size, uint32_t count,
                             struct bl_buffer *runs_out, uint32_t *runs_count)
{
    uint64_t slot_bytes;
    unsigned class = BL_CLASSES;
    struct bl_slab *slab;

    if (size > (heap->pages.count * BL_PAGE_BYTES))
        return BL_NO_MEMORY;
    if (size <= BL_SMALL_MAX)
        class = class_of(size, &slot_bytes);
    else
        slot_bytes = (size + BL_ALIGN - 1) / BL_ALIGN * BL_ALIGN;
    for (; count > 0; count--) {
        slab = class < BL_CLASSES ? region->parts[class] : NULL;
        if (!slab)
            slab = slab_cut(heap, region, slot_bytes, class, count);
        if (!slab)
            return BL_NO_MEMORY;
        run_add(runs_out, runs_count, slab, slot_take(slab));
    }
    return BL_OK;
}

enum bl_status bl_heap_lookup(struct bl_heap *heap, uint64_t address,
                              struct bl_slab **slab_out, uint32_t *slot_out)
{
    uint64_t page = address >> BL_PAGE_SHIFT, offset;
    struct bl_slab *slab = NULL;
    struct bl_page *entry;
    unsigned order;

    if (address % BL_ALIGN)
        return BL_MISALIGNED;
    /* Slabs are aligned to their size: only these pages can begin it. */
    for (order = 0; order < BL_ORDER_MAX; order++) {
        entry = bl_pages_entry(&heap->pages, page >> order << order);
        if (!entry)
            break;
        slab = entry->slab;
        if (slab)
            break;
    }
    if (!slab || page - slab->name.page >= slab->name.pages)
        return BL_NOT_ALLOCATED;
    offset = address - ((uint64_t)slab->name.page << BL_PAGE_SHIFT);
    if (offset % slab->name.slot_bytes ||
        offset / slab->name.slot_bytes >= slab->name.slots)
        return BL_NOT_ALLOCATED;
    *slot_out = (uint32_t)(offset / slab->name.slot_bytes);
    if (!(slab->map[*slot_out / 64] >> (*slot_out % 64) & 1))
        return BL_NOT_ALLOCATED;
    *slab_out = slab;
    return BL_OK;
}

static void slab_delete(struct bl_heap *heap, struct bl_slab *slab)
{
    struct bl_region *region = slab->region;
    uint32_t page = slab->name.page;

    bl_pages_entry(&heap->pages, page)->slab = NULL;
    if (page + 1 != region->name.region)
        bl_pages_give(&heap->pages, page, slab->order);
    if (slab->next)
        slab->next->prev = slab->prev;
    if (slab->prev)
        slab->prev->next = slab->next;
    else
        region->slabs = slab->next;
    free(slab->incs);
    free(slab->map);
    free(slab);
}

void bl_heap_free(struct bl_heap *heap, struct bl_slab *slab, uint32_t slot)
{
    struct bl_region *region = slab->region;

    slab->live--;
    if (slab->class == BL_CLASSES) {
        slab_delete(heap, slab);
        return;
    }
    if (slab->live + 1 == slab->name.slots)
        part_add(slab);
    /* An empty slab goes if its class has another with room. */
    if (slab->live == 0 && slab->name.page + 1 != region->name.region &&
        (slab->part_next || slab->part_prev)) {
        part_remove(slab);
        slab_delete(heap, slab);
        return;
    }
    slab->map[slot / 64] &= ~((uint64_t)1 << (slot % 64));
    if (slab->hint > slot / 64)
        slab->hint = slot / 64;
    if (!slab->incs) {
        slab->incs = bl_malloc(slab->name.slots * sizeof *slab->incs);
        memset(slab->incs, 0, slab->name.slots * sizeof *slab->incs);
        slab->name.has_incs = 1;
    }
    slab->incs[slot]++;
}

void bl_heap_delete(struct bl_heap *heap, struct bl_region *region)
{
    uint32_t page = region->name.region - 1;

    while (region->slabs)
        slab_delete(heap, region->slabs);
    bl_pages_entry(&heap->pages, page)->region = NULL;
    if (page != 0)
        bl_pages_give(&heap->pages, page, 0);
    if (region->next)
        region->next->prev = region->prev;
    if (region->prev)
        region->prev->next = region->next;
    else
        heap->regions = region->next;
    free(region->children);
    free(region);
}

void bl_region_describe(const struct bl_region *region, struct bl_buffer *out,
                        uint32_t *slabs_count)
{
    const struct bl_slab *slab;

    for (slab = region->slabs; slab; slab = slab->next) {
        size_t map_bytes = bl_map_words(slab->name.slots) * 8;

        if (slab->live == 0)
            continue;
        *(struct bl_slab_name *)bl_buffer_add(out, sizeof slab->name) =
            slab->name;
        memcpy(bl_buffer_add(out, map_bytes), slab->map, map_bytes);
        if (slab->incs) {
            size_t bytes = bl_incs_bytes(slab->name.slots);
            unsigned char *place = bl_buffer_add(out, bytes);

            memset(place, 0, bytes);
            memcpy(place, slab->incs, slab->name.slots * sizeof(uint32_t));
        }
        ++*slabs_count;
    }
}

void bl_heap_close(struct bl_heap *heap)
{
    while (heap->regions)
        bl_heap_delete(heap, heap->regions);
    bl_pages_close(&heap->pages);
}
