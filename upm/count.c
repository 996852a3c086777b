/* When pages are counted, and what is done with the counts: see state.h. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "upm/state.h"

bool upm_idle(void)
{
    return !upm.started || upm.forked || upm.host.nodes < 2 ||
           upm.options.source == UPMLIB_SOURCE_NONE;
}

bool upm_wants_all(void)
{
    return upm.recording || (!upm.iterative.off && !upm.paused);
}

struct upm_table *const *upm_tables(size_t *count)
{
    static struct upm_table *tables[UPMLIB_AREAS_MAX];
    struct upm_area *area;
    size_t i;

    for (i = 0; (area = upm_area_next(i)); i++)
        tables[i] = &area->table;
    *count = i;
    return tables;
}

void upm_arm(void)
{
    struct upm_area *area;

    if (!upm.source)
        return;
    if (!upm_wants_all()) {
        area = upm_area_next(upm.window.table);
        if (area && upm.window.count) {
            size_t unit_pages = area->table.unit_pages;

            upm.source->arm(area, upm.window.first / unit_pages,
                            (upm.window.count + unit_pages - 1) / unit_pages);
        }
        return;
    }
    for (size_t i = 0; (area = upm_area_next(i)); i++)
        upm.source->arm(area, 0, area->units);
}

void upm_stop_look(void)
{
    struct upm_area *area;

    if (!upm.source)
        return;
    for (size_t i = 0; (area = upm_area_next(i)); i++)
        upm.source->disarm(area);
    if (upm.source->gather)
        upm.source->gather();
    for (size_t i = 0; (area = upm_area_next(i)); i++)
        upm.stats.counted += upm_area_collect(area);
}

static void stop_source(void)
{
    struct upm_area *area;

    upm_stop_look();
    for (size_t i = 0; (area = upm_area_next(i)); i++)
        upm.source->unwatch(area);
    upm.source->close();
    upm.source = NULL;
    upm.window = (struct upm_window){0};
}

static int start_source(void)
{
    const struct upm_source *source = upm_source_by_number(upm.options.source);
    char why[UPM_LINE_BYTES] = "";
    struct upm_area *area;
    int err = source->open(upm.options.file, why, sizeof(why));

    if (err)
        return upm_fail(err, "source %s: %s; UPM_SOURCE names another",
                        source->name, why);
    upm.source = source;
    for (size_t i = 0; (area = upm_area_next(i)) && !err; i++) {
        upm_area_clear(area);
        err = source->watch(area);
    }
    if (!err)
        err = upm_helper_start();
    if (err) {
        stop_source();
        return upm_fail(err, "counting by %s did not start (errno %d)",
                        source->name, -err);
    }
    upm_arm();
    return 0;
}

int upm_count(void)
{
    bool wanted =
        !upm_idle() && upm_area_next(0) && (upm_wants_all() || upm.sample_ms);

    if (!wanted && upm.source)
        stop_source();
    else if (wanted && !upm.source)
        return start_source();
    return 0;
}

void upm_forget(struct upm_area *area)
{
    if (upm.source) {
        upm.source->disarm(area);
        upm.source->unwatch(area);
    }
    upm_replay_forget(&upm.replay, &area->table);
    upm.window = (struct upm_window){0};
    upm.stats.pages -= area->table.pages;
    upm.stats.areas--;
    upm_area_drop(area);
}

int upm_do(struct upm_moves *moves, void (*note)(struct upm_move move))
{
    struct upm_carried carried;
    int err = upm_carry_look(moves);

    if (!err)
        err = upm_carry(moves, upm.options.batch, note, &carried);
    if (err)
        return upm_fail(err, "pages could not be moved (errno %d)", -err);
    upm.stats.moved += carried.moved;
    upm.stats.stayed += carried.stayed;
    return carried.moved < INT_MAX ? (int)carried.moved : INT_MAX;
}

void upm_sample_step(void)
{
    struct upm_moves moves = {0};
    struct upm_area *area;
    size_t count;

    /* The iterative engine and recordings come first. */
    if (upm_wants_all())
        return;
    upm_stop_look();
    area = upm_area_next(upm.window.table);
    if (area && upm.window.count &&
        !upm_area_homes(area, upm.window.first, upm.window.count)) {
        upm.stats.sampled += upm.window.count;
        if (!upm_judge(&area->table, upm.window.first, upm.window.count,
                       &upm.options.tuning, &moves))
            upm_do(&moves, NULL);
        upm_area_clear(area);
    }
    upm_moves_free(&moves);
    if (upm.discovers)
        upm_discover();
    if (upm_count())
        upm.sample_ms = 0; /* the source does not work here */
    struct upm_table *const *tables = upm_tables(&count);
    upm.window = upm_next_window(upm.window, tables, count, upm.options.batch);
    upm_arm();
}
