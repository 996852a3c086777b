/* What regions are called: names_of() and names_all(). */
#include <stdlib.h>
#include <string.h>

#include "runtime/messages/messages.h"
#include "runtime/process.h"
#include "runtime/services/names.h"
#include "runtime/services/names_table.h"

#define MANAGER 0

/* A call; names.c has the kinds before it. */
#define NAMES_OF (RUNTIME_KIND_NAMES + 5)

/* Names in an answer.  Memory that none of them needs is never touched. */
#define OF_MAX (((size_t)60 << 20) / sizeof(struct names_found))

static int manager(void)
{
    return runtime.node == MANAGER;
}

static int serve_of(const struct names_region *regions, size_t count,
                    struct names_found *found, size_t *found_count_out)
{
    struct names_table *table = names_table_here();
    int err = lock_take(&table->lock);

    if (err)
        return err;
    err = names_table_of(table, regions, count, found, OF_MAX, found_count_out);
    lock_give(&table->lock);
    return err;
}

static void of_called(const struct runtime_caller *caller, const void *request,
                      size_t bytes)
{
    size_t each = sizeof(struct names_region), n = 0;
    struct names_region *regions = NULL;
    struct names_found *found = NULL;
    int err = DRASYNC_EINTERNAL;

    if (manager() && bytes % each == 0 && bytes / each <= NAMES_OF_MAX) {
        regions = malloc(bytes + 1); /* for its alignment */
        found = malloc(OF_MAX * sizeof(*found));
        err = regions && found ? 0 : DRASYNC_ENOMEM;
    }
    if (!err) {
        memcpy(regions, request, bytes);
        err = serve_of(regions, bytes / each, found, &n);
    }
    runtime_reply(caller, err, found, err ? 0 : n * sizeof(*found));
    free(regions);
    free(found);
}

int names_of(const struct names_region *regions, size_t count,
             struct names_found **found_out, size_t *found_count_out)
{
    struct names_found *found = malloc(OF_MAX * sizeof(*found)), *fit;
    size_t n = 0, got = 0;
    int err;

    if (!found)
        return DRASYNC_ENOMEM;
    if (manager()) {
        err = serve_of(regions, count, found, &n);
    } else {
        err = runtime_call(MANAGER, NAMES_OF, regions, count * sizeof(*regions),
                           found, OF_MAX * sizeof(*found), &got);
        n = got / sizeof(*found);
        if (!err && got % sizeof(*found))
            err = DRASYNC_EINTERNAL;
    }
    for (size_t i = 0; i < n && !err; i++)
        if (found[i].region >= count ||
            !memchr(found[i].name, 0, sizeof(found[i].name)))
            err = DRASYNC_EINTERNAL;
    if (err || !n) {
        free(found);
        found = NULL;
    } else if ((fit = realloc(found, n * sizeof(*found)))) {
        found = fit;
    }
    if (!err) {
        *found_out = found;
        *found_count_out = n;
    }
    return err;
}

int names_all(struct names_listed **listed_out, size_t *count_out)
{
    struct names_table *table = names_table_here();
    int err = lock_take(&table->lock);

    if (err)
        return err;
    *listed_out = malloc((table->names + 1) * sizeof(**listed_out));
    *count_out = *listed_out ? names_table_list(table, *listed_out) : 0;
    lock_give(&table->lock);
    return *listed_out ? 0 : DRASYNC_ENOMEM;
}

void names_of_start(void)
{
    runtime_serve(NAMES_OF, of_called);
}
