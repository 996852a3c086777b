/*
 * Checked mode, DRASYNC_CHECK=links: which addresses that a region has are of
 * managed regions to which it has no link.
 *
 * Links are known at the region's home only, so it is asked, by who holds the
 * region for WRITE and asks before that ends: what the home answers is of the
 * data that was looked at.
 */
#include "runtime/managed/state.h"

#include <stdlib.h>

#include "memory/space.h"
#include "runtime/check/check.h"
#include "runtime/native/native.h"
#include "runtime/process.h"

/* No call for a region that is not managed, if this node knows that. */
static bool wanted(uint64_t root, uint64_t incarnation)
{
    bool has = false;

    if (managed_get() && !managed_lock(root)) {
        has = managed_find(root, incarnation) != NULL;
        managed_unlock(root);
    }
    return has || (runtime.nodes > 1 && native_home(root) != runtime.node);
}

/* Which root region has @target's address?  target->to stays 0: none. */
static void find_root(struct check_target *target, struct linked *l)
{
    uint64_t page = space_page(&runtime.space, (void *)(uintptr_t)target->word);
    uint64_t address = (uint64_t)(uintptr_t)space_address(&runtime.space, page);
    struct native_root root;
    int home, err = native_root_of((void *)(uintptr_t)target->word, &root);

    if (!err) {
        target->to = root.address;
        target->to_incarnation = root.incarnation;
        return;
    }
    if (err != DRASYNC_ENOREGION || native_ask_home(address, &home))
        return;
    l->what = LINKED_WHERE;
    l->count = 1;
    l->link[0] = (struct refs_asked_link){.address = target->word};
    if (managed_linked_ask(home, l))
        return;
    target->to = l->address;
    target->to_incarnation = l->incarnation;
}

static int by_root(const void *a, const void *b)
{
    const struct check_target *x = a, *y = b;

    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->object != y->object ? (x->object < y->object ? -1 : 1) : 0;
}

/* One target for each root region but @own, in their order. */
static void each_once(struct check_links *links)
{
    uint32_t kept = 0;

    qsort(links->target, links->count, sizeof(links->target[0]), by_root);
    for (uint32_t i = 0; i < links->count; i++) {
        uint64_t to = links->target[i].to;

        if (to && to != links->root &&
            (!kept || links->target[kept - 1].to != to))
            links->target[kept++] = links->target[i];
    }
    links->count = kept;
}

/* Of @count of them, so many as fit a question.  False: the region is not
 * managed, or its home does not answer. */
static bool ask_home(int home, struct check_links *links, uint32_t first,
                     uint32_t count, struct linked *l)
{
    struct check_target *target = links->target + first;

    l->what = LINKED_ASK;
    l->address = links->root;
    l->incarnation = links->root_incarnation;
    l->count = count;
    l->many = 0;
    for (uint32_t i = 0; i < count; i++)
        l->link[i] = (struct refs_asked_link){target[i].to,
                                              target[i].to_incarnation, false};
    if (managed_linked_ask(home, l))
        return false;
    /* Any of them may be among the links that were not looked at. */
    links->many = links->many || l->many;
    for (uint32_t i = 0; i < count; i++)
        target[i].forgotten = !l->many && !l->link[i].linked;
    return true;
}

/* May it end?  It may be about to. */
static bool is_managed(const struct check_target *target)
{
    const struct managed_asked asked = {.address = target->to,
                                        .incarnation = target->to_incarnation,
                                        .what = REFS_ASK_LOOK};
    int home, err = native_ask_home(target->to, &home);

    if (!err)
        err = managed_ask(home, &asked);
    return !err || err == DRASYNC_EAGAIN;
}

static void forgotten(struct check_links *links)
{
    struct linked *l = malloc(sizeof(*l));
    int home, err = native_ask_home(links->root, &home);
    uint32_t count;

    for (uint32_t i = 0; l && i < links->count; i++)
        find_root(&links->target[i], l);
    each_once(links);
    for (uint32_t i = 0; l && !err && i < links->count; i += count) {
        count = links->count - i < LINKED_MAX ? links->count - i : LINKED_MAX;
        if (!ask_home(home, links, i, count, l))
            break;
    }
    free(l);
    for (uint32_t i = 0; i < links->count; i++)
        if (links->target[i].forgotten && !is_managed(&links->target[i]))
            links->target[i].forgotten = false;
}

void managed_linked_start(void)
{
    check_on_links(wanted, forgotten);
}
