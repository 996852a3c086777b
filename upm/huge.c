/* Huge pages: see huge.h. */
#include "upm/huge.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_PAGES (HUGE_BYTES / UPM_PAGE_BYTES)

void upm_huge_split(struct upm_area *area)
{
    uintptr_t end = area->start + area->bytes;

    if (!area->bytes || area->unit_bytes >= HUGE_BYTES)
        return;
    madvise((void *)area->start, area->bytes, MADV_NOHUGEPAGE);
    /* The advice that a part of a huge page is cold splits it, and does little
     * else. */
    for (uintptr_t at = area->start; at < end; at = (at | (HUGE_BYTES - 1)) + 1)
        madvise((void *)at, UPM_PAGE_BYTES, MADV_COLD);
}

static bool always(void)
{
    char line[64] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");

    if (file && !fgets(line, sizeof(line), file))
        line[0] = 0;
    if (file)
        fclose(file);
    return strstr(line, "[always]") != NULL;
}

/* Are the pages from @first on, a huge page's, on one node? */
static bool on_one_node(const struct upm_table *table, size_t first)
{
    for (size_t i = first + 1; i < first + HUGE_PAGES; i++) {
        if (table->page[i].home != table->page[first].home)
            return false;
    }
    return true;
}

void upm_huge_join(struct upm_area *area)
{
    size_t skipped = -(area->start / UPM_PAGE_BYTES) % HUGE_PAGES;

    if (!area->bytes || area->unit_bytes >= HUGE_BYTES || !always())
        return;
    for (size_t page = skipped; page + HUGE_PAGES <= area->table.pages;
         page += HUGE_PAGES) {
        if (on_one_node(&area->table, page))
            madvise(upm_area_page(area, page), HUGE_BYTES, MADV_HUGEPAGE);
    }
}
