/* References to managed regions, counted by node: see references.h. */
#include "protocol/references.h"
#include "protocol/refs_faults.h"

#include <string.h>

#ifdef PROTO_FAULTS
uint32_t refs_fault;
#endif

/* --- At home -------------------------------------------------------------- */

static struct refs_node *find_node(const struct refs_entry *e, int node)
{
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].node == node)
            return &e->nodes[i];
    return NULL;
}

uint32_t refs_room(const struct refs_entry *e, int self, int node)
{
    if (node == self || e->nodes_count < e->nodes_room || find_node(e, node))
        return 0;
    return e->nodes_room ? 2 * e->nodes_room : 2;
}

struct refs_node *refs_grow(struct refs_entry *e, struct refs_node *nodes,
                            uint32_t room)
{
    struct refs_node *old = e->nodes;

    if (e->nodes_count)
        memcpy(nodes, old, e->nodes_count * sizeof(*nodes));
    e->nodes = nodes;
    e->nodes_room = room;
    return old;
}

void refs_count(struct refs_entry *e, int self, int node, int64_t by,
                bool wants_end)
{
    struct refs_node *n;

    e->stamp++;
    if (node == self) {
        e->references += by;
        return;
    }
    n = find_node(e, node);
    if (!n) {
        n = &e->nodes[e->nodes_count++];
        *n = (struct refs_node){.node = node};
    }
    n->listed += by;
    if (FAULT(FAULT_UNSIGNED) && n->listed < 0)
        n->listed = 0;
    n->wants_end = n->wants_end || wants_end;
    if (!n->listed && !n->wants_end)
        *n = e->nodes[--e->nodes_count];
}

bool refs_unused(const struct refs_entry *e)
{
    if (e->references)
        return false;
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].listed)
            return false;
    return true;
}

bool refs_look(struct refs_entry *e)
{
    if (!e->home || e->use != REFS_USED || !refs_unused(e))
        return false;
    e->use = REFS_UNUSED;
    return true;
}

bool refs_end(struct refs_entry *e)
{
    if (e->use == REFS_DOOMED)
        return true;
    e->use = refs_unused(e) ? REFS_ENDING : REFS_USED;
    return e->use == REFS_ENDING;
}

void refs_linger(struct refs_entry *e)
{
    if (FAULT(FAULT_REVIVE) && e->use == REFS_DOOMED)
        e->use = REFS_USED;
    if (e->use == REFS_ENDING)
        e->use = REFS_UNUSED;
}

int refs_asked(const struct refs_entry *e)
{
    if (!e || !e->home || e->use == REFS_DOOMED)
        return DRASYNC_EDELETED;
    return e->use == REFS_ENDING && !FAULT(FAULT_NO_BARRIER) ? DRASYNC_EAGAIN
                                                             : 0;
}

int refs_begin(struct refs_entry *e)
{
    if (e->home)
        return DRASYNC_EMANAGED;
    e->home = true;
    e->use = REFS_USED;
    e->stamp++;
    return 0;
}

void refs_link(struct refs_entry *e, struct refs_link *link)
{
    link->next = e->links;
    e->links = link;
    e->stamp++;
}

struct refs_link *refs_unlink(struct refs_entry *e, uint64_t to)
{
    struct refs_link **p = &e->links, *link;

    while (*p && (*p)->address != to)
        p = &(*p)->next;
    link = *p;
    if (link) {
        *p = link->next;
        link->next = NULL;
        e->stamp++;
    }
    return link;
}

/* The one of @address, or NULL. */
static struct refs_asked_link *find_asked(struct refs_asked_link *asked,
                                          size_t count, uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (asked[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && asked[low].address == address ? &asked[low] : NULL;
}

bool refs_linked(const struct refs_entry *e, struct refs_asked_link *asked,
                 size_t count, size_t links_max)
{
    const struct refs_link *link = e->links;
    struct refs_asked_link *a;

    for (size_t i = 0; i < count; i++)
        asked[i].linked = false;
    for (; link && links_max; link = link->next, links_max--) {
        a = find_asked(asked, count, link->address);
        if (a && a->incarnation == link->incarnation)
            a->linked = true;
    }
    return !link;
}

/* --- At any node ---------------------------------------------------------- */

bool refs_may_change(const struct refs_entry *e, int64_t by)
{
    bool ends = e->use == REFS_ENDING || e->use == REFS_DOOMED;

    if (by < 0)
        return e->references > e->of_links;
    return e->references > 0 && !(by > 0 && ends && !FAULT(FAULT_NO_BARRIER));
}

bool refs_is_meant(const struct refs_entry *a, const struct refs_entry *b)
{
    bool own = refs_may_change(a, -1);

    return own == refs_may_change(b, -1) ? a->incarnation < b->incarnation
                                         : own;
}

bool refs_to_link(struct refs_entry *e)
{
    bool has = e->references > e->of_links;

    e->of_links += has;
    return has;
}

void refs_from_link(struct refs_entry *e)
{
    e->of_links--;
}

int64_t refs_tell(const struct refs_entry *e, int64_t by)
{
    return e->references + by == 0 ? -e->told : 0;
}

void refs_change(struct refs_entry *e, int64_t by)
{
    e->stamp++;
    e->references += by;
    if (!e->references)
        e->told = 0;
}

bool refs_given(struct refs_entry *e)
{
    bool listed = !e->references && !e->home;

    e->stamp++;
    e->told += listed;
    e->references++;
    return listed;
}

void refs_got(struct refs_entry *e)
{
    e->stamp++;
    e->told++;
    e->references++;
}
