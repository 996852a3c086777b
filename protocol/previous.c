/*
 * previous.c - regions that go back to what they were, if a rank dies that has
 * them for WRITE.
 *
 * A pin on the copy that is current when the hold is granted keeps it, as a reader
 * would: so the grant says split, and the rank writes another one.
 */
#include "protocol/internal.h"

void proto_set_recovery(struct proto_region *top, bool previous)
{
    for (struct proto_region *r = top; r; r = proto_next(top, r))
        r->recovers = previous;
    top->root->recovering |= previous;
}

void recovery_inherit(struct proto_region *r)
{
    const struct proto_region *parent = r->parent;
    if (!parent)
        return;
    r->recovers = parent->recovers;
    r->fresh = parent->fresh || !list_empty(&parent->previous);
}

/* Is @r part of what some rank has for WRITE? */
static bool written(const struct proto_region *r)
{
    for (; r; r = r->parent)
        if (r->write_rank >= 0)
            return true;
    return false;
}

void previous_end(struct step *s, struct proto_region *top)
{
    if (!top->root->recovering)
        return;
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        if (written(r))
            continue;
        r->fresh = false;
        pins_end(s, &r->previous);
    }
}

bool previous_keep(struct step *s, struct proto_region *top)
{
    if (!top->root->recovering)
        return true;
    for (struct proto_region *r = top; r; r = proto_next(top, r)) {
        if (!r->recovers || !r->owned || r->dead || r->gone)
            continue;
        if (pin_new(s, &r->previous, r, copy_current(r)))
            continue;
        previous_end(s, top);
        return false;
    }
    return true;
}

bool previous_back(struct step *s, struct proto_region *r)
{
    if (list_empty(&r->previous))
        return false;
    struct proto_copy *copy =
        CONTAINER(r->previous.next, struct proto_pin, link)->copy;
    while (proto_newest(r) != copy)
        copy_drop(s, r, proto_newest(r));
    pinned_update(r);
    r->root->layout++;
    return true;
}
