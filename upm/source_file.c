/*
 * Counts from a file: for tests, and for counts that another machine or a
 * simulator made.  A line is
 *
 *   ITERATION AREA PAGE COUNT...
 *
 * all numbers from 0 on, with a count for each node; "#" begins a comment.  An
 * iteration is what ends with a call that looks at the counts.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "upm/source.h"

#define LINE_BYTES 4096

static FILE *file;
static unsigned long long iteration;

static int open_file(const char *argument, char *why, size_t why_bytes)
{
    if (file)
        fclose(file);
    file = fopen(argument, "re");
    if (!file) {
        snprintf(why, why_bytes, "%s cannot be read (errno %d)", argument,
                 errno);
        return -ENOTSUP;
    }
    return 0;
}

static void close_file(void)
{
    if (file)
        fclose(file);
    file = NULL;
}

/* Add the counts of a line, behind its first three numbers. */
static void add_counts(const char *text, unsigned long long at_area,
                       unsigned long long page)
{
    struct upm_area *area = upm_area_next(at_area);
    char *end;

    if (!area || page >= area->table.pages)
        return;
    for (unsigned node = 0; node < area->table.nodes; node++, text = end) {
        unsigned long count = strtoul(text, &end, 10);

        if (end == text)
            return;
        size_t unit = page / area->table.unit_pages;
        /* Only upm_area_collect() takes them, under the same lock. */
        atomic_fetch_add_explicit(&area->hits[unit * area->table.nodes + node],
                                  (uint32_t)count, memory_order_relaxed);
    }
}

static void gather(void)
{
    char line[LINE_BYTES];
    unsigned long long of, area, page;
    int used;

    rewind(file);
    while (fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%llu %llu %llu%n", &of, &area, &page, &used) == 3 &&
            of == iteration)
            add_counts(line + used, area, page);
    }
    iteration++;
}

static int watch_file(struct upm_area *area)
{
    (void)area;
    return 0;
}

static void unwatch_file(struct upm_area *area)
{
    (void)area;
}

static void arm_file(struct upm_area *area, size_t first, size_t count)
{
    (void)area;
    (void)first;
    (void)count;
}

const struct upm_source upm_source_file = {
    .name = "file",
    .open = open_file,
    .close = close_file,
    .watch = watch_file,
    .unwatch = unwatch_file,
    .arm = arm_file,
    .disarm = unwatch_file,
    .gather = gather,
    .forked = close_file,
};
