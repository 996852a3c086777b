/*
 * pages.h - which pages of a scheduler's part of the range are free: a buddy
 * allocator of aligned runs of 2^n pages.
 *
 * The state of every page lies in one lazily touched table.  Callers give back
 * runs exactly as they got them.
 */
#ifndef BASELINE_PAGES_H
#define BASELINE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define BL_ORDER_MAX 32

struct bl_region;
struct bl_slab;

struct bl_page {
    struct bl_slab *slab;     /* that begins here */
    struct bl_region *region; /* whose first page this is */
    uint32_t next, prev;      /* free runs: page + 1, or 0 */
    uint32_t free_order;      /* order + 1 of the free run here, or 0 */
    uint32_t pad;
};

struct bl_pages {
    struct bl_page *table; /* of pages first .. first + count - 1 */
    uint32_t first;
    uint32_t count;
    uint32_t heads[BL_ORDER_MAX + 1];
};

/* Returns 0, or -1 when there is no room for the table. */
int bl_pages_open(struct bl_pages *pages, uint32_t first, uint32_t count);
void bl_pages_close(struct bl_pages *pages);

/* The run's first page, or 0 (never a page that is handed out) if none. */
uint32_t bl_pages_take(struct bl_pages *pages, unsigned order);
void bl_pages_give(struct bl_pages *pages, uint32_t page, unsigned order);

/* @page's entry, or NULL if the page is not one of these. */
static inline struct bl_page *bl_pages_entry(struct bl_pages *pages,
                                             uint64_t page)
{
    if (page < pages->first || page - pages->first >= pages->count)
        return NULL;
    return &pages->table[page - pages->first];
}

/* The least order with at least @count pages. */
unsigned bl_order_of(uint64_t count);

#endif /* BASELINE_PAGES_H */
