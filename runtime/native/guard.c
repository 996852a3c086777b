/*
 * Checked mode: what this process may touch follows the holds of its rank.
 *
 * Each hold that begins or ends in this process is followed by a walk over its
 * subtree, under the lock of the tree: so whoever changes rights last has seen
 * the last holds.  Pages that no walk has opened are closed (check.c).
 */
#include <stdlib.h>

#include "memory/heap.h"
#include "runtime/check/check.h"
#include "runtime/native/guard.h"
#include "runtime/native/objects.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* An object is looked for on so many bytes before an address. */
#define OBJECT_BYTES_MAX 65536

static uint64_t first_of(const struct extent *e)
{
    return atomic_load_explicit(&e->first_page, memory_order_relaxed);
}

static uint64_t pages_of(const struct extent *e)
{
    return atomic_load_explicit(&e->pages, memory_order_relaxed);
}

/* What this process may do with @r: its rank may, or the functions that it runs
 * for other nodes; those have WRITE, as ranks of their own (run_hold.c). */
static int allowed(const struct proto_region *r)
{
    for (const struct proto_region *a = r; runtime.leader && a; a = a->parent)
        if (a->write_rank >= runtime.ranks)
            return DRASYNC_WRITE;
    return proto_held(r, native.rank);
}

/* Neighbouring pages with the same rights. */
struct pages {
    uint64_t first, pages;
    int mode;
};

static void flush(struct pages *run)
{
    if (run->pages)
        check_allow(run->first, run->pages, run->mode);
    run->pages = 0;
}

static void add(struct pages *run, const struct extent *e, int mode)
{
    if (run->pages && run->mode == mode &&
        run->first + run->pages == first_of(e)) {
        run->pages += pages_of(e);
        return;
    }
    flush(run);
    *run = (struct pages){first_of(e), pages_of(e), mode};
}

static void add_region(struct pages *run, const struct proto_region *r,
                       int mode)
{
    const struct native_memory *memory = r->memory;
    const struct extent *e;

    for (e = memory ? memory->first : NULL; e; e = e->next)
        add(run, e, mode);
}

void native_guard(const struct proto_region *top)
{
    struct proto_region *r = NULL;
    struct pages run = {0};

    if (runtime.options.check & OPTIONS_CHECK_ACCESS) {
        while ((r = proto_next(top, r)))
            add_region(&run, r, allowed(r));
        flush(&run);
    }
    while (native.objects && (r = proto_next(top, r)))
        native_objects_mark(r, allowed(r));
}

void native_guard_at(uint64_t address)
{
    struct native_tree tree;

    if (native_lock_for(NATIVE_FOR_DATA, address, &tree))
        return;
    if (tree.region)
        native_guard(tree.region);
    native_unlock(&tree);
}

void native_guard_again(const struct native_tree *tree, uint64_t address)
{
    const struct proto_region *region = native_find_in(tree, address);

    /* It may be gone, and its pages closed, with its last hold. */
    if (region)
        native_guard(region);
}

void native_guard_took(uint64_t address, uint64_t incarnation,
                       enum drasync_mode mode)
{
    check_event(CHECK_TOOK, address, incarnation, mode);
    native_guard_at(address);
}

void native_guard_gave(const struct native_tree *tree, uint64_t address,
                       uint64_t incarnation, enum drasync_mode mode)
{
    check_event(CHECK_GAVE, address, incarnation, mode);
    native_guard_again(tree, address);
}

void native_guard_given(const struct native_tree *tree, uint64_t address,
                        uint64_t incarnation)
{
    check_event(CHECK_GIVEN, address, incarnation, DRASYNC_WRITE);
    native_guard_again(tree, address);
}

/* Extents of regions that are being deleted; of one without any, no pages. */
struct native_goes {
    size_t count, room;
    struct native_going {
        uint64_t address, incarnation, first_page, pages;
        bool told; /* that the region is deleted, elsewhere */
    } extent[];
};

/* @goes with @next too; without memory less is said later. */
static struct native_goes *goes_add(struct native_goes *goes,
                                    const struct native_going *next)
{
    size_t count = goes ? goes->count : 0, room = count ? 2 * count : 8;

    if (!goes || count == goes->room) {
        struct native_goes *more =
            realloc(goes, sizeof(*goes) + room * sizeof(goes->extent[0]));

        if (!more)
            return goes;
        goes = more;
        goes->room = room;
    }
    goes->extent[count] = *next;
    goes->count = count + 1;
    return goes;
}

void native_guard_deleted(struct native_goes *goes, bool deleted)
{
    for (size_t i = 0; goes && deleted && i < goes->count; i++) {
        const struct native_going *e = &goes->extent[i];

        if (e->pages)
            check_gone(e->first_page, e->pages, e->address, e->incarnation);
        if (!e->told)
            check_event(CHECK_DELETED, e->address, e->incarnation,
                        DRASYNC_NONE);
    }
    free(goes);
}

struct native_goes *native_guard_close(const struct proto_region *top)
{
    struct native_goes *goes = NULL;
    struct proto_region *r = NULL;
    struct pages run = {0};

    while ((r = proto_next(top, r))) {
        const struct native_memory *memory = r->memory;
        const struct extent *e = memory ? memory->first : NULL;
        struct native_going next = {.address = r->address,
                                    .incarnation = r->incarnation,
                                    .told = r == top};

        do {
            next.first_page = e ? first_of(e) : 0;
            next.pages = e ? pages_of(e) : 0;
            goes = goes_add(goes, &next);
            next.told = true;
            e = e ? e->next : NULL;
        } while (e);
        native_objects_mark(r, 0);
        add_region(&run, r, 0);
    }
    flush(&run);
    return goes;
}

/* --- What is known of an address ------------------------------------------ */

/* Do the frames that the newest copy of @r has at @address lie at their own
 * offsets, which is where the window shows them? */
static bool in_window(const struct proto_region *r, uint64_t address)
{
    const struct proto_copy *copy = proto_newest(r);
    const struct native_frames *frames = copy ? copy->frames : NULL;
    uint64_t page = space_page(&runtime.space, (void *)(uintptr_t)address);

    for (uint64_t i = 0; frames && i < frames->set->runs; i++) {
        const struct frameset_run *run = &frames->set->run[i];

        if (page - run->first_page < run->pages)
            return run->offset == space_page_offset(run->first_page);
    }
    return false;
}

/*
 * The object that has @address, which some rank may be changing: so it is a
 * hint.  The heap believes nothing that it reads (heap.h).
 */
static void find_object(const struct proto_region *r, uint64_t address,
                        struct check_place *out)
{
    const struct heap_context context = {
        .space = &runtime.space,
        .view = space_window_view(&runtime.space),
        .owner = r->memory,
    };
    const struct native_header *header =
        space_window_of(&runtime.space, native_header_of(r->address));
    uint64_t from = address / 16 * 16, steps = OBJECT_BYTES_MAX / 16;
    size_t bytes;

    if (!in_window(r, r->address) || !in_window(r, address))
        return;
    for (uint64_t i = 0; i < steps && from > r->address; i++, from -= 16) {
        if (native_objects_usable(&context, header, r, (void *)(uintptr_t)from,
                                  &bytes))
            continue;
        if (address - from < bytes) {
            out->object = from;
            out->object_bytes = bytes;
        }
        return;
    }
}

static void add_holder(struct check_place *out, int rank, int mode)
{
    if (out->holders < CHECK_HOLDERS_MAX) {
        out->holder[out->holders].rank = rank;
        out->holder[out->holders].mode = mode;
    }
    out->holders++;
}

/* Who of this node has @r, by a hold of it or of one above. */
static void find_holders(const struct proto_region *r, struct check_place *out)
{
    for (; r; r = r->parent) {
        const struct proto_link *link;

        if (r->write_rank >= 0)
            add_holder(out, r->write_rank, DRASYNC_WRITE);
        for (link = r->holds.next; link && link != &r->holds;
             link = link->next) {
            const struct proto_hold *hold =
                (const struct proto_hold *)(const void *)
                    link; /* the link is its first member */

            if (hold->rank != r->write_rank)
                add_holder(out, hold->rank, DRASYNC_READ);
        }
    }
}

_Static_assert(offsetof(struct proto_hold, link) == 0, "see find_holders()");

/* Has another rank of this node a hold of @r itself? */
static bool others_hold(const struct proto_region *r)
{
    struct proto_link *l;

    if (r->write_rank >= 0 && r->write_rank != native.rank)
        return true;
    for (l = r->holds.next; l && l != &r->holds; l = l->next) {
        const struct proto_hold *hold =
            (const struct proto_hold *)(const void *)l; /* as above */

        if (hold->rank != native.rank)
            return true;
    }
    return false;
}

/* The first region below @top of which that is so; 0: none. */
static uint64_t busy_below(const struct proto_region *top)
{
    for (struct proto_region *r = proto_next(top, top); r;
         r = proto_next(top, r))
        if (others_hold(r))
            return r->address;
    return 0;
}

static void look(const void *address, int mode, struct check_place *out)
{
    drasync_region_t region;
    struct native_tree tree;

    if (native_region_of(address, &region)) {
        struct extent_copy copy;

        out->foreign = !extent_find(&runtime.space, address, &copy) &&
                       copy.owner != (void *)native.shared;
        out->node = native_home((uintptr_t)address & ~(PAGE_BYTES - 1));
        return;
    }
    if (native_lock_for(NATIVE_FOR_DATA, (uintptr_t)region, &tree))
        return;
    if (tree.region && !tree.region->dead) {
        const struct proto_region *r = tree.region, *other;

        out->region = r->address;
        out->incarnation = r->incarnation;
        out->held = allowed(r);
        out->node = native_owner_seen(r);
        find_holders(r, out);
        find_object(r, (uintptr_t)address, out);
        out->busy = busy_below(r);
        other = proto_held_below(r, native.rank);
        out->part = other ? other->address : 0;
        other = native_held_through(r);
        out->through = other && other != r ? other->address : 0;
        if (mode && out->held >= mode)
            native_guard(r);
    }
    native_unlock(&tree);
}

/* Another node may be deleting it: read without a lock, which would be taken under
 * that of the notes. */
__attribute__((no_sanitize("thread"))) static bool top(uint64_t *address,
                                                       uint64_t *incarnation)
{
    const volatile struct proto_region *r = native_find(*address), *above;

    if (!r || r->dead || r->incarnation != *incarnation)
        return false;
    for (int i = 0; i < PROTO_DEPTH_MAX && (above = r->parent) != NULL; i++)
        r = above;
    *address = r->address;
    *incarnation = r->incarnation;
    return true;
}

/* What the library does under the lock of a tree is its own. */
static bool inside(void)
{
    return native_in_step;
}

void native_guard_start(void)
{
    check_on_look(look);
    check_on_top(top);
    check_on_inside(inside);
}
