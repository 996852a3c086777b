/* Which addresses core dumps show: see dump.h. */
#include "memory/dump.h"

#include "memory/os.h"
#include "memory/shared.h"

#include <pthread.h>
#include <stdatomic.h>

/* An update that other processes keep overtaking is left to the next. */
#define TRIES_MAX 16

/* Of this process.  The mutex is for `applied` and `seen`. */
static _Atomic uint64_t granules_max;
static pthread_mutex_t apply_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t applied[DUMP_RANGES_MAX];
static _Atomic uint64_t seen; /* of dump.changes */

/* A range of granules in one word. */
static uint64_t pack(uint64_t first, uint64_t end)
{
    return first << 32 | end;
}

static uint64_t first_of(uint64_t range)
{
    return range >> 32;
}

static uint64_t end_of(uint64_t range)
{
    return range & UINT32_MAX;
}

void dump_set(uint64_t bytes_max)
{
    pthread_mutex_lock(&apply_mutex);
    for (int i = 0; i < DUMP_RANGES_MAX; i++)
        applied[i] = 0;
    atomic_store(&seen, 0);
    atomic_store(&granules_max, bytes_max / DUMP_GRANULE_BYTES);
    pthread_mutex_unlock(&apply_mutex);
}

void dump_refresh(const struct space *space)
{
    struct dump *dump = &shared_of(space)->dump;
    /* With the release of count_change(): who sees the count sees the range. */
    uint64_t changes =
        atomic_load_explicit(&dump->changes, memory_order_acquire);

    /* Written under the mutex; an old value costs a look. */
    if (changes == atomic_load_explicit(&seen, memory_order_relaxed) ||
        !atomic_load_explicit(&granules_max, memory_order_relaxed))
        return;
    pthread_mutex_lock(&apply_mutex);
    for (int i = 0; i < DUMP_RANGES_MAX; i++) {
        /* Later changes are counted later. */
        uint64_t range =
            atomic_load_explicit(&dump->ranges[i], memory_order_relaxed);

        if (range == applied[i])
            continue;
        os_dump(space->base + first_of(range) * DUMP_GRANULE_BYTES,
                (end_of(range) - first_of(range)) * DUMP_GRANULE_BYTES);
        applied[i] = range;
    }
    atomic_store_explicit(&seen, changes, memory_order_relaxed);
    pthread_mutex_unlock(&apply_mutex);
}

static void count_change(struct dump *dump)
{
    /* After the range; pairs with dump_refresh(). */
    atomic_fetch_add_explicit(&dump->changes, 1, memory_order_release);
}

/* As many of @wanted granules as there is still room for. */
static uint64_t claim(struct dump *dump, uint64_t wanted)
{
    uint64_t max = atomic_load_explicit(&granules_max, memory_order_relaxed);
    /* A count that orders nothing. */
    uint64_t used = atomic_load_explicit(&dump->granules, memory_order_relaxed);
    uint64_t got;

    do {
        got = used >= max ? 0 : max - used;
        if (got > wanted)
            got = wanted;
    } while (!atomic_compare_exchange_weak_explicit(
        &dump->granules, &used, used + got, memory_order_relaxed,
        memory_order_relaxed));
    return got;
}

/*
 * Make range @i, which was @range, hold [first, end) too; both touch.  A range
 * grows upwards as far as there is room, and downwards whole or not.
 */
static void grow(struct dump *dump, int i, uint64_t range, uint64_t first,
                 uint64_t end)
{
    uint64_t low = range ? first_of(range) : first;
    uint64_t high = range ? end_of(range) : first;
    uint64_t below = first < low ? low - first : 0;
    uint64_t above = end > high ? end - high : 0;
    uint64_t got = claim(dump, below + above);
    uint64_t kept = got < below ? 0 : got;

    if (kept) {
        low -= below;
        high += kept - below;
        /* Others must see the word and nothing else; changes orders it. */
        if (atomic_compare_exchange_strong_explicit(
                &dump->ranges[i], &range, pack(low, high), memory_order_relaxed,
                memory_order_relaxed))
            count_change(dump);
        else
            kept = 0;
    }
    atomic_fetch_sub_explicit(&dump->granules, got - kept,
                              memory_order_relaxed);
}

/* The range that has [first, end) in it or touches it, or is free; -1: none. */
static int find(struct dump *dump, uint64_t first, uint64_t end,
                uint64_t *range_out)
{
    int touching = -1, empty = -1;

    for (int i = 0; i < DUMP_RANGES_MAX; i++) {
        uint64_t range =
            atomic_load_explicit(&dump->ranges[i], memory_order_relaxed);

        if (range && first_of(range) <= first && end <= end_of(range)) {
            *range_out = range;
            return i;
        }
        if (range && touching < 0 && first_of(range) <= end &&
            first <= end_of(range)) {
            touching = i;
            *range_out = range;
        }
        if (!range) {
            empty = i;
            break;
        }
    }
    if (touching < 0)
        *range_out = 0;
    return touching >= 0 ? touching : empty;
}

bool dump_cover(const struct space *space, uint64_t first_page, uint64_t pages)
{
    struct dump *dump = &shared_of(space)->dump;
    uint64_t bytes = space_page_offset(first_page + pages), range;
    uint64_t first = space_page_offset(first_page) / DUMP_GRANULE_BYTES;
    uint64_t end = (bytes + DUMP_GRANULE_BYTES - 1) / DUMP_GRANULE_BYTES;

    if (!atomic_load_explicit(&granules_max, memory_order_relaxed))
        return false;
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        int i = find(dump, first, end, &range);

        if (i < 0)
            return false;
        if (range && first_of(range) <= first && end <= end_of(range)) {
            dump_refresh(space);
            return true;
        }
        if (atomic_load_explicit(&dump->granules, memory_order_relaxed) >=
            atomic_load_explicit(&granules_max, memory_order_relaxed))
            break;
        grow(dump, i, range, first, end);
    }
    dump_refresh(space);
    return false;
}

void dump_cover_control(const struct space *space, uint64_t offset,
                        uint64_t bytes)
{
    /* It comes after the data: in pages from the same base. */
    uint64_t at = (uint64_t)(space->control - space->base) + offset;
    uint64_t first = at >> PAGE_SHIFT;

    dump_cover(space, first,
               ((at + bytes + PAGE_BYTES - 1) >> PAGE_SHIFT) - first);
}
