/*
 * references_check.c - what must hold of managed regions:
 *
 * ends    no region ends that a program refers to or holds, or that can be
 *         reached by links from such a
 *         one, unless it is a part of a circle whose end has begun
 * left    at the end, with all references and holds given back, and all nodes'
 *         circles looked for, every region has ended
 * counts  at the end nothing is known of regions that have ended
 * told    who wants to know of an end is told once, and only then
 */
#include "sim/references.h"

struct refsim_region *refsim_at(uint64_t address, uint64_t incarnation)
{
    for (uint32_t i = 0; i < refsim.regions; i++)
        if (refsim.region[i].address == address &&
            refsim.region[i].incarnation == incarnation)
            return &refsim.region[i];
    return NULL;
}

static void mark_from(struct refsim_region *r)
{
    if (r->mark || !r->alive)
        return;
    r->mark = true;
    for (uint32_t i = 0; i < refsim.regions; i++)
        if (r->links[i] && !r->doomed)
            mark_from(&refsim.region[i]);
}

static void unmark(void)
{
    for (uint32_t i = 0; i < refsim.regions; i++)
        refsim.region[i].mark = false;
}

static bool is_root(const struct refsim_region *r)
{
    return r->references || r->readers || r->writers;
}

void refsim_ends(struct refsim_region *region)
{
    uint32_t number = region->number;

    if (refsim.show)
        fprintf(refsim.show, "= #%u ends\n", number);
    if (!region->alive)
        refsim_found("ends: #%u, which has ended", number);
    if (region->readers || region->writers)
        refsim_found("ends: #%u, which somebody holds", number);
    if (region->references)
        refsim_found("ends: #%u, which a program refers to", number);
    unmark();
    for (uint32_t i = 0; i < refsim.regions; i++)
        if (is_root(&refsim.region[i]))
            mark_from(&refsim.region[i]);
    if (region->mark)
        refsim_found("ends: #%u, which can be reached", number);
    region->alive = false;
    refsim.ends++;
}

bool refsim_left(const struct refsim_region **left_out)
{
    for (uint32_t i = 0; i < refsim.regions; i++)
        if (refsim.region[i].alive && refsim.region[i].managed) {
            *left_out = &refsim.region[i];
            return true;
        }
    return false;
}

void refsim_check_end(void)
{
    const struct refsim_region *left;

    if (refsim_left(&left))
        refsim_found("left: #%u", left->number);
    for (uint32_t i = 0; i < refsim.regions; i++) {
        const struct refsim_region *r = &refsim.region[i];

        for (uint32_t n = 0; n < refsim.script->nodes; n++)
            if (r->told[n] != (r->alive ? 0 : r->wanted[n]))
                refsim_found("told: node %u of #%u: %u times, not %u", n,
                             r->number, r->told[n],
                             r->alive ? 0 : r->wanted[n]);
    }
    for (uint32_t n = 0; n < refsim.script->nodes; n++)
        for (const struct refsim_entry *e = refsim.node[n].entries; e;
             e = e->next) {
            const struct refsim_region *r =
                refsim_at(e->refs.address, e->refs.incarnation);

            if (!r || !r->alive)
                refsim_found("counts: node %u knows of #%u, which has ended", n,
                             r ? r->number : 0);
        }
}
