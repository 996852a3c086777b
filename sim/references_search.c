/* references_search.c - circles over several nodes, as runtime/managed/far*.c
 * looks for them with protocol/search.h.  Every question to a node takes a while,
 * and is answered entry by entry, while others go on. */
#include <stdlib.h>
#include <string.h>

#include "sim/references.h"

enum { SEEN_MAX = REFSIM_REGIONS_MAX * REFSIM_NODES_MAX };

struct looking {
    struct refs_search search;
    struct refs_seen seen[SEEN_MAX];
    uint64_t *record[SEEN_MAX];
};

static struct refsim_entry *entry_at(const struct refs_seen *seen)
{
    return refsim_find((uint32_t)seen->node, seen->record->address,
                       seen->record->incarnation);
}

static struct refsim_region *region_of(const struct refs_part *part)
{
    return refsim_at(part->entry->address, part->entry->incarnation);
}

/* --- Looking ---------------------------------------------------------------- */

static void see(struct looking *l, uint32_t node, const struct refs_name *name)
{
    const struct refsim_entry *e;
    const struct refs_record *record;
    uint64_t *copy;

    refsim_pause();
    e = refsim_find(node, name->address, name->incarnation);
    if (!e || !refs_searched(&e->refs) || l->search.count == SEEN_MAX)
        return;
    copy = malloc(refs_record_bytes(&e->refs));
    if (!copy)
        abort();
    refs_record_write(&e->refs, copy);
    if (refs_record_read(copy, refs_record_bytes(&e->refs), &record) !=
        refs_record_bytes(&e->refs))
        refsim_found("search: a record is not what was written");
    l->record[l->search.count] = copy;
    l->seen[l->search.count++] =
        (struct refs_seen){.record = record, .node = (int32_t)node};
}

/* Entries come and go meanwhile: what is there at first is asked for. */
static void see_node(struct looking *l, uint32_t node)
{
    struct refs_name names[SEEN_MAX];
    uint32_t count = 0;

    for (const struct refsim_entry *e = refsim.node[node].entries;
         e && count < SEEN_MAX; e = e->next)
        names[count++] =
            (struct refs_name){e->refs.address, e->refs.incarnation};
    for (uint32_t i = 0; i < count; i++)
        see(l, node, &names[i]);
}

/* --- Freezing --------------------------------------------------------------- */

/* Call @what for each frozen record of a part that is, or is not, live. */
static void each_record(struct looking *l, bool live,
                        void (*what)(const struct refs_seen *seen))
{
    for (size_t i = 0; i < l->search.parts; i++) {
        const struct refs_found *f = refs_found_of(&l->search.part[i]);

        for (size_t k = f->first; k < f->first + f->count; k++)
            if (l->seen[k].frozen && l->seen[k].live == live) {
                refsim_pause();
                what(&l->seen[k]);
            }
    }
}

static void thaw(const struct refs_seen *seen)
{
    struct refsim_entry *e = entry_at(seen);

    /* Elsewhere than at home an entry goes with its last reference: it was no
     * garbage then. */
    if (!e && seen->record->home)
        refsim_found("search: what was frozen is gone");
    if (!e)
        return;
    refs_thaw(&e->refs);
    refsim_home_look((uint32_t)seen->node, e);
    refsim_drop((uint32_t)seen->node, e);
}

static void freeze(struct looking *l)
{
    for (size_t i = 0; i < l->search.parts; i++) {
        const struct refs_found *f = refs_found_of(&l->search.part[i]);

        for (size_t k = f->first; k < f->first + f->count; k++) {
            struct refsim_entry *e;

            refsim_pause();
            e = entry_at(&l->seen[k]);
            l->seen[k].frozen =
                refs_freeze(e ? &e->refs : NULL, l->seen[k].record->stamp);
        }
    }
}

/* --- Holds ------------------------------------------------------------------ */

/* For WRITE, for which readers are not waited for. */
static void take(struct refs_part *part)
{
    struct refsim_region *r = region_of(part);

    refsim_pause();
    part->taken = r->alive && !r->writers && !r->taken;
    r->taken = r->taken || part->taken;
}

/* Does a rank of @node READ it? */
static bool read_at(uint32_t node, const struct refsim_region *r)
{
    for (uint32_t i = 0; i < refsim.ranks; i++) {
        const struct refsim_rank *rank = &refsim.rank[i];

        for (uint32_t h = 0; h < rank->held_count; h++)
            if (rank->node == node && rank->held[h].region == r &&
                !(rank->held[h].old && refs_fault == FAULT_FORGET_PINNED))
                return true;
    }
    return false;
}

static void release(struct refs_part *part)
{
    if (part->taken)
        region_of(part)->taken = false;
    part->taken = false;
}

static void take_all(struct looking *l)
{
    struct refs_search *s = &l->search;

    for (size_t i = 0; i < s->parts; i++)
        if (refs_search_frozen(s, &s->part[i]))
            take(&s->part[i]);
    for (uint32_t n = 0; n < refsim.script->nodes; n++) {
        refsim_pause();
        for (size_t i = 0; i < s->parts; i++)
            if (read_at(n, region_of(&s->part[i])))
                release(&s->part[i]);
    }
}

/* --- The end ---------------------------------------------------------------- */

static void doom(const struct refs_seen *seen)
{
    struct refsim_entry *e = entry_at(seen);

    if (e)
        refs_doom(&e->refs);
    else
        refsim_found("search: what was frozen is gone");
}

static void cut(const struct refs_seen *seen)
{
    uint32_t node = (uint32_t)seen->node;
    struct refsim_entry *e = entry_at(seen);
    struct refs_link **p = e && e->refs.home ? &e->refs.links : NULL;

    while (p && *p) {
        struct refs_link *link = *p;
        struct refsim_entry *to =
            refsim_find(node, link->address, link->incarnation);

        if (!to || to->refs.use != REFS_DOOMED) {
            p = &link->next;
            continue;
        }
        refs_cut(&to->refs);
        refsim_drop(node, to);
        *p = link->next;
        free(link);
    }
}

static void end_part(struct refs_part *part)
{
    uint32_t home = refsim_home(part->entry->address);
    struct refsim_entry *e =
        refsim_find(home, part->entry->address, part->entry->incarnation);
    struct refsim_region *r = region_of(part);

    refsim_pause();
    if (part->live || !e) {
        release(part);
        return;
    }
    /* Now and then somebody asks for it meanwhile. */
    if (!refsim.working || refsim_random(16)) {
        release(part);
        refsim_ends(r);
        refsim_pause();
        refsim_home_gone(home, e);
        return;
    }
    refsim_pause();
    refsim_home_linger(home, e);
    release(part);
}

static void end_all(struct looking *l)
{
    refs_search_spare(&l->search);
    for (size_t i = 0; i < l->search.parts; i++)
        region_of(&l->search.part[i])->doomed |= !l->search.part[i].live;
    each_record(l, true, thaw);
    each_record(l, false, doom);
    each_record(l, false, cut);
    for (size_t i = 0; i < l->search.parts; i++)
        end_part(&l->search.part[i]);
}

/* --- Who searches ----------------------------------------------------------- */

/* One at a time.  False: one that began since has been through. */
static bool elected(void)
{
    uint64_t wanted = refsim.searches_begun + 1;

    for (;;) {
        refsim_pause();
        if (refsim.searches_done >= wanted || refsim.finding[0])
            return false;
        if (refsim.searches_begun == refsim.searches_done) {
            refsim.searches_begun++;
            return true;
        }
    }
}

void refsim_search(void)
{
    struct looking *l;

    if (!elected())
        return;
    l = calloc(1, sizeof(*l));
    if (!l)
        abort();
    l->search.seen = l->seen;
    for (uint32_t n = 0; n < refsim.script->nodes; n++)
        see_node(l, n);
    l->search.room = malloc(refs_search_room(&l->search));
    if (!l->search.room)
        abort();
    refs_search_find(&l->search);
    if (l->search.parts) {
        freeze(l);
        take_all(l);
        end_all(l);
    }
    free(l->search.room);
    for (size_t i = 0; i < SEEN_MAX; i++)
        free(l->record[i]);
    free(l);
    refsim.searches_done++;
}
