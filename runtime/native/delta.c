#include "runtime/native/delta.h"
#include "memory/grow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "memory/control.h"
#include "runtime/process.h"

#ifdef HAVE_XXHASH

#ifdef HAVE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif

/* How many versions' hashes are remembered by what changed since. */
#define VERSIONS 16

/* After so many answers that were nearly whole in a row, pause; at most so
 * long. */
#define MISSES_MAX 2
#define PAUSE_MAX  64

/* After so many versions noted in vain, one in so many is. */
#define IN_VAIN_MAX 16

struct page {
    XXH128_hash_t hash;
    uint64_t changed; /* the first noted version that has this hash */
};

struct native_delta {
    uint64_t reserved[2];
    uint64_t version[VERSIONS]; /* noted, newest first; 0: none */
    uint64_t pages;
    uint32_t misses; /* in a row */
    uint32_t pause;  /* answers yet to be sent whole */
    struct page page[];
};

/* A place for the hashes of all pages; what is known is kept. */
static struct native_delta *make_room(struct native_memory *memory)
{
    struct native_delta *old = memory->delta, *delta;
    uint64_t pages = memory->pages;
    size_t bytes = sizeof(*delta) + pages * sizeof(delta->page[0]);
    void *v;

    if (old && old->pages >= pages)
        return old;
    if (control_alloc_zero(&runtime.space, bytes, &v))
        return NULL;
    delta = v;
    if (old)
        memcpy(delta, old, sizeof(*old) + old->pages * sizeof(old->page[0]));
    delta->pages = pages;
    memory->delta = delta;
    control_free(&runtime.space, old);
    return delta;
}

/* No @bytes: a page that is not sent, and whose contents nobody knows. */
static void note_page(struct page *page, const char *data, uint64_t bytes,
                      uint64_t version)
{
    XXH128_hash_t hash = {0, 0};

    if (bytes)
        hash = XXH3_128bits(data, bytes);
    if (XXH128_isEqual(hash, page->hash))
        return;
    page->hash = hash;
    page->changed = version;
}

/* Note @set as @version. */
static void note(struct native_delta *delta, const struct frameset *set,
                 uint64_t version)
{
    struct page *page = delta->page;

    for (uint64_t i = 0; i < set->runs; page += set->run[i++].pages) {
        uint64_t used = native_used_bytes(&set->run[i]);
        const char *data = space_window(&runtime.space, set->run[i].offset,
                                        set->run[i].pages << PAGE_SHIFT);

        for (uint64_t n = 0; n < set->run[i].pages; n++) {
            uint64_t at = n << PAGE_SHIFT, left = used > at ? used - at : 0;

            note_page(&page[n], data + at,
                      left < PAGE_BYTES ? left : PAGE_BYTES, version);
        }
    }
    memmove(delta->version + 1, delta->version,
            sizeof(delta->version) - sizeof(delta->version[0]));
    delta->version[0] = version;
}

static bool noted(const struct native_delta *delta, uint64_t version)
{
    for (int i = 0; i < VERSIONS; i++)
        if (delta->version[i] == version)
            return version != 0;
    return false;
}

static bool add_page(struct delta_runs *runs, uint64_t extent, uint64_t page)
{
    struct delta_run *last = runs->run + runs->count;
    struct delta_run *grown;

    if (runs->count && last[-1].extent == extent &&
        last[-1].page + last[-1].pages == page) {
        last[-1].pages++;
        return true;
    }
    grown = room_for_one(runs->run, runs->count, &runs->room, sizeof(*grown));
    if (!grown)
        return false;
    runs->run = grown;
    runs->run[runs->count++] = (struct delta_run){extent, page, 1};
    return true;
}

/* The pages that changed since @base; their number, or UINT64_MAX. */
static uint64_t list_changed(const struct native_delta *delta,
                             const struct frameset *set, uint64_t base,
                             struct delta_runs *runs)
{
    const struct page *page = delta->page;
    uint64_t changed = 0;

    for (uint64_t i = 0; i < set->runs; page += set->run[i++].pages) {
        uint64_t used = native_used_bytes(&set->run[i]);

        for (uint64_t n = 0; n << PAGE_SHIFT < used; n++) {
            if (page[n].changed <= base)
                continue;
            changed++;
            if (!add_page(runs, i, n))
                return UINT64_MAX;
        }
    }
    return changed;
}

/* Nearly all had changed: it was not worth looking. */
static void missed(struct native_delta *delta)
{
    delta->misses++;
    if (delta->misses >= MISSES_MAX)
        delta->pause = delta->misses < 6 ? 1u << delta->misses : PAUSE_MAX;
}

/* What matters of @set. */
static uint64_t used_all(const struct frameset *set)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < set->runs; i++)
        bytes += native_used_bytes(&set->run[i]);
    return bytes;
}

/* *bytes_out: what matters of @frames, if that is worth it. */
static bool size_fits(const struct native_memory *memory,
                      const struct native_frames *frames, uint64_t *bytes_out)
{
    if (memory->pages << PAGE_SHIFT < DELTA_BYTES_MIN)
        return false;
    *bytes_out = used_all(frames->set);
    return *bytes_out >= DELTA_BYTES_MIN && *bytes_out <= DELTA_BYTES_MAX;
}

/* The more were noted in vain, the fewer are. */
static bool worth_noting(void)
{
    uint32_t n = atomic_fetch_add(&native.shared->noted_in_vain, 1);

    return n < IN_VAIN_MAX || n % IN_VAIN_MAX == 0;
}

void native_delta_sent(struct native_memory *memory,
                       const struct native_frames *frames, uint64_t version)
{
    struct native_delta *delta = memory->delta;
    uint64_t bytes;

    if (!size_fits(memory, frames, &bytes) ||
        (delta && (delta->pause || delta->version[0] >= version)) ||
        !worth_noting())
        return;
    delta = make_room(memory);
    if (delta)
        note(delta, frames->set, version);
}

bool native_delta_since(struct native_memory *memory,
                        const struct native_frames *frames, uint64_t version,
                        uint64_t base, struct delta_runs *runs)
{
    const struct frameset *set = frames->set;
    struct native_delta *delta;
    uint64_t bytes, changed;

    if (!size_fits(memory, frames, &bytes))
        return false;
    delta = make_room(memory);
    if (!delta)
        return false;
    if (delta->pause) {
        delta->pause--;
        return false;
    }
    if (delta->version[0] > version)
        return false; /* a copy passed on, and a later one was sent already */
    if (delta->version[0] < version)
        note(delta, set, version);
    if (!noted(delta, base))
        return false;
    atomic_store(&native.shared->noted_in_vain, 0);
    changed = list_changed(delta, set, base, runs);
    if (changed <= (bytes >> PAGE_SHIFT) * 3 / 4) {
        delta->misses = 0;
        return true;
    }
    missed(delta);
    free(runs->run);
    *runs = (struct delta_runs){0};
    return false;
}

void native_delta_free(struct native_memory *memory)
{
    control_free(&runtime.space, memory->delta);
    memory->delta = NULL;
}

#else /* without the hash, all is sent */

bool native_delta_since(struct native_memory *memory,
                        const struct native_frames *frames, uint64_t version,
                        uint64_t base, struct delta_runs *runs)
{
    (void)memory;
    (void)frames;
    (void)version;
    (void)base;
    (void)runs;
    return false;
}

void native_delta_sent(struct native_memory *memory,
                       const struct native_frames *frames, uint64_t version)
{
    (void)memory;
    (void)frames;
    (void)version;
}

void native_delta_free(struct native_memory *memory)
{
    (void)memory;
}

#endif
