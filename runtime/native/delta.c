/* Hashes of pages, noted in pieces, and what they say: see delta.h. */
#include "runtime/native/delta.h"
#include "memory/grow.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "memory/control.h"
#include "runtime/process.h"

#ifdef HAVE_XXHASH

#include "runtime/native/frames.h"
#include "runtime/native/page_hash.h"

/* How many versions' hashes are remembered by what changed since. */
#define VERSIONS 16

/* After so many answers that were nearly whole in a row, pause; at most so
 * long. */
#define MISSES_MAX 2
#define PAUSE_MAX  64

/* After so many versions noted in vain, one in so many is. */
#define IN_VAIN_MAX 16

/* The hashes lie in pieces of so many pages (48 KiB), made as they are noted;
 * a region with more pages than all of them is sent whole. */
#define CHUNK_PAGES 2048
#define CHUNKS      256

/* A page that is hashed takes as long as so many that are only looked at. */
#define HASH_COST 64

/* So many pages are looked at in one piece for what changed; 0.1 ms. */
#define LISTED_PAGES ((uint64_t)32768)

struct page {
    XXH128_hash_t hash;
    uint64_t changed; /* the first noted version that has this hash */
};

/*
 * Versions are noted in their order, each in pieces, and a later one ends an
 * earlier one that is not all noted.  The pages of that which were noted stay
 * as they are, and that is safe: `changed` only grows, so a page whose `changed`
 * is not beyond a version that was all noted has had the contents of that one
 * whenever it was looked at since.
 */
struct native_delta {
    uint64_t reserved[2];
    uint64_t version[VERSIONS]; /* all noted, newest first; 0: none */
    uint64_t noting; /* this one is being noted, or was and will not be; and */
    uint64_t next;   /* its pages before this one are */
    uint32_t misses; /* in a row */
    uint32_t pause;  /* answers yet to be sent whole */
    struct page *chunk[CHUNKS];
};

/* A version that is sent and hashed afterwards. */
struct note {
    struct runtime_chore chore;
    uint64_t address, incarnation, version;
};

static struct native_delta *delta_of(struct native_memory *memory)
{
    void *v;

    if (!memory->delta &&
        !control_alloc_zero(&runtime.space, sizeof(*memory->delta), &v))
        memory->delta = v;
    return memory->delta;
}

/* Those of page @n, if it was ever noted; or NULL. */
static struct page *page_there(const struct native_delta *delta, uint64_t n)
{
    struct page *chunk = delta->chunk[n / CHUNK_PAGES];

    return chunk ? &chunk[n % CHUNK_PAGES] : NULL;
}

/* Those of page @n; NULL: no memory. */
static struct page *page_at(struct native_delta *delta, uint64_t n)
{
    struct page **chunk = &delta->chunk[n / CHUNK_PAGES];
    void *v;

    if (!*chunk &&
        !control_alloc_zero(&runtime.space, CHUNK_PAGES * sizeof(**chunk), &v))
        *chunk = v;
    return *chunk ? &(*chunk)[n % CHUNK_PAGES] : NULL;
}

/* No @bytes: a page that is not sent, and whose contents nobody knows. */
static void note_page(struct page *page, const char *data, uint64_t bytes,
                      uint64_t version)
{
    XXH128_hash_t hash = {0, 0};

    if (bytes)
        hash = page_hash(data, bytes);
    if (XXH128_isEqual(hash, page->hash))
        return;
    page->hash = hash;
    page->changed = version;
}

/* Pages of @run from page @from on, for at most *budget; the first page of @run
 * is page @before of the region, and @used bytes of it matter. */
static int note_run(struct native_delta *delta, const struct frameset_run *run,
                    uint64_t used, uint64_t before, uint64_t from,
                    int64_t *budget, uint64_t version)
{
    const char *data =
        space_window(&runtime.space, run->offset, run->pages << PAGE_SHIFT);

    for (uint64_t n = from; *budget > 0 && n < run->pages; n++) {
        uint64_t at = n << PAGE_SHIFT, left = used > at ? used - at : 0;
        struct page *page =
            left ? page_at(delta, before + n) : page_there(delta, before + n);

        if (left && !page)
            return DRASYNC_ENOMEM;
        if (page)
            note_page(page, data + at, left < PAGE_BYTES ? left : PAGE_BYTES,
                      version);
        *budget -= left ? HASH_COST : 1;
        delta->next++;
    }
    return 0;
}

/* What it takes to note @frames, of *budget of native_delta_note(). */
static uint64_t note_cost(const struct native_frames *frames)
{
    const struct frameset *set = frames->set;
    uint64_t cost = 0;

    for (uint64_t i = 0; i < set->runs; i++)
        cost += set->run[i].pages +
                space_pages_for(native_used_bytes(frames, i)) * (HASH_COST - 1);
    return cost;
}

static bool noted_in_one(const struct native_frames *frames)
{
    return note_cost(frames) <= CHORE_PIECE_PAGES * HASH_COST;
}

int native_delta_note(struct native_memory *memory,
                      const struct native_frames *frames, uint64_t version)
{
    const struct frameset *set = frames->set;
    struct native_delta *delta = delta_of(memory);
    int64_t budget = (int64_t)CHORE_PIECE_PAGES * HASH_COST;
    uint64_t before = 0;
    int err = 0;

    if (!delta)
        return DRASYNC_ENOMEM;
    if (delta->version[0] == version)
        return 0;
    if (delta->version[0] > version || delta->noting > version)
        return DRASYNC_EDELETED;
    if (delta->noting != version)
        delta->next = 0;
    delta->noting = version;
    for (uint64_t i = 0; i < set->runs && !err; i++) {
        const struct frameset_run *run = &set->run[i];

        if (delta->next < before + run->pages)
            err = note_run(delta, run, native_used_bytes(frames, i), before,
                           delta->next - before, &budget, version);
        before += run->pages;
        if (!err && delta->next < before)
            err = DRASYNC_EAGAIN;
    }
    if (err)
        return err;
    memmove(delta->version + 1, delta->version,
            sizeof(delta->version) - sizeof(delta->version[0]));
    delta->version[0] = version;
    return 0;
}

static bool noted(const struct native_delta *delta, uint64_t version)
{
    for (int i = 0; i < VERSIONS; i++)
        if (delta->version[i] == version)
            return version != 0;
    return false;
}

static int add_page(struct delta_runs *runs, uint64_t extent, uint64_t page)
{
    struct delta_run *last = runs->run + runs->count;
    struct delta_run *grown;

    if (runs->count && last[-1].extent == extent &&
        last[-1].page + last[-1].pages == page) {
        last[-1].pages++;
        return 0;
    }
    if (runs->count == DELTA_RUNS_MAX)
        return DRASYNC_ELIMIT;
    grown = room_for_one(runs->run, runs->count, &runs->room, sizeof(*grown));
    if (!grown)
        return DRASYNC_ENOMEM;
    runs->run = grown;
    runs->run[runs->count++] = (struct delta_run){extent, page, 1};
    return 0;
}

/* Pages of extent @extent, from page @from on, at most *budget of them; what is
 * behind those that matter is passed over. */
static int list_run(struct native_delta *delta, struct delta_list *list,
                    uint64_t extent, uint64_t from, uint64_t pages,
                    uint64_t before, uint64_t *budget)
{
    uint64_t used = space_pages_for(list->used_bytes[extent]);
    uint64_t n = from;
    int err = 0;

    for (; n < used && *budget && !err; n++, --*budget) {
        const struct page *page = page_there(delta, before + n);

        if (!page)
            return DRASYNC_EINTERNAL; /* it was noted */
        if (page->changed <= list->base)
            continue;
        list->changed++;
        err = add_page(&list->runs, extent, n);
    }
    list->next = before + (n < used ? n : pages);
    return err;
}

/* Nearly all had changed: it was not worth looking. */
static void missed(struct native_delta *delta)
{
    delta->misses++;
    if (delta->misses >= MISSES_MAX)
        delta->pause = delta->misses < 6 ? 1u << delta->misses : PAUSE_MAX;
}

int native_delta_list(struct native_memory *memory,
                      const struct native_frames *frames,
                      struct delta_list *list)
{
    const struct frameset *set = frames->set;
    struct native_delta *delta = memory->delta;
    uint64_t budget = LISTED_PAGES, before = 0, bytes = 0;
    int err = delta ? 0 : DRASYNC_ENOMEM;

    for (uint64_t i = 0; i < list->extents && !err; i++) {
        uint64_t pages = set->run[i].pages;

        if (list->next < before + pages)
            err = list_run(delta, list, i, list->next - before, pages, before,
                           &budget);
        before += pages;
        if (!err && list->next < before)
            err = DRASYNC_EAGAIN;
        bytes += list->used_bytes[i];
    }
    if (err)
        return err;
    if (list->changed <= (bytes >> PAGE_SHIFT) * 3 / 4) {
        delta->misses = 0;
        return 0;
    }
    missed(delta);
    return DRASYNC_ELIMIT;
}

/* What matters of @frames. */
static uint64_t used_all(const struct native_frames *frames)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < frames->set->runs; i++)
        bytes += native_used_bytes(frames, i);
    return bytes;
}

/* Is it worth it for @frames? */
static bool size_fits(const struct native_memory *memory,
                      const struct native_frames *frames)
{
    uint64_t bytes;

    if (memory->pages << PAGE_SHIFT < DELTA_BYTES_MIN ||
        memory->pages > (uint64_t)CHUNKS * CHUNK_PAGES ||
        frames->set->runs > DELTA_EXTENTS_MAX)
        return false;
    bytes = used_all(frames);
    return bytes >= DELTA_BYTES_MIN && bytes <= DELTA_BYTES_MAX;
}

/* The more were noted in vain, the fewer are. */
static bool worth_noting(void)
{
    uint32_t n = atomic_fetch_add(&native.shared->noted_in_vain, 1);

    return n < IN_VAIN_MAX || n % IN_VAIN_MAX == 0;
}

/* Is what @frames have @version, and nobody here may change it? */
static bool stays(const struct proto_region *region, uint64_t version)
{
    const struct proto_copy *copy = proto_newest(region);

    if (region->dead || region->gone || !copy || !copy->frames ||
        copy->arriving || copy->taken)
        return false;
    if (!region->owned)
        return copy->version == version;
    for (const struct proto_region *r = region; r; r = r->parent)
        if (r->write_rank >= 0)
            return false;
    return proto_version(region) == version;
}

/* A piece of what is noted of @region's newest copy, under its tree's lock.  0:
 * that was all; DRASYNC_EAGAIN: more is to be done; or it is not to be had. */
static int note_newest(const struct proto_region *region, uint64_t version)
{
    if (!region || !region->memory || !stays(region, version))
        return DRASYNC_EDELETED;
    return native_delta_note(region->memory, proto_newest(region)->frames,
                             version);
}

static bool note_piece(struct runtime_chore *chore)
{
    struct note *note = (struct note *)(void *)chore;
    bool over = atomic_load(&runtime.shared->quiesced) ==
                runtime.shared->locals; /* nobody will read it again */
    struct native_tree tree;
    int err = over ? DRASYNC_EDELETED
                   : native_lock_for(NATIVE_FOR_READ, note->address, &tree);

    if (!err) {
        if (tree.region && tree.region->incarnation == note->incarnation)
            err = note_newest(tree.region, note->version);
        native_unlock(&tree);
    }
    if (err == DRASYNC_EAGAIN)
        return false;
    atomic_fetch_sub(&native.shared->notes, 1);
    control_free(&runtime.space, note);
    return true;
}

/* Note @version of @region: now if that is short, else in a while. */
static void note_soon(const struct proto_region *region,
                      const struct native_frames *frames, uint64_t version)
{
    struct native_memory *memory = region->memory;
    struct note *note;
    void *v;

    if (noted_in_one(frames)) {
        native_delta_note(memory, frames, version);
        return;
    }
    if (memory->delta && memory->delta->noting >= version)
        return; /* by a chore */
    if (control_alloc(&runtime.space, sizeof(*note), &v))
        return;
    note = v;
    note->address = region->address;
    note->incarnation = region->incarnation;
    note->version = version;
    atomic_fetch_add(&native.shared->notes, 1);
    chore_begin(&note->chore, CHORE_NATIVE_NOTE);
}

void native_delta_finish(uint64_t address)
{
    int err = DRASYNC_EAGAIN;

    /* seq_cst, but any order will do: a note that is begun just now is lost,
     * which costs one answer. */
    while (err == DRASYNC_EAGAIN && atomic_load(&native.shared->notes) > 0) {
        const struct native_memory *memory;
        struct native_tree tree;

        err = native_lock_for(NATIVE_FOR_READ, address, &tree);
        if (err)
            return;
        memory = tree.region ? tree.region->memory : NULL;
        err = memory && memory->delta &&
                      memory->delta->noting > memory->delta->version[0]
                  ? note_newest(tree.region, memory->delta->noting)
                  : 0;
        native_unlock(&tree);
    }
}

void native_delta_sent(const struct proto_region *region,
                       const struct native_frames *frames, uint64_t version,
                       uint64_t *spent)
{
    const struct native_memory *memory = region->memory;
    const struct native_delta *delta = memory->delta;

    if (!size_fits(memory, frames) ||
        (delta && (delta->pause || delta->version[0] >= version)) ||
        !worth_noting())
        return;
    if (noted_in_one(frames)) {
        if (*spent + note_cost(frames) > CHORE_PIECE_PAGES * HASH_COST)
            return;
        *spent += note_cost(frames);
    }
    note_soon(region, frames, version);
}

enum delta_answer native_delta_since(const struct proto_region *region,
                                     const struct native_frames *frames,
                                     uint64_t version, uint64_t base)
{
    struct native_memory *memory = region->memory;
    struct native_delta *delta;

    if (!size_fits(memory, frames))
        return DELTA_ALL;
    delta = delta_of(memory);
    if (!delta)
        return DELTA_ALL;
    if (delta->pause) {
        delta->pause--;
        return DELTA_ALL;
    }
    if (delta->version[0] > version || delta->noting > version)
        return DELTA_ALL; /* a copy passed on; a later one was sent already */
    if (!noted(delta, base)) {
        /* That reader comes again. */
        note_soon(region, frames, version);
        return DELTA_ALL;
    }
    atomic_store(&native.shared->noted_in_vain, 0);
    return noted_in_one(frames) ? DELTA_NOW : DELTA_LATER;
}

void native_delta_free(struct native_memory *memory)
{
    for (int i = 0; memory->delta && i < CHUNKS; i++)
        control_free(&runtime.space, memory->delta->chunk[i]);
    control_free(&runtime.space, memory->delta);
    memory->delta = NULL;
}

void native_delta_start(void)
{
    chore_handle(CHORE_NATIVE_NOTE, note_piece);
}

#endif /* HAVE_XXHASH */
