/* references_calls.c - what runtime/managed/ does between its locks and its
 * messages, with protocol/references.h.  Each function is like the one there of
 * the same name, which has managed_ before it. */
#include <stdlib.h>

#include "sim/references.h"

uint32_t refsim_home(uint64_t address)
{
    return (uint32_t)(address >> 32);
}

/* --- Entries -------------------------------------------------------------- */

struct refsim_entry *refsim_find(uint32_t node, uint64_t address,
                                 uint64_t incarnation)
{
    struct refsim_entry *e = refsim.node[node].entries;

    while (e &&
           (e->refs.address != address || e->refs.incarnation != incarnation))
        e = e->next;
    return e;
}

struct refsim_entry *refsim_referred(uint32_t node, uint64_t address)
{
    struct refsim_entry *found = NULL;

    for (struct refsim_entry *e = refsim.node[node].entries; e; e = e->next)
        if (e->refs.address == address && e->refs.references > 0 &&
            (!found || refs_is_meant(&e->refs, &found->refs)))
            found = e;
    return found;
}

struct refsim_entry *refsim_entry(uint32_t node, uint64_t address,
                                  uint64_t incarnation)
{
    struct refsim_entry *e = refsim_find(node, address, incarnation);

    if (e)
        return e;
    e = calloc(1, sizeof(*e));
    if (!e)
        abort();
    e->refs.address = address;
    e->refs.incarnation = incarnation;
    e->refs.stamp = ++refsim.stamps << 32;
    e->next = refsim.node[node].entries;
    refsim.node[node].entries = e;
    return e;
}

void refsim_drop(uint32_t node, struct refsim_entry *e)
{
    struct refsim_entry **p = &refsim.node[node].entries;

    if (e->refs.references || e->refs.told || e->calls || e->refs.home)
        return;
    while (*p != e)
        p = &(*p)->next;
    *p = e->next;
    free(e->refs.nodes);
    free(e);
}

struct refsim_entry *refsim_entry_of(struct refs_entry *refs)
{
    return (struct refsim_entry *)(void *)refs; /* its first member */
}

/* --- Counts --------------------------------------------------------------- */

static bool is_on(const struct refsim_entry *head, const struct refsim_entry *e)
{
    while (head && head != e)
        head = head->unused_next;
    return head != NULL;
}

/* Is it to be ended later? */
static bool is_listed(uint32_t node, const struct refsim_entry *e)
{
    bool listed = e->popped || is_on(refsim.node[node].fresh.first, e) ||
                  is_on(refsim.node[node].lingering.first, e);

    if (listed)
        refsim_found("ends: what is to be ended twice");
    return listed;
}

/* @list is one of those of that. */
static void put(uint32_t node, struct refsim_list *list, struct refsim_entry *e)
{
    if (is_listed(node, e))
        return;
    e->unused_next = NULL;
    if (list->first)
        list->last->unused_next = e;
    else
        list->first = e;
    list->last = e;
}

void refsim_home_look(uint32_t node, struct refsim_entry *e)
{
    if (refs_look(&e->refs))
        put(node, &refsim.node[node].fresh, e);
}

static void count(uint32_t home, struct refsim_entry *e, uint32_t node,
                  int64_t by, bool wants_end)
{
    uint32_t room = refs_room(&e->refs, (int)home, (int)node);

    if (room)
        free(refs_grow(&e->refs, calloc(room, sizeof(struct refs_node)), room));
    refs_count(&e->refs, (int)home, (int)node, by, wants_end);
    refsim_home_look(home, e);
}

static void counted(uint32_t home, const struct refsim_packet *p)
{
    struct refsim_entry *e = refsim_find(home, p->address, p->incarnation);

    if (e && e->refs.home)
        count(home, e, (uint32_t)p->node, p->by, p->wants_end);
    else
        refsim_found("counts: of a region that has ended");
}

/* Tell the home of @address what @node has. */
void refsim_tell_count(uint32_t from, uint32_t node, uint64_t address,
                       uint64_t incarnation, int64_t by, bool wants_end)
{
    const struct refsim_packet p = {
        .kind = REFSIM_COUNT,
        .node = (int32_t)node,
        .address = address,
        .incarnation = incarnation,
        .by = by,
        .wants_end = wants_end,
    };

    if (refsim_home(address) == from)
        counted(from, &p);
    else
        refsim_send(from, refsim_home(address), &p);
}

/* managed_change() and managed_give_back(): *ends_out is to be ended at once. */
int refsim_change(uint32_t node, uint64_t address, uint64_t incarnation,
                  int64_t by, struct refsim_entry **ends_out)
{
    struct refsim_entry *e = incarnation
                                 ? refsim_find(node, address, incarnation)
                                 : refsim_referred(node, address);
    int64_t tell;

    if (!e || !refs_may_change(&e->refs, by))
        return DRASYNC_EINVAL;
    tell = refs_tell(&e->refs, by);
    if (tell)
        refsim_tell_count(node, node, address, e->refs.incarnation, tell,
                          false);
    refs_change(&e->refs, by);
    if (!ends_out)
        refsim_home_look(node, e);
    else if (refs_look(&e->refs) && refs_end(&e->refs))
        *ends_out = e;
    refsim_drop(node, e);
    return 0;
}

static void leave_end(uint32_t node, const struct refs_link *link)
{
    struct refsim_entry *e =
        refsim_find(node, link->address, link->incarnation);

    if (e)
        refs_from_link(&e->refs);
}

static void links_end(uint32_t node, struct refs_link *links)
{
    struct refs_link *next;

    for (; links; links = next) {
        next = links->next;
        refsim_pause();
        leave_end(node, links);
        if (refsim_change(node, links->address, links->incarnation, -1, NULL))
            refsim_found("counts: a link's reference is lost");
        free(links);
    }
}

/* --- At home -------------------------------------------------------------- */

static int home_ask(uint32_t home, uint32_t node, enum refs_ask what,
                    uint64_t address, uint64_t incarnation)
{
    struct refsim_entry *e = refsim_find(home, address, incarnation);
    int err = 0;

    if (what == REFS_ASK_MANAGE) {
        e = refsim_entry(home, address, incarnation);
        err = refs_begin(&e->refs);
        if (!err)
            count(home, e, node, 1, false);
        return err;
    }
    err = refs_asked(e ? &e->refs : NULL);
    if (!err && what == REFS_ASK_REF)
        count(home, e, node, 1, false);
    return err;
}

static int home_link(uint32_t home, const struct refsim_packet *p)
{
    struct refs_link *link = calloc(1, sizeof(*link));
    struct refsim_entry *e;
    int err;

    if (!link)
        abort();
    link->address = p->to;
    link->incarnation = p->to_incarnation;
    e = refsim_find(home, p->to, p->to_incarnation);
    if (!e || !refs_to_link(&e->refs))
        refsim_found("counts: a link has no reference");
    link->to = e && e->refs.home ? &e->refs : NULL;
    refsim_pause();
    e = refsim_find(home, p->address, p->incarnation);
    err = refs_asked(e ? &e->refs : NULL);
    if (!err) {
        refs_link(&e->refs, link);
        return 0;
    }
    leave_end(home, link);
    free(link);
    if (err != DRASYNC_EAGAIN) {
        refsim_pause();
        refsim_change(home, p->to, p->to_incarnation, -1, NULL);
    }
    return err;
}

static int home_unlink(uint32_t home, const struct refsim_packet *p)
{
    struct refsim_entry *e = refsim_find(home, p->address, p->incarnation);
    struct refs_link *link;
    int err = refs_asked(e ? &e->refs : NULL);

    if (err)
        return err;
    link = refs_unlink(&e->refs, p->to);
    if (!link)
        return DRASYNC_EINVAL;
    links_end(home, link);
    return 0;
}

int refsim_answer(uint32_t home, uint32_t node, const struct refsim_packet *p)
{
    switch (p->ask) {
    case REFS_ASK_LINK:
        return home_link(home, p);
    case REFS_ASK_UNLINK:
        return home_unlink(home, p);
    default:
        return home_ask(home, node, (enum refs_ask)p->ask, p->address,
                        p->incarnation);
    }
}

/* --- The end -------------------------------------------------------------- */

static void ended(uint32_t node, struct refsim_entry *e)
{
    struct refsim_region *r = refsim_at(e->refs.address, e->refs.incarnation);

    r->told[node] += e->calls;
    e->calls = 0;
    refsim_drop(node, e);
}

void refsim_home_gone(uint32_t home, struct refsim_entry *e)
{
    struct refs_link *links = e->refs.links;

    if (is_listed(home, e))
        return;
    e->refs.links = NULL;
    for (uint32_t i = 0; i < e->refs.nodes_count; i++) {
        const struct refsim_packet p = {
            .kind = REFSIM_END,
            .address = e->refs.address,
            .incarnation = e->refs.incarnation,
        };

        if (e->refs.nodes[i].wants_end)
            refsim_send(home, (uint32_t)e->refs.nodes[i].node, &p);
    }
    e->refs.home = false;
    ended(home, e);
    if (refs_fault == FAULT_FORGET_LINKS) {
        while (links) {
            struct refs_link *next = links->next;

            free(links);
            links = next;
        }
        return;
    }
    links_end(home, links);
}

void refsim_home_linger(uint32_t home, struct refsim_entry *e)
{
    refs_linger(&e->refs);
    put(home, &refsim.node[home].lingering, e);
}

void refsim_end_one(uint32_t home, struct refsim_entry *e)
{
    struct refsim_region *r = refsim_at(e->refs.address, e->refs.incarnation);

    refsim_pause();
    if (r->readers || r->writers || r->taken) {
        refsim_pause();
        refsim_home_linger(home, e);
        return;
    }
    refsim_ends(r);
    refsim_pause();
    refsim_home_gone(home, e);
}

static struct refsim_entry *pop(struct refsim_list *list)
{
    struct refsim_entry *e = list->first;

    if (e)
        list->first = e->unused_next;
    return e;
}

static void end(uint32_t home, struct refsim_entry *e)
{
    e->popped = true;
    refsim_pause();
    e->popped = false;
    if (refs_end(&e->refs))
        refsim_end_one(home, e);
}

void refsim_home_end(uint32_t home, bool all)
{
    struct refsim_node *node = &refsim.node[home];
    struct refsim_entry *e;
    uint32_t left = 0;

    for (e = node->lingering.first; all && e; e = e->unused_next)
        left++;
    while (left-- && (e = pop(&node->lingering)))
        end(home, e);
    while ((e = pop(&node->fresh)))
        end(home, e);
}

/* --- Messages ------------------------------------------------------------- */

void refsim_serve(uint32_t node, const struct refsim_packet *p)
{
    struct refsim_packet reply = {.reply = true, .rank = p->rank};
    struct refsim_entry *e = NULL;

    switch (p->kind) {
    case REFSIM_ASK:
        reply.error = refsim_answer(node, p->from, p);
        break;
    case REFSIM_HAND:
        reply.listed =
            refs_given(&refsim_entry(node, p->address, p->incarnation)->refs);
        break;
    case REFSIM_COUNT:
        counted(node, p);
        return;
    default:
        e = refsim_find(node, p->address, p->incarnation);
        if (e)
            ended(node, e);
        return;
    }
    refsim_send(node, p->from, &reply);
}
