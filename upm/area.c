/* The list of hot areas and their tables: see area.h. */
#include "upm/area.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upm/host.h"
#include "upm/signals.h"

/* Read by handlers without a lock: an area is complete before its place here is
 * stored (release), which pairs with the acquire in upm_area_find(). */
static _Atomic(struct upm_area *) areas[UPMLIB_AREAS_MAX];
static size_t area_count;

/* Odd while the list is being changed: who finds nothing then looks again. */
static _Atomic unsigned changes;

/* Handlers under way; sequentially consistent with the places above, so that
 * upm_area_drop() either sees the handler or the handler no area. */
static _Atomic unsigned handlers;

/* Is [start, end) mapped for reading and writing, without a hole? */
static bool is_mapped(uintptr_t start, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[8];
    uintptr_t from, to;

    while (maps && start < end && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, rights) !=
            3)
            continue;
        if (to <= start)
            continue;
        if (from > start || strncmp(rights, "rw", 2) != 0)
            break;
        start = to;
    }
    if (maps)
        fclose(maps);
    return start >= end;
}

static int check(const void *start, size_t bytes)
{
    uintptr_t from = (uintptr_t)start, to;

    if (!start || __builtin_add_overflow(from, bytes, &to))
        return -EINVAL;
    for (size_t i = 0; i < area_count; i++) {
        const struct upm_area *area = atomic_load(&areas[i]);

        if (from < area->given + area->given_bytes && area->given < to)
            return -EEXIST;
    }
    if (!is_mapped(from, to))
        return -EFAULT;
    return area_count < UPMLIB_AREAS_MAX ? 0 : -ENOSPC;
}

/* As small as the limit of units allows with what other areas have. */
static size_t choose_unit_pages(size_t pages)
{
    size_t used = 0, unit = 1;

    for (size_t i = 0; i < area_count; i++)
        used += atomic_load(&areas[i])->units;
    /* Never more than a quarter of what is left, so that the twentieth large one
     * still has some ten. */
    size_t room = used < UPM_UNITS_MAX ? (UPM_UNITS_MAX - used) / 4 : 0;
    while (room > 0 && (pages + unit - 1) / unit > room)
        unit *= 2;
    return room > 0 ? unit : pages;
}

static void free_area(struct upm_area *area)
{
    free(area->table.page);
    free(area->table.counts);
    free(area->table.recorded);
    free(area->state);
    free(area->hits);
    free(area);
}

int upm_area_new(const void *start, size_t bytes, unsigned nodes,
                 const uint8_t *distance, struct upm_area **area_out)
{
    const uintptr_t mask = UPM_PAGE_BYTES - 1;
    int err = check(start, bytes);
    struct upm_area *area = err ? NULL : calloc(1, sizeof(*area));

    if (!area)
        return err ? err : -ENOMEM;
    area->given = (uintptr_t)start;
    area->given_bytes = bytes;
    area->start = (area->given + mask) & ~mask;
    uintptr_t end = (area->given + bytes) & ~mask;
    area->bytes = end > area->start ? end - area->start : 0;

    struct upm_table *table = &area->table;
    table->pages = area->bytes / UPM_PAGE_BYTES;
    table->unit_pages = table->pages ? choose_unit_pages(table->pages) : 1;
    table->nodes = nodes;
    table->distance = distance;
    area->unit_bytes = table->unit_pages * UPM_PAGE_BYTES;
    area->units = (area->bytes + area->unit_bytes - 1) / area->unit_bytes;
    /* With one node nothing will ever be counted. */
    size_t units = nodes > 1 ? area->units : 0;
    table->page = calloc(units ? table->pages : 1, sizeof(*table->page));
    table->counts = calloc(units * nodes + 1, sizeof(*table->counts));
    area->hits = calloc(units * nodes + 1, sizeof(*area->hits));
    area->state = calloc(units + 1, sizeof(*area->state));
    if (!table->page || !table->counts || !area->hits || !area->state) {
        free_area(area);
        return -ENOMEM;
    }
    for (size_t i = 0; i < table->pages && units; i++)
        upm_page_new(&table->page[i]);
    *area_out = area;
    return 0;
}

void upm_area_add(struct upm_area *area)
{
    atomic_store(&areas[area_count], area);
    area_count++;
}

void upm_area_drop(struct upm_area *area)
{
    sigset_t before;

    /* A handler of this thread that looks for an area would wait for itself. */
    upm_signals_block(&before);
    atomic_fetch_add(&changes, 1);
    for (size_t i = 0; i < area_count; i++) {
        if (atomic_load(&areas[i]) != area)
            continue;
        area_count--;
        atomic_store(&areas[i], atomic_load(&areas[area_count]));
        atomic_store(&areas[area_count], NULL);
        break;
    }
    atomic_fetch_add(&changes, 1);
    upm_signals_restore(&before);
    while (atomic_load(&handlers))
        sched_yield();
    free_area(area);
}

struct upm_area *upm_area_at(const void *start)
{
    for (size_t i = 0; i < area_count; i++) {
        struct upm_area *area = atomic_load(&areas[i]);

        if (area->given == (uintptr_t)start)
            return area;
    }
    return NULL;
}

struct upm_area *upm_area_next(size_t index)
{
    return index < UPMLIB_AREAS_MAX ? atomic_load(&areas[index]) : NULL;
}

unsigned upm_area_changes(void)
{
    return atomic_load(&changes);
}

void upm_areas_forked(void)
{
    atomic_store(&handlers, 0);
}

size_t upm_area_count(void)
{
    return area_count;
}

void upm_areas_enter(void)
{
    atomic_fetch_add(&handlers, 1);
}

void upm_areas_leave(void)
{
    atomic_fetch_sub(&handlers, 1);
}

struct upm_area *upm_area_find(uintptr_t address)
{
    struct upm_area *area;
    unsigned seen;

    do {
        seen = atomic_load(&changes);
        for (size_t i = 0;
             i < UPMLIB_AREAS_MAX && (area = atomic_load(&areas[i])); i++) {
            if (address - area->start < area->bytes)
                return area;
        }
    } while (seen % 2 || seen != atomic_load(&changes));
    return NULL;
}

void upm_area_count_access(struct upm_area *area, size_t unit, unsigned node)
{
    /* A sum: upm_area_collect() takes it whenever it comes. */
    atomic_fetch_add_explicit(&area->hits[unit * area->table.nodes + node], 1,
                              memory_order_relaxed);
}

uint64_t upm_area_collect(struct upm_area *area)
{
    uint64_t seen = 0;

    for (size_t i = 0; i < area->units * area->table.nodes; i++) {
        /* Relaxed: see upm_area_count_access(). */
        if (!atomic_load_explicit(&area->hits[i], memory_order_relaxed))
            continue;
        uint32_t hits =
            atomic_exchange_explicit(&area->hits[i], 0, memory_order_relaxed);
        area->table.counts[i] += hits;
        seen += hits;
    }
    return seen;
}

void upm_area_clear(struct upm_area *area)
{
    struct upm_table *table = &area->table;

    for (size_t i = 0; i < area->units * table->nodes; i++) {
        /* Modulo 2^32, as the difference that replay.c makes of them. */
        if (table->recorded)
            table->recorded[i] -= table->counts[i];
        table->counts[i] = 0;
    }
}

int upm_area_homes(struct upm_area *area, size_t first, size_t count)
{
    enum { PART = 512 };
    void *pages[PART];
    int16_t homes[PART];

    for (size_t done = 0; done < count;) {
        size_t part = count - done < PART ? count - done : PART;

        for (size_t i = 0; i < part; i++)
            pages[i] = upm_area_page(area, first + done + i);
        int err = upm_host_homes(pages, part, homes);
        if (err)
            return err;
        for (size_t i = 0; i < part; i++)
            area->table.page[first + done + i].home = homes[i];
        done += part;
    }
    return 0;
}

void *upm_area_page(const struct upm_area *area, size_t page)
{
    return (void *)(area->start + page * UPM_PAGE_BYTES);
}

struct upm_area *upm_area_of(const struct upm_table *table)
{
    return (struct upm_area *)((char *)table -
                               offsetof(struct upm_area, table));
}
