/*
 * A rank wants what is above a region that it was given and has not taken: it
 * does not know of that hold, so it is not told that it is in the way.  The hold
 * ends, and who takes the gift acquires the region.
 */
#include "runtime/native/give.h"
#include "runtime/messages/messages.h"
#include "runtime/native/magazine.h"
#include "runtime/native/run.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* --- What a rank asks for ------------------------------------------------- */

/* Is a gift's hold all that @rank has of @r? */
static bool is_all(const struct proto_region *r, uint64_t incarnation,
                   int32_t rank)
{
    return r && r->incarnation == incarnation && r->write_rank == rank &&
           r->write_count == 1 && !proto_read_hold(r, rank);
}

/* Is @gift's hold all that this rank has of that region, and is that below the
 * tree's?  @context is the tree, which is locked. */
static bool is_part(const struct gift *gift, const void *context)
{
    const struct native_tree *tree = context;
    const struct proto_region *r = native_find_in(tree, gift->address);

    if (!is_all(r, gift->incarnation, native.rank))
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

/* Under the lock of @tree: end the holds that @rank has of its region and what is
 * below. */
static void end(struct native_tree *tree, int32_t rank)
{
    struct proto_effects *effects = native_effects();

    proto_end_rank(&native.node, rank, tree->region, effects);
    native_do(effects, NULL);
}

bool native_gifts_let_go(uint64_t address)
{
    struct native_tree tree;
    uint32_t held = 0;
    bool gone = false;

    if (!give_any(runtime.local) || native_lock(address, &tree))
        return false;
    if (tree.region)
        held = count_held(tree.region);
    /* Another thread may have had some of them, and allocated there. */
    if (held && !native_magazines_end(&tree, tree.region))
        gone = give_unhold(runtime.local, is_part, &tree, held);
    if (gone)
        end(&tree, native.rank);
    native_unlock(&tree);
    return gone;
}

void native_gifts_apart(uint64_t address)
{
    struct run_caller *c = address ? run_caller_mine() : run_caller_had();

    /* Without memory a gift that comes is held all the same. */
    if (c)
        atomic_store(&c->apart, address);
    if (!address || !give_any(runtime.local))
        return;
    native_gifts_let_go(address);
    give_tell_engine();
}

/* --- What it has others run ------------------------------------------------ */

static bool is_named(const struct gift *gift, const void *context)
{
    const struct give_name *name = context;

    return gift->address == name->address &&
           gift->incarnation == name->incarnation;
}

/* End the hold that rank @rank of this node has by a gift, if it has no other one
 * there. */
static void let_go(int32_t rank, const struct give_name *name)
{
    struct native_tree tree;

    if (native_lock(name->address, &tree))
        return;
    if (is_all(tree.region, name->incarnation, rank) &&
        run_flies_in(rank, name->address, NULL) &&
        !proto_held_below(tree.region, rank) &&
        !native_magazines_end(&tree, tree.region) &&
        give_unhold(runtime.local_of[rank], is_named, name, 1))
        end(&tree, rank);
    native_unlock(&tree);
}

void give_tell_engine(void)
{
    if (!atomic_exchange(&run_shared->gifts, true))
        runtime_nudge();
}

void give_granted(const struct proto_region *region)
{
    if (run_flies_in(region->write_rank, region->address, NULL))
        give_tell_engine();
}

void give_turn(void)
{
    enum { PORTION = 64 };
    struct give_name names[PORTION];
    size_t first, count;

    if (!atomic_load_explicit(&run_shared->gifts, memory_order_relaxed))
        return;
    atomic_store(&run_shared->gifts, false);
    for (int local = 0; local < runtime.locals; local++) {
        int32_t rank = runtime.shared->ranks[local].rank;

        for (first = 0; run_flies(rank) &&
                        (count = give_list(local, first, names, PORTION)) > 0;
             first += count)
            for (size_t i = 0; i < count; i++)
                let_go(rank, &names[i]);
    }
}
