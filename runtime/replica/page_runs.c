/* Page runs of freed regions, kept for the next extents: see page_runs.h. */
#include "runtime/replica/page_runs.h"

#include <string.h>

#include "memory/limit.h"
#include "memory/pages.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/replica/mappings.h"
#include "runtime/replica/send.h"

/* No more of a worker than so much. */
static uint64_t runs_bytes_max(void)
{
    return limit_kept_bytes(&runtime.space) / 4 / (uint64_t)runtime.locals;
}

int replica_runs_put(struct extent *extent, int local)
{
    struct replica_inbox *inbox = &replica_shared()->inboxes[local];
    uint64_t first = extent->first_page, pages = extent->pages;
    uint64_t bytes = space_page_offset(pages);
    int put, err = extent_park(&runtime.space, extent);

    if (err)
        return err;
    err = lock_take(&inbox->lock);
    if (err)
        return err;
    put = inbox->run_count < REPLICA_RUNS_MAX &&
          inbox->run_bytes + bytes <= runs_bytes_max();
    if (put) {
        inbox->runs[inbox->run_count].first = first;
        inbox->runs[inbox->run_count++].pages = pages;
        inbox->run_bytes += bytes;
    }
    lock_give(&inbox->lock);
    return put ? 0 : pages_give(&runtime.space, first, pages, PAGES_FRAMES);
}

/* This worker's last run of @pages; SPACE_NO_PAGE if it has none. */
static uint64_t runs_take(uint64_t pages)
{
    struct replica_inbox *inbox = replica_inbox();
    uint64_t first = SPACE_NO_PAGE;

    if (lock_take(&inbox->lock))
        return first;
    for (uint32_t i = inbox->run_count; i-- > 0;) {
        if (inbox->runs[i].pages != pages)
            continue;
        first = inbox->runs[i].first;
        inbox->run_count--;
        memmove(&inbox->runs[i], &inbox->runs[i + 1],
                (inbox->run_count - i) * sizeof(inbox->runs[0]));
        inbox->run_bytes -= space_page_offset(pages);
        break;
    }
    lock_give(&inbox->lock);
    return first;
}

/* Memory is short: nobody keeps anything.  1 if there was something. */
static int runs_drop(void)
{
    int dropped = 0;

    for (int i = 0; i < runtime.locals; i++) {
        struct replica_inbox *inbox = &replica_shared()->inboxes[i];

        if (lock_take(&inbox->lock))
            continue;
        for (; inbox->run_count; inbox->run_count--, dropped = 1) {
            const struct replica_run *run = &inbox->runs[inbox->run_count - 1];

            pages_give(&runtime.space, run->first, run->pages, PAGES_FRAMES);
        }
        inbox->run_bytes = 0;
        lock_give(&inbox->lock);
    }
    return dropped;
}

int replica_make_room(void)
{
    int again = replica_repeat_drop(), runs = runs_drop();

    return replica_mapping_drop() || runs || again;
}

static int extent_get(uint64_t pages, struct replica_heap *heap,
                      struct extent **extent_out)
{
    uint64_t first = runs_take(pages);
    int err;

    if (first == SPACE_NO_PAGE)
        return extent_new(&runtime.space, pages, heap, REPLICA_EXTENT,
                          extent_out);
    err = extent_insert(&runtime.space, first, pages, heap, REPLICA_EXTENT,
                        extent_out);
    if (err)
        pages_give(&runtime.space, first, pages, PAGES_FRAMES);
    return err;
}

int replica_extent_new(uint64_t pages, struct replica_heap *heap,
                       struct extent **extent_out)
{
    int err = extent_get(pages, heap, extent_out);

    if ((err == DRASYNC_ENOMEM || err == DRASYNC_ENOSPACE) &&
        replica_make_room())
        err = extent_get(pages, heap, extent_out);
    if (err)
        return err;
    /* Something that was freed may still be mapped there. */
    err = native_map_primary((*extent_out)->first_page, pages);
    if (err)
        extent_delete(&runtime.space, *extent_out);
    return err;
}
