/*
 * A grant is finished by whoever asked: what the grant says must be split is
 * copied, and what this process does not show yet is mapped, both without the
 * lock of the tree, which the hold makes safe.
 */
#include "runtime/native/map.h"
#include "runtime/native/state.h"

static void view_newest(struct native_mapping *view, struct proto_region *top)
{
    struct proto_region *r = NULL;

    while ((r = native_next_covered(top, r))) {
        struct proto_copy *copy = proto_newest(r);

        if (copy && copy->frames)
            native_mapping_add(view, r->address, copy->frames);
    }
}

/* What a READ hold pins.  True if that is all the newest: a hold that is taken
 * again may be an old one. */
static bool view_pins(struct native_mapping *view,
                      const struct proto_hold *hold)
{
    const struct proto_link *link;
    bool newest = true;

    for (link = hold->pins.next; link && link != &hold->pins;
         link = link->next) {
        const struct proto_pin *pin = (const struct proto_pin *)(const void *)
            link; /* the link is its first member */

        if (!pin->copy || !pin->copy->frames)
            continue;
        native_mapping_add(view, pin->region->address, pin->copy->frames);
        if (pin->copy != proto_newest(pin->region)) {
            native_mapping_disturbed();
            newest = false;
        }
    }
    return newest;
}

_Static_assert(offsetof(struct proto_pin, link) == 0, "see view_pins()");

/* The READ hold of this rank that pins what its hold of @region sees. */
static struct proto_hold *pinning(const struct proto_region *region)
{
    for (const struct proto_region *x = region; x; x = x->parent) {
        struct proto_hold *hold = proto_read_hold(x, native.rank);

        if (hold && !hold->covered)
            return hold;
    }
    return NULL;
}

/* What this rank's READ hold of @region sees; true if it is known to be all the
 * newest.  What pins it may be a hold above that was granted to a request, or to
 * another thread, which has not come to this yet: so all of that is shown now. */
static bool view_read(struct native_mapping *view,
                      const struct proto_region *region)
{
    struct proto_hold *hold = pinning(region);
    bool newest;

    if (!hold ||
        (hold->region != region && (hold->shown || !NATIVE_RULE(COVER_SHOWN))))
        return false;
    newest = view_pins(view, hold);
    hold->shown = true;
    return newest && hold->region == region;
}

/* All is shown that is the newest; so what a READ hold of @region has pinned. */
static void note_shown(const struct proto_region *region)
{
    struct proto_hold *hold = proto_read_hold(region, native.rank);

    if (hold)
        hold->shown = true;
}

bool native_read_splits(const struct proto_hold *hold)
{
    return hold && hold->covered && hold->region->pinned &&
           NATIVE_RULE(READ_SPLITS) &&
           proto_held(hold->region, hold->rank) == DRASYNC_WRITE;
}

int native_hold_show(uint64_t address, struct native_tree *tree, bool locked,
                     enum drasync_mode mode, bool must_split)
{
    struct native_mapping view = {0};
    bool newest = true;
    int err = 0;

    if (must_split) {
        if (locked)
            native_unlock(tree);
        locked = false;
        err = native_split(address);
        /* The WRITE hold has ended, and had split before. */
        if (err == DRASYNC_ENOTHELD && mode == DRASYNC_READ)
            err = 0;
        /* By another thread of this rank; there is nothing to undo. */
        if (err == DRASYNC_ENOTHELD)
            return err;
        if (err == DRASYNC_ENOREGION)
            return DRASYNC_EDELETED;
    } else if (locked && native_mapping_current(tree->region)) {
        if (mode == DRASYNC_READ)
            note_shown(tree->region);
        native_unlock(tree);
        return 0;
    }
    if (!err && !locked)
        err = native_lock_for(native_step_for(mode), address, tree);
    if (err)
        goto unusable;
    if (!tree->region) {
        native_unlock(tree);
        return DRASYNC_EDELETED; /* by another thread of this rank */
    }
    /* Until the view is shown: a view that another thread of this rank collects
     * later could be shown first. */
    native_map_lock();
    /* What was granted a while ago may be WRITE now: see proto_read_hold(). */
    if (mode == DRASYNC_READ && proto_read_hold(tree->region, native.rank) &&
        proto_held(tree->region, native.rank) != DRASYNC_WRITE)
        newest = view_read(&view, tree->region);
    else
        view_newest(&view, tree->region);
    if (view.count == 0 && !view.failed && newest)
        native_mapping_remember(tree->region);
    native_unlock(tree);
    if (view.count || view.failed)
        err = native_mapping_show(&view);
    native_map_unlock();
    if (!err)
        return 0;
unusable:
    native_hold_undo(address, mode);
    return err;
}
