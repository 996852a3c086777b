/*
 * A rank wants what is above a region that it was given and has not taken: it
 * does not know of that hold, so it is not told that it is in the way.  The hold
 * ends, and who takes the gift acquires the region.
 */
#include "runtime/native/give.h"
#include "runtime/native/magazine.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"

/* Is @gift's hold all that this rank has of that region, and is that below the
 * tree's?  @context is the tree, which is locked. */
static bool is_part(const struct gift *gift, const void *context)
{
    const struct native_tree *tree = context;
    const struct proto_region *r = native_find_in(tree, gift->address);

    if (!r || r->incarnation != gift->incarnation ||
        r->write_rank != native.rank || r->write_count != 1 ||
        proto_read_hold(r, native.rank))
        return false;
    do
        r = r->parent;
    while (r && r != tree->region);
    return r != NULL;
}

/* The regions below @top that this rank has holds of. */
static uint32_t count_held(struct proto_region *top)
{
    uint32_t count = 0;

    for (struct proto_region *r = proto_next(top, top); r;
         r = proto_next(top, r))
        count +=
            r->write_rank == native.rank || proto_read_hold(r, native.rank);
    return count;
}

bool native_gifts_let_go(uint64_t address)
{
    struct proto_effects *effects;
    struct native_tree tree;
    uint32_t held = 0;
    bool gone = false;

    if (native_lock(address, &tree))
        return false;
    if (tree.region)
        held = count_held(tree.region);
    /* Another thread may have had some of them, and allocated there. */
    if (held && !native_magazines_end(&tree, tree.region))
        gone = give_unhold(is_part, &tree, held);
    if (gone) {
        effects = native_effects();
        proto_end_rank(&native.node, native.rank, tree.region, effects);
        native_do(effects, NULL);
    }
    native_unlock(&tree);
    return gone;
}
