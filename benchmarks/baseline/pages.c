/* Free pages of a scheduler's part of the range, by buddies: see pages.h. */
#include "pages.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

unsigned bl_order_of(uint64_t count)
{
    unsigned order = 0;

    while (((uint64_t)1 << order) < count)
        order++;
    return order;
}

static void push(struct bl_pages *pages, uint32_t page, unsigned order)
{
    struct bl_page *entry = bl_pages_entry(pages, page);

    entry->free_order = order + 1;
    entry->prev = 0;
    entry->next = pages->heads[order];
    if (entry->next)
        bl_pages_entry(pages, entry->next - 1)->prev = page + 1;
    pages->heads[order] = page + 1;
}

static void unlink_run(struct bl_pages *pages, uint32_t page, unsigned order)
{
    struct bl_page *entry = bl_pages_entry(pages, page);

    if (entry->next)
        bl_pages_entry(pages, entry->next - 1)->prev = entry->prev;
    if (entry->prev)
        bl_pages_entry(pages, entry->prev - 1)->next = entry->next;
    else
        pages->heads[order] = entry->next;
    entry->free_order = 0;
}

int bl_pages_open(struct bl_pages *pages, uint32_t first, uint32_t count)
{
    uint64_t page = first, end = (uint64_t)first + count;
    void *table;

    memset(pages, 0, sizeof *pages);
    table =
        mmap(NULL, (size_t)count * sizeof *pages->table, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        return -1;
    madvise(table, (size_t)count * sizeof *pages->table, MADV_DONTDUMP);
    pages->table = table;
    pages->first = first;
    pages->count = count;
    if (page == 0)
        page = 1;
    while (page < end) {
        unsigned order = 0;

        while (order < BL_ORDER_MAX - 1 &&
               (page & (((uint64_t)2 << order) - 1)) == 0 &&
               page + ((uint64_t)2 << order) <= end)
            order++;
        push(pages, (uint32_t)page, order);
        page += (uint64_t)1 << order;
    }
    return 0;
}

void bl_pages_close(struct bl_pages *pages)
{
    munmap(pages->table, (size_t)pages->count * sizeof *pages->table);
    memset(pages, 0, sizeof *pages);
}

uint32_t bl_pages_take(struct bl_pages *pages, unsigned order)
{
    unsigned from = order;
    uint32_t page;

    while (from <= BL_ORDER_MAX && !pages->heads[from])
        from++;
    if (from > BL_ORDER_MAX)
        return 0;
    page = pages->heads[from] - 1;
    unlink_run(pages, page, from);
    while (from > order) {
        from--;
        push(pages, page + ((uint32_t)1 << from), from);
    }
    return page;
}

void bl_pages_give(struct bl_pages *pages, uint32_t page, unsigned order)
{
    assert(bl_pages_entry(pages, page)->free_order == 0);
    while (order < BL_ORDER_MAX - 1) {
        uint32_t buddy = page ^ ((uint32_t)1 << order);
        struct bl_page *entry = bl_pages_entry(pages, buddy);

        if (!entry || entry->free_order != order + 1)
            break;
        unlink_run(pages, buddy, order);
        page &= ~((uint32_t)1 << order);
        order++;
    }
    push(pages, page, order);
}
