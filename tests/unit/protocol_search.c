/*
 * What of records is garbage (protocol/search.h): circles over nodes, and all
 * that makes a region live: a reference of a rank, one on its way, a node that
 * was not heard, an entry that changed; and records that are none.
 */
#include "protocol/search.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { NODES = 3, ENTRIES = 16 };

/* --- A world of nodes ------------------------------------------------------ */

static struct known {
    struct refs_entry refs;
    struct refs_node nodes[NODES];
    struct refs_link links[4];
    int links_count;
    int node;
} known[ENTRIES];
static int known_count;

/* Records, and those that are seen. */
static uint64_t room[4096];
static size_t room_used;
static struct refs_seen seen[2 * ENTRIES];
static struct refs_search search;

static void begin(void)
{
    memset(known, 0, sizeof(known));
    known_count = 0;
}

/* Of region @address at @node, its home or not. */
static struct known *entry(int node, uint64_t address, bool home)
{
    struct known *k = &known[known_count++];

    k->node = node;
    k->refs.address = address;
    k->refs.incarnation = address + 100;
    k->refs.home = home;
    k->refs.stamp = 7;
    k->refs.nodes = k->nodes;
    k->refs.nodes_room = NODES;
    return k;
}

/* A link at @from's node, to @to, whose entry at that node is @here. */
static void join(struct known *from, const struct known *to, struct known *here)
{
    struct refs_link *link = &from->links[from->links_count++];

    link->address = to->refs.address;
    link->incarnation = to->refs.incarnation;
    refs_link(&from->refs, link);
    here->refs.references++;
    refs_to_link(&here->refs);
}

/* Node @node was told that it is listed, and is. */
static void list(struct known *home, struct known *there)
{
    refs_count(&home->refs, home->node, there->node, 1, false);
    there->refs.told = 1;
}

static void see(const struct known *k)
{
    const struct refs_record *record;
    size_t bytes = refs_record_bytes(&k->refs);

    if (!refs_searched(&k->refs))
        return;
    refs_record_write(&k->refs, &room[room_used]);
    if (refs_record_read(&room[room_used], bytes, &record) != bytes)
        abort();
    room_used += bytes / sizeof(room[0]);
    seen[search.count++] =
        (struct refs_seen){.record = record, .node = k->node};
}

/* How many parts are found; refs_search_free() is free(). */
static size_t parts(void)
{
    search.seen = seen;
    free(search.room);
    search.room = malloc(refs_search_room(&search));
    if (!search.room)
        abort();
    refs_search_find(&search);
    return search.parts;
}

static size_t found(void)
{
    search.count = room_used = 0;
    for (int i = 0; i < known_count; i++)
        see(&known[i]);
    return parts();
}

/* A at node 0 and B at node 1 are linked to each other. */
static struct pair {
    struct known *a, *b, *a_there, *b_there;
} pair(void)
{
    struct pair p;

    begin();
    p.a = entry(0, 1, true);
    p.b = entry(1, 2, true);
    p.a_there = entry(1, 1, false);
    p.b_there = entry(0, 2, false);
    join(p.a, p.b, p.b_there);
    join(p.b, p.a, p.a_there);
    list(p.a, p.a_there);
    list(p.b, p.b_there);
    return p;
}

/* --- Cases ------------------------------------------------------------------ */

static void circles(void)
{
    struct pair p = pair();
    struct known *c, *c_there;

    tap_ok(found() == 2, "a circle over two nodes is garbage");
    p.a->refs.references++;
    tap_ok(found() == 0, "not if a rank of a part's home refers to it");
    p = pair();
    p.a_there->refs.references++;
    tap_ok(found() == 0, "nor a rank of another node");
    p = pair();
    c = entry(2, 3, true);
    c_there = entry(0, 3, false);
    join(p.a, c, c_there);
    list(c, c_there);
    tap_ok(found() == 2, "what it refers to ends by counting");
    p = pair();
    c = entry(2, 3, true);
    c_there = entry(2, 1, false);
    join(c, p.a, c_there);
    list(p.a, c_there);
    c->refs.references = 1;
    tap_ok(found() == 0, "what a live region refers to is live");
}

static void on_the_way(void)
{
    struct pair p = pair();

    p.a->nodes[0].listed = 2;
    tap_ok(found() == 0, "a node is listed for more than it was told of");
    p = pair();
    p.a_there->refs.told = 2;
    tap_ok(found() == 0, "or for less");
    p = pair();
    refs_count(&p.a->refs, 0, 2, 1, false);
    tap_ok(found() == 0, "or one that knows nothing");
    p = pair();
    search.count = room_used = 0;
    for (int i = 0; i < known_count; i++)
        if (&known[i] != p.a_there)
            see(&known[i]);
    tap_ok(parts() == 0, "a record is missing");
    search.count = room_used = 0;
    for (int i = 0; i < known_count; i++)
        if (&known[i] != p.b)
            see(&known[i]);
    tap_ok(parts() == 0, "that of a home");
    found();
    see(p.a_there);
    tap_ok(parts() == 0, "one came twice");
    found();
    see(p.b);
    tap_ok(parts() == 0, "that of a home");
    p.b_there->refs.use = REFS_ENDING;
    tap_ok(found() == 0, "one is frozen");
    search.count = 0;
    tap_ok(parts() == 0, "nobody knows anything");
}

static void frozen(void)
{
    struct pair p = pair();
    uint64_t stamp = p.b_there->refs.stamp;

    p.b_there->refs.references++; /* a rank's, beside the link's */
    tap_ok(!refs_freeze(NULL, stamp) &&
               !refs_freeze(&p.b_there->refs, stamp + 1),
           "an entry that is gone, or has changed, is not frozen");
    tap_ok(refs_freeze(&p.b_there->refs, stamp) &&
               !refs_may_change(&p.b_there->refs, 1) &&
               refs_may_change(&p.b_there->refs, -1),
           "one that is gives no reference away");
    tap_ok(!refs_freeze(&p.b_there->refs, stamp), "and is not frozen twice");
    refs_thaw(&p.b_there->refs);
    refs_change(&p.b_there->refs, 1);
    refs_change(&p.b_there->refs, -1);
    tap_ok(!refs_freeze(&p.b_there->refs, stamp),
           "one that is as it was again has changed");
}

/* Two regions of one address: a rank refers to the newer, a link to both. */
static void links_apart(void)
{
    struct refs_entry old = {.incarnation = 1, .references = 1};
    struct refs_entry young = {.incarnation = 2, .references = 2};

    tap_ok(refs_is_meant(&old, &young) && !refs_is_meant(&young, &old),
           "of two that ranks refer to the older one is meant");
    tap_ok(refs_to_link(&old) && refs_to_link(&young) && !refs_to_link(&old),
           "a link takes a reference that is no link's");
    tap_ok(!refs_may_change(&old, -1) && refs_may_change(&old, 1) &&
               refs_may_change(&young, -1),
           "which is not given back, but leads to another");
    tap_ok(refs_is_meant(&young, &old) && !refs_is_meant(&old, &young),
           "what ranks refer to comes before what links do");
    refs_from_link(&old);
    tap_ok(refs_may_change(&old, -1), "what was a link's is given back");
}

static void spared(void)
{
    struct pair p = pair();
    struct known *c = entry(2, 3, true);

    join(c, c, c);
    tap_ok(found() == 3, "two circles");
    for (size_t i = 0; i < 3; i++)
        search.part[i].taken = search.part[i].entry->address != 2;
    refs_search_spare(&search);
    size_t live = 0;
    for (size_t i = 0; i < search.count; i++)
        live += seen[i].live;
    tap_ok(live == 4 && !search.part[2].live,
           "what is held lives, and all that it reaches, at all nodes");
    (void)p;
}

/* C, which is linked to A, has changed since: it lives, and so do A and B.  D has
 * not, and ends. */
static void changed(void)
{
    struct pair p = pair();
    struct known *c = entry(0, 3, true), *d = entry(2, 4, true);

    join(c, c, c);
    join(c, p.a, p.a);
    join(d, d, d);
    tap_ok(found() == 4, "three circles, one behind another");
    c->refs.stamp++;
    for (size_t i = 0; i < search.count; i++)
        for (int k = 0; k < known_count; k++)
            if (known[k].node == seen[i].node &&
                known[k].refs.address == seen[i].record->address)
                seen[i].frozen =
                    refs_freeze(&known[k].refs, seen[i].record->stamp);
    for (size_t i = 0; i < 4; i++)
        search.part[i].taken = refs_search_frozen(&search, &search.part[i]);
    tap_ok(search.part[0].taken && search.part[1].taken &&
               !search.part[2].taken && search.part[3].taken,
           "the one that has changed is not frozen");
    refs_search_spare(&search);
    tap_ok(search.part[0].live && search.part[1].live && search.part[2].live &&
               !search.part[3].live,
           "it lives, and all that it reaches; another circle ends");
}

/* Circles of one home, which others may change between the two looks: what is
 * not taken lives on, what has changed, and what is gone. */
static void one_home(void)
{
    struct known *k[5];
    struct refs_part part[5];
    size_t open[5], live = 0;
    bool used = true;

    begin();
    for (int i = 0; i < 5; i++) {
        k[i] = entry(0, (uint64_t)i + 1, true);
        join(k[i], k[i], k[i]);
        k[i]->links[0].to = &k[i]->refs;
        part[i] = (struct refs_part){.entry = &k[i]->refs};
    }
    tap_ok(refs_find_garbage(part, 5, open) == 5, "five circles of one home");
    for (int i = 0; i < 5; i++) {
        used = used && k[i]->refs.use == REFS_USED;
        part[i].taken = i != 1;
    }
    tap_ok(used, "a search over all nodes sees them as they are");
    refs_count(&k[2]->refs, 0, 0, 1, false);
    k[3]->refs.use = REFS_ENDING;
    part[4].entry = NULL;
    refs_spare(part, 5, open);
    for (int i = 1; i < 5; i++)
        live += part[i].live && k[i]->refs.use != REFS_DOOMED;
    tap_ok(!part[0].live && k[0]->refs.use == REFS_DOOMED && live == 4 &&
               k[3]->refs.use == REFS_ENDING,
           "it ends; what is held, has changed, is frozen or gone does not");
    tap_ok(!k[0]->refs.links && !k[0]->refs.references,
           "with the link to itself");
}

static void suspects(void)
{
    struct pair p = pair();
    struct refs_part part[] = {{.entry = &p.a->refs}};
    size_t open[1];

    tap_ok(refs_suspected(part, 1, open), "another node may alone refer to it");
    p.a->refs.references = 1;
    tap_ok(!refs_suspected(part, 1, open), "a rank here does");
    p.a->refs.references = 0;
    p.a->refs.nodes_count = 0;
    tap_ok(!refs_suspected(part, 1, open), "nobody elsewhere does");
    p.a->refs.references = 1;
    p.a->refs.use = REFS_ENDING;
    tap_ok(refs_suspected(part, 1, open), "another search has it frozen");
    p.a->refs.references = 0;
    tap_ok(!refs_suspected(part, 1, open),
           "or it ends, as nobody refers to it");
}

static void broken(void)
{
    struct pair p = pair();
    struct refs_record *record = (struct refs_record *)(void *)room;
    const struct refs_record *read;
    size_t bytes = refs_record_bytes(&p.a->refs);
    bool none = true;

    refs_record_write(&p.a->refs, room);
    for (size_t n = 0; n < bytes; n++)
        none &= !refs_record_read(room, n, &read);
    tap_ok(none, "a record that is cut off is none");
    record->links = UINT32_MAX;
    tap_ok(!refs_record_read(room, bytes, &read), "nor one with more links");
    record->links = 1;
    record->listings = UINT32_MAX;
    tap_ok(!refs_record_read(room, bytes, &read), "or listings than there are");
}

/* What a rank asks that looks for links that were forgotten. */
static void linked(void)
{
    struct known *from, *to[3];
    struct refs_asked_link asked[4] = {
        {2, 102, true}, {3, 999, true}, {4, 104, true}, {9, 109, true}};

    begin();
    from = entry(0, 1, true);
    for (int i = 0; i < 3; i++) {
        to[i] = entry(0, (uint64_t)i + 2, true);
        join(from, to[i], to[i]);
    }
    tap_ok(refs_linked(&from->refs, asked, 4, 3) && asked[0].linked &&
               !asked[1].linked && asked[2].linked && !asked[3].linked,
           "links are known by address and incarnation");
    tap_ok(!refs_linked(&from->refs, asked, 4, 2) && !asked[0].linked &&
               asked[2].linked,
           "of more than may be looked at the newest");
    tap_ok(refs_linked(&to[0]->refs, asked, 4, 0) && !asked[2].linked,
           "a region without links has none");
}

int main(void)
{
    circles();
    on_the_way();
    frozen();
    links_apart();
    spared();
    changed();
    one_home();
    suspects();
    broken();
    linked();
    free(search.room);
    return tap_end();
}
