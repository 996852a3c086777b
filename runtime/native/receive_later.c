/* Data that follows its TRANSFER in a message of its own arrives: later.h. */
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "memory/frames.h"
#include "runtime/messages/messages.h"
#include "runtime/native/later.h"
#include "runtime/process.h"
#include "runtime/say.h"

struct later {
    struct later *next; /* of those that are announced */
    int from;
    uint64_t number;
    struct native_arrival *arrival;
    struct native_frames *frames, *base; /* base: to copy from; or NULL */
    struct delta_run *run;               /* what has come */
    uint64_t runs, extents;
    struct wire_extent extent[];
};

/* What did not come is copied from the base, page by page. */
struct fill {
    struct runtime_chore chore;
    struct later *later;   /* of this process */
    uint64_t extent, page; /* the next one, */
    uint64_t run;          /* and the run that comes at or after it */
};

/* Announced and not here; on the progress thread. */
static struct later *announced;

int later_expect(int from, const struct wire_region *in,
                 const struct wire_extent *extents,
                 struct native_frames *frames, struct native_frames *base,
                 struct later **later_out)
{
    size_t bytes = in->extents * sizeof(extents[0]);
    struct later *later;

    if (in->extents > DELTA_EXTENTS_MAX)
        return DRASYNC_EINVAL;
    later = calloc(1, sizeof(*later) + bytes);
    if (!later)
        return DRASYNC_ENOMEM;
    later->from = from;
    later->number = in->later;
    later->frames = frames;
    later->base = base;
    later->extents = in->extents;
    memcpy(later->extent, extents, bytes);
    *later_out = later;
    return 0;
}

void later_begin(struct later *later, struct native_arrival *arrival)
{
    later->arrival = arrival;
    later->next = announced;
    announced = later;
}

void later_refuse(struct later *later)
{
    free(later);
}

static struct later *take_announced(int from, uint64_t number)
{
    struct later **p = &announced, *later;

    while ((later = *p) && (later->from != from || later->number != number))
        p = &later->next;
    if (later)
        *p = later->next;
    return later;
}

static void end(struct later *later, int err)
{
    native_arrival_part(later->arrival, err);
    free(later->run);
    free(later);
}

/* In the order of the pages, none twice, within the extents. */
static bool runs_valid(const struct later *later)
{
    const struct delta_run *last = NULL;

    for (uint64_t i = 0; i < later->runs; i++) {
        const struct delta_run *run = &later->run[i];

        if (!native_run_fits(run, later->extent, later->extents) ||
            (last && (run->extent < last->extent ||
                      (run->extent == last->extent &&
                       run->page < last->page + last->pages))))
            return false;
        last = run;
    }
    return true;
}

static int keep_runs(struct later *later, const void *header, size_t bytes)
{
    const struct wire_later *head = header;
    size_t runs_bytes = bytes - sizeof(*head);

    if (head->runs > DELTA_RUNS_MAX + DELTA_EXTENTS_MAX ||
        runs_bytes != head->runs * sizeof(later->run[0]))
        return DRASYNC_EINVAL;
    later->run = malloc(runs_bytes + 1);
    if (!later->run)
        return DRASYNC_ENOMEM;
    memcpy(later->run, head + 1, runs_bytes);
    later->runs = head->runs;
    return runs_valid(later) ? 0 : DRASYNC_EINVAL;
}

static int sink_runs(const struct later *later, struct transport_sink *sink)
{
    int err = 0;

    for (uint64_t i = 0; i < later->runs && !err; i++) {
        const struct delta_run *run = &later->run[i];
        uint64_t offset = later->frames->set->run[run->extent].offset +
                          (run->page << PAGE_SHIFT);
        uint64_t bytes =
            delta_run_bytes(run, later->extent[run->extent].used_bytes);

        if (bytes)
            err = transport_sink_add(
                sink, space_window(&runtime.space, offset, bytes), bytes);
    }
    return err;
}

static int place(int from, const void *header, size_t header_bytes,
                 uint64_t bulk_bytes, struct transport_sink *sink,
                 uint64_t *context_out)
{
    const struct wire_later *head = header;
    struct later *later = NULL;
    int err;

    *context_out = 0;
    if (header_bytes < sizeof(*head)) {
        runtime_broken("node %d sent what follows a transfer, cut short", from);
        return DRASYNC_EINVAL;
    }
    later = take_announced(from, head->later);
    if (!later) /* the transfer was refused */
        return bulk_bytes ? DRASYNC_ENOMEM : 0;
    err = keep_runs(later, header, header_bytes);
    if (!err)
        err = sink_runs(later, sink);
    if (!err && sink->bytes != bulk_bytes)
        err = DRASYNC_EINVAL;
    if (err == DRASYNC_EINVAL)
        runtime_broken("node %d sent what follows a transfer, broken", from);
    if (err) {
        end(later, err);
        return err;
    }
    *context_out = (uint64_t)(uintptr_t)later;
    return 0;
}

static void arrived(int from, const void *header, size_t header_bytes,
                    uint64_t context)
{
    struct later *later = (struct later *)(uintptr_t)context;
    struct fill *fill;
    void *v;

    (void)from;
    (void)header;
    (void)header_bytes;
    if (!later)
        return;
    if (!later->base) {
        end(later, 0);
        return;
    }
    if (control_alloc_zero(&runtime.space, sizeof(*fill), &v)) {
        end(later, DRASYNC_ENOMEM);
        return;
    }
    fill = v;
    fill->later = later;
    chore_begin(&fill->chore, CHORE_NATIVE_FILL);
}

/* How many pages from fill->page on, up to @pages, did not come; 0: this one
 * did, and fill->page goes behind its run. */
static uint64_t missing(struct fill *fill, uint64_t pages)
{
    const struct later *later = fill->later;
    const struct delta_run *run = &later->run[fill->run];

    /* Those behind what is used of the extents before this one. */
    for (; fill->run < later->runs && run->extent < fill->extent; run++)
        fill->run++;
    if (fill->run == later->runs || run->extent != fill->extent)
        return pages - fill->page;
    if (fill->page < run->page)
        return run->page - fill->page;
    fill->page = run->page + run->pages;
    fill->run++;
    return 0;
}

/* Some pages of an extent, at most *budget. */
static int fill_extent(struct fill *fill, uint64_t used_bytes, uint64_t *budget)
{
    const struct later *later = fill->later;
    uint64_t to = later->frames->set->run[fill->extent].offset;
    uint64_t from = later->base->set->run[fill->extent].offset;
    uint64_t pages = space_pages_for(used_bytes);
    int err = 0;

    while (fill->page < pages && *budget && !err) {
        uint64_t at = fill->page << PAGE_SHIFT, count = missing(fill, pages);
        uint64_t bytes;

        if (!count)
            continue;
        count = count < *budget ? count : *budget;
        bytes = count << PAGE_SHIFT;
        bytes = bytes < used_bytes - at ? bytes : used_bytes - at;
        err = frames_copy(&runtime.space, to + at, from + at, bytes);
        runtime_count(native.self, RUNTIME_COUNT_BYTES_COPIED, bytes);
        fill->page += count;
        *budget -= count;
    }
    return err;
}

/* Without a lock: the transfer that arrives keeps both copies as they are. */
static bool fill_piece(struct runtime_chore *chore)
{
    struct fill *fill = (struct fill *)(void *)chore;
    struct later *later = fill->later;
    uint64_t extents = later->base->set->runs, budget = CHORE_PIECE_PAGES;
    int err = atomic_load(runtime_poisoned) ? DRASYNC_EPEER : 0;

    if (extents > later->extents)
        extents = later->extents;
    while (!err && budget && fill->extent < extents) {
        uint64_t used_bytes = later->extent[fill->extent].used_bytes;

        err = fill_extent(fill, used_bytes, &budget);
        if (fill->page >= space_pages_for(used_bytes)) {
            fill->extent++;
            fill->page = 0;
        }
    }
    if (!err && fill->extent < extents)
        return false;
    end(later, err);
    control_free(&runtime.space, fill);
    return true;
}

void native_later_receive_start(void)
{
    static const struct runtime_handler handler = {
        .place = place,
        .arrived = arrived,
        .sent = native_wire_sent,
    };

    runtime_handle(RUNTIME_KIND_NATIVE_LATER, &handler);
    chore_handle(CHORE_NATIVE_FILL, fill_piece);
}

_Static_assert(RUNTIME_KIND_NATIVE + PROTO_MESSAGE_TYPES <=
                   RUNTIME_KIND_NATIVE_LATER,
               "the kinds of the protocol come before it");
