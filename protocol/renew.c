/* renew.c - a region that is deleted and made again, without a trace between. */
#include "protocol/internal.h"

/* Does no operation or message refer to @r, which has so many @holds, and no
 * region but those of its tree? */
static bool unknown_to_others(const struct proto_region *r, uint32_t holds)
{
    const struct proto_link *lists[] = {
        &r->holds,  &r->queue,    &r->pending,     &r->presence,
        &r->parts,  &r->sendings, &r->requests,    &r->arrivals,
        &r->asking, &r->locates,  &r->subscribers,
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (!list_empty(lists[i]))
            return false;
    return r->owned && r->home && r->indexed && !r->present && !r->dead &&
           !r->gone && !r->locating && !r->lock && !r->shared && !r->away &&
           !r->waiting && !r->reads && !r->pinned && !r->keeps && !r->sends &&
           !r->sent && !r->asker && r->busy == holds;
}

/* Its one copy, which nobody reads, or NULL. */
static struct proto_copy *only_copy(const struct proto_region *r)
{
    if (list_empty(&r->copies) || r->copies.next->next != &r->copies)
        return NULL;
    struct proto_copy *copy =
        CONTAINER(r->copies.next, struct proto_copy, link);
    return copy->pins || copy->sends || copy->arriving ? NULL : copy;
}

/* Is @top a root, and is that so of all its tree? */
static bool tree_unknown(const struct proto_region *top, uint32_t holds)
{
    if (top->root != top || !unknown_to_others(top, holds) || !only_copy(top))
        return false;
    for (struct proto_region *r = proto_next(top, top); r;
         r = proto_next(top, r))
        if (r->write_rank >= 0 || !unknown_to_others(r, 0) || !only_copy(r))
            return false;
    return true;
}

bool proto_alone(int32_t rank, const struct proto_region *r)
{
    return r->write_rank == rank && r->write_count == 1 && tree_unknown(r, 1);
}

bool proto_idle(const struct proto_region *r)
{
    return r->write_rank < 0 && tree_unknown(r, 0);
}

bool proto_here_only(const struct proto_region *r)
{
    const struct proto_copy *copy = only_copy(r);

    return copy && !copy->bases && r->owned && r->home && r->indexed &&
           !r->present && !r->dead && !r->gone && !r->locating && !r->sends &&
           !r->sent && list_empty(&r->presence);
}

bool proto_tree_idle(const struct proto_region *r)
{
    return !r->root->busy && !r->root->reads;
}

bool proto_read_here(const struct proto_region *r)
{
    return r->reads || r->waiting || !list_empty(&r->root->requests);
}

bool proto_renew(int32_t rank, struct proto_region *r, uint64_t incarnation)
{
    if (!list_empty(&r->children) || !proto_alone(rank, r) || r->recovering)
        return false;
    r->incarnation = incarnation;
    r->hint = 0;
    r->epoch = 1;
    r->version = ++r->clock;
    r->arrived = r->version;
    r->written = r->came = 0;
    r->layout++;
    only_copy(r)->version = r->version;
    return true;
}
