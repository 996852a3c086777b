/* Circles of managed regions over several nodes: see search.h. */
#include "protocol/search.h"
#include "protocol/refs_faults.h"

#include <stdlib.h>
#include <string.h>

/* --- Records -------------------------------------------------------------- */

bool refs_searched(const struct refs_entry *e)
{
    return e->home ? e->links && e->use == REFS_USED : e->references > 0;
}

static uint32_t links_of(const struct refs_entry *e)
{
    uint32_t count = 0;

    for (const struct refs_link *l = e->links; l; l = l->next)
        count++;
    return count;
}

static size_t bytes_of(const struct refs_record *r)
{
    return sizeof(*r) + r->links * sizeof(struct refs_name) +
           r->listings * sizeof(struct refs_listing);
}

static struct refs_record head_of(const struct refs_entry *e)
{
    return (struct refs_record){
        .address = e->address,
        .incarnation = e->incarnation,
        .stamp = e->stamp,
        .references = e->references,
        .told = e->told,
        .links = links_of(e),
        .listings = e->nodes_count,
        .home = e->home,
        .used = e->use == REFS_USED,
    };
}

size_t refs_record_bytes(const struct refs_entry *e)
{
    const struct refs_record head = head_of(e);

    return bytes_of(&head);
}

static const struct refs_name *links_behind(const struct refs_record *r)
{
    return (const struct refs_name *)(const void *)(r + 1);
}

static const struct refs_listing *listings_behind(const struct refs_record *r)
{
    return (const struct refs_listing *)(const void *)(links_behind(r) +
                                                       r->links);
}

void refs_record_write(const struct refs_entry *e, void *to)
{
    struct refs_record *r = to;
    struct refs_name *name = (struct refs_name *)(void *)(r + 1);
    struct refs_listing *listing;

    *r = head_of(e);
    for (const struct refs_link *l = e->links; l; l = l->next)
        *name++ = (struct refs_name){l->address, l->incarnation};
    listing = (struct refs_listing *)(void *)name;
    for (uint32_t i = 0; i < e->nodes_count; i++)
        listing[i] = (struct refs_listing){.listed = e->nodes[i].listed,
                                           .node = e->nodes[i].node};
}

size_t refs_record_read(const void *from, size_t bytes,
                        const struct refs_record **record_out)
{
    const struct refs_record *r = from;

    if (bytes < sizeof(*r) || r->links > bytes / sizeof(struct refs_name) ||
        r->listings > bytes / sizeof(struct refs_listing) ||
        bytes_of(r) > bytes)
        return 0;
    *record_out = r;
    return bytes_of(r);
}

/* --- Sorting -------------------------------------------------------------- */

/* By region, and that of the home first. */
static int by_region(const void *a, const void *b)
{
    const struct refs_record *x = ((const struct refs_seen *)a)->record;
    const struct refs_record *y = ((const struct refs_seen *)b)->record;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->incarnation != y->incarnation)
        return x->incarnation < y->incarnation ? -1 : 1;
    return (int)y->home - (int)x->home;
}

static bool same_region(const struct refs_record *a,
                        const struct refs_record *b)
{
    return a->address == b->address && a->incarnation == b->incarnation;
}

static struct refs_found *find(const struct refs_search *s,
                               const struct refs_name *name)
{
    size_t low = 0, high = s->found_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct refs_entry *e = &s->found[middle].entry;

        if (e->address < name->address ||
            (e->address == name->address && e->incarnation < name->incarnation))
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->found_count &&
                   s->found[low].entry.address == name->address &&
                   s->found[low].entry.incarnation == name->incarnation
               ? &s->found[low]
               : NULL;
}

/* --- Regions --------------------------------------------------------------- */

/* Of @node, which is not the home; NULL: none, or several. */
static const struct refs_record *
sent_by(const struct refs_search *s, const struct refs_found *f, int32_t node)
{
    const struct refs_record *sent = NULL;

    for (size_t i = f->first + 1; i < f->first + f->count; i++) {
        if (s->seen[i].node != node)
            continue;
        if (sent)
            return NULL;
        sent = s->seen[i].record;
    }
    return sent;
}

static int64_t listed_for(const struct refs_record *home, int32_t node)
{
    for (uint32_t i = 0; i < home->listings; i++)
        if (listings_behind(home)[i].node == node)
            return listings_behind(home)[i].listed;
    return 0;
}

/* Is nothing of it on its way, or being changed? */
static bool settled(const struct refs_search *s, const struct refs_found *f)
{
    const struct refs_record *home = s->seen[f->first].record;

    if (!home->used || FAULT(FAULT_ON_ITS_WAY))
        return home->used;
    for (size_t i = f->first + 1; i < f->first + f->count; i++) {
        const struct refs_record *r = s->seen[i].record;

        if (r->home || !r->used || sent_by(s, f, s->seen[i].node) != r ||
            listed_for(home, s->seen[i].node) != r->told)
            return false;
    }
    for (uint32_t i = 0; i < home->listings; i++) {
        const struct refs_listing *l = &listings_behind(home)[i];

        if (l->listed && !sent_by(s, f, l->node))
            return false;
    }
    return true;
}

/* The records from s->seen[@first] on, @count of them, are of one region. */
static void add_found(struct refs_search *s, size_t first, size_t count)
{
    const struct refs_record *home = s->seen[first].record;
    struct refs_found *f = &s->found[s->found_count];

    if (!home->home)
        return;
    *f = (struct refs_found){
        .entry = {.address = home->address,
                  .incarnation = home->incarnation,
                  .home = true},
        .first = first,
        .count = count,
    };
    for (size_t i = first; i < first + count; i++)
        f->entry.references += s->seen[i].record->references;
    f->entry.use = settled(s, f) ? REFS_USED : REFS_UNUSED;
    s->found_count++;
}

static void group(struct refs_search *s)
{
    size_t first = 0;

    for (size_t i = 1; i <= s->count; i++) {
        if (i < s->count &&
            same_region(s->seen[i].record, s->seen[first].record))
            continue;
        add_found(s, first, i - first);
        first = i;
    }
}

static void link_all(struct refs_search *s)
{
    struct refs_link *next = s->link;

    for (size_t i = 0; i < s->found_count; i++) {
        struct refs_entry *e = &s->found[i].entry;
        const struct refs_record *r = s->seen[s->found[i].first].record;

        for (uint32_t l = 0; l < r->links; l++) {
            const struct refs_name *to = &links_behind(r)[l];
            struct refs_found *f = find(s, to);

            *next = (struct refs_link){.address = to->address,
                                       .incarnation = to->incarnation,
                                       .to = f ? &f->entry : NULL};
            refs_link(e, next++);
        }
    }
}

/* --- Searching ------------------------------------------------------------ */

size_t refs_search_room(const struct refs_search *s)
{
    size_t links = 0;

    for (size_t i = 0; i < s->count; i++)
        links += s->seen[i].record->links;
    return s->count *
               (sizeof(*s->found) + sizeof(*s->open) + sizeof(*s->part)) +
           links * sizeof(*s->link) + 1;
}

void refs_search_find(struct refs_search *s)
{
    s->found = s->room;
    s->part = (struct refs_part *)(void *)(s->found + s->count);
    s->open = (size_t *)(void *)(s->part + s->count);
    s->link = (struct refs_link *)(void *)(s->open + s->count);
    s->found_count = s->parts = 0;
    if (s->count)
        qsort(s->seen, s->count, sizeof(*s->seen), by_region);
    group(s);
    link_all(s);
    for (size_t i = 0; i < s->found_count; i++)
        s->part[i] = (struct refs_part){.entry = &s->found[i].entry};
    s->parts = refs_find_garbage(s->part, s->found_count, s->open);
}

bool refs_search_frozen(const struct refs_search *s,
                        const struct refs_part *part)
{
    const struct refs_found *f = refs_found_of(part);

    for (size_t k = f->first; k < f->first + f->count; k++)
        if (!s->seen[k].frozen)
            return false;
    return true;
}

void refs_search_spare(struct refs_search *s)
{
    /* What it cuts belongs to the search. */
    refs_spare(s->part, s->parts, s->open);
    for (size_t i = 0; i < s->parts; i++) {
        const struct refs_found *f = refs_found_of(&s->part[i]);

        for (size_t k = f->first; k < f->first + f->count; k++)
            s->seen[k].live = s->part[i].live;
    }
}

/* --- At any node ---------------------------------------------------------- */

bool refs_freeze(struct refs_entry *e, uint64_t stamp)
{
    if (!e || e->use != REFS_USED ||
        (e->stamp != stamp && !FAULT(FAULT_FREEZE_CHANGED)))
        return false;
    e->use = REFS_ENDING;
    return true;
}

void refs_thaw(struct refs_entry *e)
{
    e->use = REFS_USED;
}

void refs_doom(struct refs_entry *e)
{
    e->use = REFS_DOOMED;
}

void refs_cut(struct refs_entry *to)
{
    refs_from_link(to);
    to->references--;
    if (!to->home && !to->references)
        to->told = 0;
}
