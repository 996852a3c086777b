/*
 * circles.c - regions that only links of each other keep, where all of them have
 * their home on one node, or are seen as if they had: see references.h, search.h.
 *
 * As the paper's collector of MPI objects does (Goodell et al., Cluster 2010),
 * but over links: what is referred to otherwise than by links of this home is
 * marked, and what can be reached from there; the rest is garbage.
 */
#include "protocol/refs_faults.h"
#include "protocol/search.h"

struct marking {
    struct refs_part *part;
    size_t count;
    size_t *open; /* marked, and not looked from */
    size_t opened;
};

/* The part that @link leads to; NULL: none of @m's. */
static struct refs_part *part_of(const struct marking *m,
                                 const struct refs_link *link)
{
    const struct refs_entry *to = link->to;

    /* Numbers of entries that are no part are of an earlier look; and where the
     * program deleted a region that was linked to, another entry may be there. */
    return to && to->number < m->count && m->part[to->number].entry == to &&
                   to->address == link->address &&
                   to->incarnation == link->incarnation
               ? &m->part[to->number]
               : NULL;
}

static void mark(struct marking *m, struct refs_part *part)
{
    if (!part || part->live)
        return;
    part->live = true;
    if (part->entry)
        m->open[m->opened++] = (size_t)(part - m->part);
}

/* All that can be reached from what is open. */
static void spread(struct marking *m)
{
    while (m->opened) {
        const struct refs_entry *e = m->part[m->open[--m->opened]].entry;

        for (const struct refs_link *l = e->links; l; l = l->next)
            mark(m, part_of(m, l));
    }
}

/* Is it referred to by others than links of this home?  What is about to end
 * otherwise is left alone. */
static bool is_root(const struct refs_entry *e)
{
    if (e->use != REFS_USED || e->references > e->linked)
        return true;
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].listed)
            return true;
    return false;
}

/* Is @e ENDING because a search over all nodes froze it? An entry that ends for
 * lack of references is unused as well. */
static bool is_frozen(const struct refs_entry *e)
{
    return e->use == REFS_ENDING && !refs_unused(e);
}

/* Number the parts, and count the links to them. */
static void number(const struct marking *m)
{
    for (size_t i = 0; i < m->count; i++) {
        m->part[i].live = m->part[i].taken = false;
        m->part[i].entry->number = i;
        m->part[i].entry->linked = 0;
    }
    for (size_t i = 0; i < m->count; i++)
        for (const struct refs_link *l = m->part[i].entry->links; l;
             l = l->next)
            if (part_of(m, l))
                l->to->linked++;
}

bool refs_suspected(struct refs_part *parts, size_t count, size_t *open)
{
    struct marking m = {.part = parts, .count = count, .open = open};

    number(&m);
    for (size_t i = 0; i < count; i++) {
        const struct refs_entry *e = parts[i].entry;

        if (e->use != REFS_USED || e->references > e->linked)
            mark(&m, &parts[i]);
    }
    spread(&m);
    for (size_t i = 0; i < count; i++)
        if (is_frozen(parts[i].entry) ||
            (!parts[i].live && parts[i].entry->links &&
             parts[i].entry->nodes_count))
            return true;
    return false;
}

size_t refs_find_garbage(struct refs_part *parts, size_t count, size_t *open)
{
    struct marking m = {.part = parts, .count = count, .open = open};
    size_t garbage = 0;

    number(&m);
    for (size_t i = 0; i < count; i++)
        if (is_root(parts[i].entry))
            mark(&m, &parts[i]);
    spread(&m);
    for (size_t i = 0; i < count; i++) {
        struct refs_entry *e = parts[i].entry;

        if (parts[i].live)
            continue;
        parts[garbage++] = (struct refs_part){.entry = e,
                                              .address = e->address,
                                              .incarnation = e->incarnation,
                                              .stamp = e->stamp};
    }
    return garbage;
}

/* Frozen by a search over all nodes counts as changed, and so does what is about
 * to end otherwise. */
static bool has_changed(const struct refs_part *part)
{
    return part->entry->use != REFS_USED ||
           (part->entry->stamp != part->stamp && !FAULT(FAULT_END_CHANGED));
}

/* Take what leads to parts that end out of @e's links, onto @cut. */
static struct refs_link *cut_links(const struct marking *m,
                                   struct refs_entry *e, struct refs_link *cut)
{
    struct refs_link **p = &e->links;

    while (*p) {
        struct refs_link *l = *p;
        const struct refs_part *to = part_of(m, l);

        if (!to || to->live) {
            p = &l->next;
            continue;
        }
        refs_from_link(l->to);
        l->to->references--;
        *p = l->next;
        l->next = cut;
        cut = l;
    }
    return cut;
}

struct refs_link *refs_spare(struct refs_part *parts, size_t count,
                             size_t *open)
{
    struct marking m = {.part = parts, .count = count, .open = open};
    struct refs_link *cut = NULL;

    for (size_t i = 0; i < count; i++)
        if (parts[i].entry)
            parts[i].entry->number = i;
    for (size_t i = 0; i < count; i++)
        if (!parts[i].taken || !parts[i].entry || has_changed(&parts[i]))
            mark(&m, &parts[i]);
    spread(&m);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].live)
            continue;
        parts[i].entry->use = REFS_DOOMED;
        cut = cut_links(&m, parts[i].entry, cut);
    }
    return cut;
}
