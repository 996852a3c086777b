/*
 * When memory runs short.  First copies go that nobody refers to, and with them
 * all frames of regions that other nodes have and this one has no copy of any
 * more: what a node has read, one after another, may be many times what fits in
 * it.  Then regions give up extents without objects.
 *
 * A region's extents may become fewer only while no other node has it, as nodes
 * tell each other of new extents and of the end of all; and while its one
 * version is in the primary frames, so that no process shows others there.
 */
#include "memory/extents.h"
#include "memory/frameset.h"
#include "memory/marks.h"
#include "memory/pages.h"
#include "runtime/check/check.h"
#include "runtime/native/frames.h"
#include "runtime/native/magazine.h"
#include "runtime/native/map.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* --- Copies ---------------------------------------------------------------- */

/* Under the lock of its tree, of which nothing is on its way here. */
static void absent_go(struct proto_region *root)
{
    for (struct proto_region *r = root; r; r = proto_next(root, r)) {
        struct native_memory *memory = r->memory;

        if (memory && proto_absent(r) && !memory->leases)
            native_memory_empty(memory);
    }
}

static void drop_copies(uint64_t address, void *arg)
{
    struct proto_effects *effects;
    struct native_tree tree;
    bool all;

    (void)arg;
    if (!address || native_lock(address, &tree))
        return;
    if (tree.region && tree.region->root == tree.region) {
        effects = native_effects();
        all = proto_drop_copies(&native.node, tree.region, effects);
        native_do(effects, NULL);
        if (all)
            absent_go(tree.region);
    }
    native_unlock(&tree);
}

void native_evict(void)
{
    if (native.shared->quarantine)
        native_quarantine_clear(native.shared->quarantine);
    native_each(drop_copies, NULL);
    pages_trim(&runtime.space);
}

/* --- Extents without objects ---------------------------------------------- */

static uint64_t first_of(const struct extent *e)
{
    return atomic_load_explicit(&e->first_page, memory_order_relaxed);
}

static bool goes(const struct extent *e)
{
    return e->user[EXTENT_CUT_HERE] == NATIVE_EXTENT_GOES;
}

static void mark(void *arg, uint64_t first_page)
{
    struct extent *e =
        extent_of(&runtime.space, space_address(&runtime.space, first_page));

    (void)arg;
    if (e)
        e->user[EXTENT_CUT_HERE] = NATIVE_EXTENT_GOES;
}

/* Did this node cut them all? */
static bool cut_here(const struct native_memory *memory)
{
    const struct extent *e = memory->first;

    while (e && e->user[EXTENT_CUT_HERE])
        e = e->next;
    return !e;
}

/* May @region have fewer extents, and is its heap nobody's but ours now? */
static bool may_trim(const struct proto_region *region)
{
    const struct native_memory *memory = region->memory;
    const struct proto_copy *copy = proto_newest(region);
    const struct native_frames *frames = copy ? copy->frames : NULL;

    return memory && memory->extents > 1 && !memory->delta && !memory->twin &&
           proto_here_only(region) && frames &&
           frames->set->runs == memory->extents && cut_here(memory) &&
           !frameset_has_alternate(&runtime.space, frames->set) &&
           (proto_held(region, native_rank()) == DRASYNC_WRITE ||
            proto_tree_idle(region));
}

/* The set without the extents that go. */
static void frames_without(struct native_frames *frames)
{
    struct frameset *set = frames->set;
    uint64_t left = 0;

    native_map_lock();
    for (uint64_t i = 0; i < set->runs; i++) {
        const struct extent *e =
            extent_of(&runtime.space,
                      space_address(&runtime.space, set->run[i].first_page));

        if (!e || !goes(e))
            set->run[left++] = set->run[i];
    }
    set->runs = left;
    /* With this, processes that have seen the set look at it again. */
    frames->id = atomic_fetch_add(&native.shared->frames_id, 1) + 1;
    native_map_unlock();
}

/* The list without them; they are a list of their own then. */
static struct extent *memory_without(struct native_memory *memory)
{
    struct extent *e = memory->first, *next, *gone = NULL;

    memory->first = memory->last = memory->walk = NULL;
    memory->extents = memory->pages = 0;
    for (; e; e = next) {
        next = e->next;
        if (goes(e)) {
            e->next = gone;
            gone = e;
        } else {
            native_memory_append(memory, e);
        }
    }
    return gone;
}

/* Give it back past the quarantine of checked mode: memory is short. */
static void give_back(struct extent *e)
{
    uint64_t pages = atomic_load_explicit(&e->pages, memory_order_relaxed);

    if (native.check)
        check_allow(first_of(e), pages, 0);
    if (native.objects && marks_wanted())
        marks_open(space_address(&runtime.space, first_of(e)),
                   space_page_offset(pages));
    extent_delete(&runtime.space, e);
}

/* Under the lock of its tree; how many extents went. */
static uint64_t trim(const struct native_tree *tree)
{
    struct native_memory *memory = tree->region->memory;
    /* Through the window, as this process need not show what nobody holds. */
    const struct heap_context context = {
        .space = &runtime.space,
        .view = space_window_view(&runtime.space),
        .owner = memory,
    };
    struct native_header *header = space_window_of(
        &runtime.space, native_header_of(tree->region->address));
    uint64_t before = memory->extents;
    struct extent *e, *next;

    if (native_magazines_end(tree, tree->region) ||
        heap_trim(&context, &header->heap, mark, NULL) ||
        header->heap.extents == before)
        return 0;
    frames_without(proto_newest(tree->region)->frames);
    e = memory_without(memory);
    proto_layout_changed(tree->region);
    memory->touched = true;
    for (; e; e = next) {
        next = e->next;
        give_back(e);
    }
    return before - memory->extents;
}

static void trim_at(uint64_t address, void *arg)
{
    uint64_t *gone = arg;
    struct native_tree tree;

    if (!address || native_lock(address, &tree))
        return;
    if (tree.region && may_trim(tree.region))
        *gone += trim(&tree);
    native_unlock(&tree);
}

bool native_trim(void)
{
    uint64_t gone = 0;

    /* Who serves other nodes keeps them from being served. */
    if (!native_running.server)
        native_each(trim_at, &gone);
    return gone > 0;
}
