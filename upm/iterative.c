/* The iterative engine: see engine.h. */
#include "upm/engine.h"

int upm_iterate(struct upm_iterative *engine, struct upm_table *table,
                const struct upm_tuning *tuning, struct upm_moves *moves)
{
    size_t units = (table->pages + table->unit_pages - 1) / table->unit_pages;

    for (size_t i = 0; i < units * table->nodes && !engine->counted; i++)
        engine->counted = table->counts[i] > 0;
    return upm_judge(table, 0, table->pages, tuning, moves);
}

void upm_iterated(struct upm_iterative *engine, size_t moved)
{
    /* An iteration in which nothing was counted says nothing. */
    if (engine->counted && !moved)
        engine->off = true;
    engine->counted = false;
}
