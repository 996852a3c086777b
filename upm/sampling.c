/* Which pages the sampling engine looks at next: see engine.h. */
#include "upm/engine.h"

struct upm_window upm_next_window(struct upm_window window,
                                  struct upm_table *const *tables, size_t count,
                                  size_t batch)
{
    struct upm_window next = {window.table, window.first + window.count, 0};

    for (size_t tried = 0; tried <= count; tried++) {
        if (next.table < count && next.first < tables[next.table]->pages) {
            const struct upm_table *table = tables[next.table];
            size_t units = batch / table->unit_pages;
            size_t rest = table->pages - next.first;

            next.count = (units ? units : 1) * table->unit_pages;
            next.count = next.count < rest ? next.count : rest;
            return next;
        }
        next.table = next.table + 1 < count ? next.table + 1 : 0;
        next.first = 0;
    }
    return (struct upm_window){0};
}
