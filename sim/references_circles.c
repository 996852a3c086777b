/* references_circles.c - circles of managed regions at one home, and
 * drasync_collect(): what runtime/managed/circles.c does. */
#include <stdlib.h>

#include "sim/references.h"

static struct refsim_region *region_of(const struct refs_part *part)
{
    return refsim_at(part->address, part->incarnation);
}

/* native_take_alone(). */
static bool take_alone(const struct refs_part *part)
{
    struct refsim_region *r = region_of(part);
    uint32_t readers;

    refsim_pause();
    readers = r->readers;
    if (refs_fault == FAULT_FORGET_PINNED)
        readers -= r->old_readers;
    if (!r->alive || readers || r->writers || r->taken ||
        r->met & ~(1u << r->home))
        return false;
    r->taken = true;
    return true;
}

static void end_part(uint32_t home, const struct refs_part *part)
{
    struct refsim_region *r = region_of(part);

    refsim_pause();
    /* Now and then somebody asks for it meanwhile. */
    if (!part->live && (!refsim.working || refsim_random(16))) {
        r->taken = false;
        refsim_ends(r);
        refsim_pause();
        refsim_home_gone(home, refsim_entry_of(part->entry));
        return;
    }
    if (!part->live) {
        refsim_pause();
        refsim_home_linger(home, refsim_entry_of(part->entry));
    }
    if (part->taken)
        r->taken = false;
}

/* Which entries parts have now. */
static void look_again(uint32_t home, struct refs_part *part, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct refsim_entry *e =
            refsim_find(home, part[i].address, part[i].incarnation);

        part[i].entry = e && e->refs.home ? &e->refs : NULL;
    }
}

/* Collect circles of this home.  True: a search over all nodes might end more.
 */
static bool circles(uint32_t home)
{
    struct refs_part part[REFSIM_REGIONS_MAX];
    bool suspected;
    size_t open[REFSIM_REGIONS_MAX], count = 0;
    struct refs_link *cut, *next;

    while (refsim.node[home].searching)
        refsim_pause();
    refsim.node[home].searching = true;
    for (struct refsim_entry *e = refsim.node[home].entries; e; e = e->next)
        if (e->refs.home)
            part[count++].entry = &e->refs;
    suspected = refs_suspected(part, count, open);
    count = refs_find_garbage(part, count, open);
    /* Any order will do. */
    for (size_t i = 0; i < count / 2; i++) {
        struct refs_part last = part[count - 1 - i];

        part[count - 1 - i] = part[i];
        part[i] = last;
    }
    for (size_t i = 0; i < count; i++)
        part[i].taken = take_alone(&part[i]);
    refsim_pause();
    look_again(home, part, count);
    cut = refs_spare(part, count, open);
    for (size_t i = 0; i < count; i++) {
        region_of(&part[i])->doomed |= !part[i].live;
        suspected |= part[i].live;
    }
    for (; cut; cut = next) {
        next = cut->next;
        free(cut);
    }
    for (size_t i = 0; i < count; i++)
        end_part(home, &part[i]);
    refsim.node[home].searching = false;
    return suspected;
}

void refsim_collect(struct refsim_rank *rank)
{
    refsim_home_end(rank->node, true);
    if (circles(rank->node))
        refsim_search();
    refsim_home_end(rank->node, false);
}
