/*
 * What this process has mapped at the addresses of regions.
 *
 * All addresses show primary frames, but for the runs in a sorted table here,
 * and those that replicated regions left (frames_forget()).
 * Before a hold is used its frames are looked up: if a region's set is the one
 * seen last (same id, same length) nothing is to do; else run by run.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "memory/dump.h"
#include "memory/frames.h"
#include "memory/grow.h"
#include "runtime/native/map.h"
#include "runtime/native/state.h"
#include "runtime/process.h"
#include "runtime/say.h"
#include "runtime/thread.h"

#define SEEN_SLOTS  8192
#define TREES_SLOTS 256

/* A run that shows other than its primary frames. */
struct mapped {
    uint64_t first, pages, offset;
};

/* The set of a region that was shown last. */
struct seen {
    uint64_t address, id, runs;
};

/* A subtree whose newest copies are all shown, by the stamp of its tree. */
struct current {
    uint64_t address, incarnation, layout, disturbance;
};

static pthread_mutex_t map_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct mapped *shown;
static size_t mapped_count, mapped_room;

/* As many, for who has not the map lock.  Relaxed: what was shown of a region is
 * ordered by its tree's lock. */
static _Atomic size_t mapped_hint;
static struct seen seen[SEEN_SLOTS];
static _Atomic uint64_t disturbance;

/* This thread's TREES_SLOTS; NULL: none yet. */
static _Thread_local struct current *trees;

void native_map_lock(void)
{
    pthread_mutex_lock(&map_mutex);
}

void native_map_unlock(void)
{
    pthread_mutex_unlock(&map_mutex);
}

static uint64_t hash_of(uint64_t address)
{
    return space_page_hash(address, 32);
}

/* The first shown run that ends after @page. */
static size_t mapped_after(uint64_t page)
{
    size_t low = 0, high = mapped_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (shown[middle].first + shown[middle].pages <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int mapped_reserve(size_t more)
{
    size_t room = mapped_room ? mapped_room : 64;
    struct mapped *grown;

    while (room < mapped_count + more)
        room *= 2;
    if (room == mapped_room)
        return 0;
    grown = realloc(shown, room * sizeof(*grown));
    if (!grown)
        return DRASYNC_ENOMEM;
    shown = grown;
    mapped_room = room;
    return 0;
}

static void mapped_replace(size_t at, size_t old, const struct mapped *with,
                           size_t count)
{
    memmove(shown + at + count, shown + at + old,
            (mapped_count - at - old) * sizeof(*shown));
    memcpy(shown + at, with, count * sizeof(*shown));
    mapped_count = mapped_count - old + count;
    atomic_store_explicit(&mapped_hint, mapped_count, memory_order_relaxed);
}

/* Callers know no error but that memory is short.  Once. */
static void say_too_many(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&said))
        runtime_say("the system gives this process no more mappings, so copies "
                    "of regions are given up, and if that does not help calls "
                    "return DRASYNC_ENOMEM: raise vm.max_map_count (sysctl)");
}

/* Let [first, first + pages) show the frames at @offset; map lock held. */
static int show_run(uint64_t first, uint64_t pages, uint64_t offset)
{
    bool primary = offset == space_page_offset(first);
    uint64_t end = first + pages;
    size_t at = mapped_after(first), last = at, n = 0;
    struct mapped parts[3];
    int err;

    err = frames_forget(first, pages);
    if (err)
        return err;
    while (last < mapped_count && shown[last].first < end)
        last++;
    if (primary && last == at)
        return 0;
    if (!primary && last == at + 1 && shown[at].first == first &&
        shown[at].pages == pages && shown[at].offset == offset)
        return 0;
    err = mapped_reserve(3);
    if (!err)
        err = frames_map(&runtime.space, first, pages, offset);
    if (err == DRASYNC_ELIMIT) {
        say_too_many();
        err = DRASYNC_ENOMEM;
    }
    if (err)
        return err;
    /* What is left of runs that this one covers in part. */
    if (last > at && shown[at].first < first)
        parts[n++] = (struct mapped){shown[at].first, first - shown[at].first,
                                     shown[at].offset};
    if (!primary)
        parts[n++] = (struct mapped){first, pages, offset};
    if (last > at && shown[last - 1].first + shown[last - 1].pages > end) {
        const struct mapped *s = &shown[last - 1];

        parts[n++] =
            (struct mapped){end, s->first + s->pages - end,
                            s->offset + ((end - s->first) << PAGE_SHIFT)};
    }
    mapped_replace(at, last - at, parts, n);
    return 0;
}

int native_map_primary(uint64_t first_page, uint64_t pages)
{
    int err;

    native_map_lock();
    err = show_run(first_page, pages, space_page_offset(first_page));
    native_map_unlock();
    return err;
}

/* What shows at @page, and on how many pages from there on in one piece. */
static uint64_t mapped_offset(uint64_t page, uint64_t *pages_out)
{
    size_t at = mapped_after(page);
    const struct mapped *s = &shown[at];

    if (at == mapped_count || s->first > page) {
        *pages_out = at == mapped_count ? UINT64_MAX : s->first - page;
        return space_page_offset(page);
    }
    *pages_out = s->first + s->pages - page;
    return s->offset + ((page - s->first) << PAGE_SHIFT);
}

bool native_mapped_primary(uint64_t page)
{
    uint64_t pages, offset;

    if (!atomic_load_explicit(&mapped_hint, memory_order_relaxed))
        return true;
    native_map_lock();
    offset = mapped_offset(page, &pages);
    native_map_unlock();
    return offset == space_page_offset(page);
}

bool native_mapped(const void *ptr, uint64_t bytes, uint64_t *offset_out)
{
    uint64_t within = (uint64_t)(uintptr_t)ptr % PAGE_BYTES;
    uint64_t page = space_page(&runtime.space, ptr), pages, offset;
    uint64_t left = space_pages_for(within + bytes);

    native_map_lock();
    *offset_out = offset = mapped_offset(page, &pages);
    *offset_out += within;
    while (pages < left) {
        uint64_t next;

        page += pages;
        left -= pages;
        offset += pages << PAGE_SHIFT;
        next = mapped_offset(page, &pages);
        if (next != offset)
            break;
    }
    native_map_unlock();
    return pages >= left;
}

static int show_frames(const struct native_frames *frames)
{
    const struct frameset *set = frames->set;
    int err = 0;

    for (uint64_t i = 0; i < set->runs && !err; i++)
        err = show_run(set->run[i].first_page, set->run[i].pages,
                       set->run[i].offset);
    return err;
}

/* --- Views ---------------------------------------------------------------- */

static bool current(uint64_t address, uint64_t incarnation, uint64_t layout)
{
    const struct current *c;

    if (!trees)
        return false;
    c = &trees[hash_of(address) % TREES_SLOTS];
    return c->address == address && c->incarnation == incarnation &&
           c->layout == layout &&
           c->disturbance ==
               atomic_load_explicit(&disturbance, memory_order_relaxed);
}

bool native_mapping_current(const struct proto_region *region)
{
    return current(region->address, region->incarnation, region->root->layout);
}

bool native_mapping_granted(uint64_t address, const struct native_wait *wait)
{
    return current(address, wait->incarnation, wait->layout);
}

bool native_mapping_primary(void)
{
    return !atomic_load_explicit(&mapped_hint, memory_order_relaxed);
}

void native_mapping_remember(const struct proto_region *region)
{
    if (!trees) {
        if (thread_watch())
            return;
        trees = calloc(TREES_SLOTS, sizeof(*trees));
        if (!trees)
            return;
    }
    trees[hash_of(region->address) % TREES_SLOTS] = (struct current){
        .address = region->address,
        .incarnation = region->incarnation,
        .layout = region->root->layout,
        .disturbance = atomic_load(&disturbance),
    };
}

void native_mapping_forget(void)
{
    free(trees);
    trees = NULL;
}

void native_mapping_disturbed(void)
{
    atomic_fetch_add(&disturbance, 1);
}

void native_mapping_add(struct native_mapping *view, uint64_t address,
                        struct native_frames *frames)
{
    struct seen *s = &seen[hash_of(address) % SEEN_SLOTS];
    struct native_frames **grown;

    if (s->address == address && s->id == frames->id &&
        s->runs == frames->set->runs)
        return;
    grown =
        room_for_one(view->frames, view->count, &view->room, sizeof(*grown));
    if (!grown) {
        view->failed = true;
        return;
    }
    view->frames = grown;
    view->frames[view->count++] = frames;
}

int native_mapping_show(struct native_mapping *view)
{
    int err = view->failed ? DRASYNC_ENOMEM : 0;

    for (uint64_t i = 0; i < view->count && !err; i++) {
        const struct native_frames *f = view->frames[i];
        struct seen *s;
        uint64_t address;

        if (f->set->runs == 0)
            continue;
        address = (uint64_t)(uintptr_t)space_address(&runtime.space,
                                                     f->set->run[0].first_page);
        s = &seen[hash_of(address) % SEEN_SLOTS];
        /* Part of it may show, if not all does. */
        *s = (struct seen){0};
        err = show_frames(f);
        if (!err)
            *s = (struct seen){address, f->id, f->set->runs};
    }
    free(view->frames);
    *view = (struct native_mapping){0};
    /* What another rank has made since is this one's to see. */
    dump_refresh(&runtime.space);
    return err;
}
