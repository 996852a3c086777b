/* Twins of regions, and what differs from them: see diff.h. */
#include "runtime/native/diff.h"
#include "runtime/native/frames.h"

#include <assert.h>
#include <string.h>

#include "memory/control.h"
#include "memory/limit.h"
#include "runtime/process.h"

/* Words are compared so many at a time, the line of a cache. */
#define LINE_WORDS 8

/* Runs with so many equal words between them are one: a run takes half a word. */
#define GAP_WORDS 1

/* After so many answers in a row that it was no use for, pause; at most so
 * long. */
#define MISSES_MAX 2
#define PAUSE_MAX  64

_Static_assert(DIFF_BYTES_MAX / DIFF_WORD_BYTES <= 1 << 20, "see diff_run()");
_Static_assert(DIFF_RUN_WORDS_MAX == 1 << 12, "see diff_run()");

/* In control memory.  A twin of no version has only to be filled. */
struct native_twin {
    uint64_t reserved[2]; /* control_free() overwrites them */
    uint64_t bytes;       /* of all this */
    uint64_t version;     /* 0: none */
    uint64_t base;        /* run[] is what changed from here to `version`; 0 */
    uint64_t pages;
    uint32_t extents, misses, pause;
    uint32_t runs, room;
    uint64_t words;
    uint64_t used_words[DIFF_EXTENTS_MAX];
    uint32_t *run; /* [room] */
    uint64_t data[];
};

static uint64_t used_words(const struct native_frames *frames, uint64_t i)
{
    return (native_used_bytes(frames, i) + DIFF_WORD_BYTES - 1) /
           DIFF_WORD_BYTES;
}

static uint64_t *words_of(const struct frameset_run *run)
{
    return space_window(&runtime.space, run->offset, run->pages << PAGE_SHIFT);
}

/* Is it worth it for @frames, which have *@pages_out pages? */
static bool size_fits(const struct native_frames *frames, uint64_t *pages_out)
{
    const struct frameset *set = frames->set;
    uint64_t bytes = 0, pages = 0;

    if (set->runs > DIFF_EXTENTS_MAX)
        return false;
    for (uint64_t i = 0; i < set->runs; i++) {
        bytes += native_used_bytes(frames, i);
        pages += set->run[i].pages;
    }
    *pages_out = pages;
    return bytes >= DIFF_BYTES_MIN && pages <= DIFF_BYTES_MAX >> PAGE_SHIFT;
}

void native_diff_free(struct native_memory *memory)
{
    struct native_twin *twin = memory->twin;

    if (!twin)
        return;
    memory->twin = NULL;
    atomic_fetch_sub(&native.shared->twin_bytes, twin->bytes);
    control_free(&runtime.space, twin);
}

/* One of @pages pages, empty; NULL: it would be too much, or no memory. */
static struct native_twin *twin_new(struct native_memory *memory,
                                    uint32_t extents, uint64_t pages)
{
    uint32_t room = (uint32_t)(pages * DIFF_PAGE_WORDS / 2);
    uint64_t bytes = sizeof(struct native_twin) + (pages << PAGE_SHIFT) +
                     room * sizeof(uint32_t);
    uint64_t most = limit_bytes(&runtime.space) / DIFF_MEMORY_PART;
    struct native_twin *twin;
    void *v;

    native_diff_free(memory);
    if (atomic_fetch_add(&native.shared->twin_bytes, bytes) + bytes > most ||
        control_alloc(&runtime.space, bytes, &v)) {
        atomic_fetch_sub(&native.shared->twin_bytes, bytes);
        return NULL;
    }
    twin = v;
    memset(twin, 0, sizeof(*twin));
    twin->bytes = bytes;
    twin->pages = pages;
    twin->extents = extents;
    twin->room = room;
    twin->run = (uint32_t *)(void *)(twin->data + pages * DIFF_PAGE_WORDS);
    memory->twin = twin;
    return twin;
}

/* It is like @frames now, and nobody knows what changed. */
static void fill(struct native_twin *twin, const struct native_frames *frames,
                 uint64_t version)
{
    const struct frameset *set = frames->set;
    uint64_t *data = twin->data;

    for (uint64_t i = 0; i < set->runs; i++) {
        const struct frameset_run *run = &set->run[i];

        twin->used_words[i] = used_words(frames, i);
        memcpy(data, words_of(run), twin->used_words[i] * DIFF_WORD_BYTES);
        data += run->pages * DIFF_PAGE_WORDS;
    }
    twin->version = version;
    twin->base = 0;
}

/* Words [at, at + words) of the extent that begins at @first have changed.
 * False: that is too much. */
static bool add_run(struct native_twin *twin, uint64_t first, uint64_t at,
                    uint64_t words)
{
    uint32_t *last = twin->runs ? &twin->run[twin->runs - 1] : NULL;

    if (last && diff_at(*last) >= first) {
        uint64_t from = diff_at(*last), length = at + words - from;

        if (length - words - diff_words(*last) <= GAP_WORDS &&
            length <= DIFF_RUN_WORDS_MAX) {
            twin->words += length - diff_words(*last);
            *last = diff_run(from, length);
            return true;
        }
    }
    if (twin->runs == twin->room)
        return false;
    twin->run[twin->runs++] = diff_run(at, words);
    twin->words += words;
    return true;
}

static uint64_t line_differs(const uint64_t *a, const uint64_t *b)
{
    uint64_t differs = 0;

    for (int i = 0; i < LINE_WORDS; i++)
        differs |= a[i] ^ b[i];
    return differs;
}

/* Words [from, to) of an extent, whose first one has number @first: note those
 * that differ, and make the twin like them.  False: too many. */
static bool compare(struct native_twin *twin, uint64_t *old,
                    const uint64_t *new, uint64_t first, uint64_t from,
                    uint64_t to)
{
    for (uint64_t n = from; n < to; n++) {
        if (n % LINE_WORDS == 0)
            while (n + LINE_WORDS <= to && !line_differs(old + n, new + n))
                n += LINE_WORDS;
        if (n == to)
            break;
        if (old[n] == new[n])
            continue;
        old[n] = new[n];
        if (!add_run(twin, first, first + n, 1))
            return false;
    }
    return true;
}

/* Words that were not in use before, whatever is there. */
static bool take_new(struct native_twin *twin, uint64_t *old,
                     const uint64_t *new, uint64_t first, uint64_t from,
                     uint64_t to)
{
    for (uint64_t n = from; n < to;) {
        uint64_t words =
            to - n < DIFF_RUN_WORDS_MAX ? to - n : DIFF_RUN_WORDS_MAX;

        memcpy(old + n, new + n, words * DIFF_WORD_BYTES);
        if (!add_run(twin, first, first + n, words))
            return false;
        n += words;
    }
    return true;
}

/* Make it like @frames, and note what changes by that.  False: too much; it is
 * no version then. */
static bool update(struct native_twin *twin, const struct native_frames *frames,
                   uint64_t version)
{
    const struct frameset *set = frames->set;
    uint64_t first = 0, used = 0;
    bool few = true;

    twin->base = twin->version;
    twin->version = version;
    twin->runs = 0;
    twin->words = 0;
    for (uint64_t i = 0; i < set->runs && few; i++) {
        const struct frameset_run *run = &set->run[i];
        uint64_t words = used_words(frames, i), before = twin->used_words[i];
        uint64_t *old = twin->data + first;
        const uint64_t *new = words_of(run);

        few =
            compare(twin, old, new, first, 0,
                    before < words ? before : words) &&
            (words <= before || take_new(twin, old, new, first, before, words));
        twin->used_words[i] = words;
        used += words;
        first += run->pages * DIFF_PAGE_WORDS;
    }
    if (few && twin->words + twin->runs / 2 <= used / 2)
        return true;
    twin->version = twin->base = 0;
    return false;
}

/* It was no use. */
static bool missed(struct native_twin *twin)
{
    twin->misses++;
    if (twin->misses >= MISSES_MAX)
        twin->pause = twin->misses < 6 ? 1u << twin->misses : PAUSE_MAX;
    return false;
}

bool native_diff_since(const struct proto_region *region,
                       const struct native_frames *frames, uint64_t version,
                       uint64_t base, struct native_diff *diff_out)
{
    struct native_memory *memory = region->memory;
    const struct frameset *set = frames->set;
    struct native_twin *twin = memory->twin;
    uint64_t pages;

    if (!base || !size_fits(frames, &pages))
        return false;
    if (!twin || twin->extents != set->runs || twin->pages != pages)
        twin = twin_new(memory, (uint32_t)set->runs, pages);
    if (!twin || twin->version > version) /* a copy passed on */
        return false;
    if (twin->pause) {
        twin->pause--;
        twin->version = 0;
        return false;
    }
    if (twin->version != version) {
        if (twin->version != base) {
            bool first = !twin->version;

            fill(twin, frames, version);
            return first ? false : missed(twin);
        }
        if (!update(twin, frames, version))
            return missed(twin);
    }
    if (twin->base != base)
        return false;
    twin->misses = 0;
    *diff_out = (struct native_diff){twin->run, twin->runs, twin->words};
    return true;
}

bool native_diff_works(const struct native_memory *memory)
{
    return memory->twin && memory->twin->version && !memory->twin->misses;
}

/* The twin that versions from other nodes are kept in, of as many pages as
 * @frames have; NULL: none. */
static struct native_twin *twin_of(const struct native_memory *memory,
                                   const struct native_frames *frames)
{
    const struct frameset *set = frames->set;
    struct native_twin *twin = memory->twin;
    uint64_t pages;

    return twin && !twin->pause && size_fits(frames, &pages) &&
                   twin->extents == set->runs && twin->pages == pages
               ? twin
               : NULL;
}

void native_diff_arrived(struct native_memory *memory,
                         const struct native_frames *frames, uint64_t version)
{
    struct native_twin *twin = twin_of(memory, frames);

    if (twin && twin->version < version)
        fill(twin, frames, version);
}

void native_diff_follow(struct native_memory *memory,
                        const struct native_frames *frames, uint64_t version,
                        uint64_t base, const uint32_t *run, uint64_t runs,
                        const uint64_t *words)
{
    const struct frameset *set = frames->set;
    struct native_twin *twin = twin_of(memory, frames);

    if (!twin || twin->version != base)
        return;
    for (uint64_t i = 0; i < runs; i++) {
        memcpy(twin->data + diff_at(run[i]), words,
               diff_words(run[i]) * DIFF_WORD_BYTES);
        words += diff_words(run[i]);
    }
    for (uint64_t i = 0; i < set->runs; i++)
        twin->used_words[i] = used_words(frames, i);
    twin->version = version;
    twin->base = 0;
}

/* --- Runs and extents ------------------------------------------------------ */

void native_diff_gather(const struct native_diff *diff,
                        const struct native_frames *frames, uint64_t *words)
{
    const struct frameset_run *extent = frames->set->run;
    uint64_t first = 0;

    for (uint32_t i = 0; i < diff->runs; i++) {
        uint64_t at = diff_at(diff->run[i]), count = diff_words(diff->run[i]);

        while (at - first >= extent->pages * DIFF_PAGE_WORDS)
            first += extent++->pages * DIFF_PAGE_WORDS;
        assert(at - first + count <= extent->pages * DIFF_PAGE_WORDS);
        memcpy(words, words_of(extent) + (at - first), count * DIFF_WORD_BYTES);
        words += count;
    }
}

void native_diff_apply(const struct frameset *set, const uint32_t *run,
                       uint64_t runs, const uint64_t *words)
{
    const struct frameset_run *extent = set->run;
    uint64_t first = 0;

    for (uint64_t i = 0; i < runs; i++) {
        uint64_t at = diff_at(run[i]), count = diff_words(run[i]);

        while (at - first >= extent->pages * DIFF_PAGE_WORDS)
            first += extent++->pages * DIFF_PAGE_WORDS;
        memcpy(words_of(extent) + (at - first), words, count * DIFF_WORD_BYTES);
        words += count;
    }
}
