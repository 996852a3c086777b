/*
 * Circles: regions that only links of each other keep, where all of them have
 * their home here.
 *
 * As the paper's collector of MPI objects does (Goodell et al., EuroMPI 2010),
 * but over links: what is referred to otherwise than by links of this home is
 * marked, and what can be reached from there; the rest is garbage, unless
 * somebody holds a part of it, which keeps what that reaches.  References wait
 * while it is looked for: a visit of each region and link, no message, no hold.
 * Then each part is acquired without waiting, and deleted.  What another node
 * has met is not told from what that holds, and stays.
 */
#include "runtime/managed/state.h"

#include <sched.h>
#include <stdlib.h>

#include "runtime/death.h"
#include "runtime/native/native.h"
#include "runtime/process.h"

struct circle_part {
    struct managed_entry *entry;
    bool live;
    bool taken; /* for WRITE, by this rank */
};

/* The regions of this home, and those that are looked from. */
struct search {
    struct circle_part *parts;
    size_t count;
    size_t *open;
    size_t opened;
};

/* --- Under all locks ------------------------------------------------------ */

static int lock_all(void)
{
    struct managed_shared *shared = managed_get();
    int err = 0, i;

    for (i = 0; i < MANAGED_LOCKS && !err; i++)
        err = lock_take(&shared->locks[i]);
    while (err && --i > 0)
        lock_give(&shared->locks[i - 1]);
    return err;
}

static void unlock_all(void)
{
    for (int i = MANAGED_LOCKS - 1; i >= 0; i--)
        lock_give(&managed_get()->locks[i]);
}

static struct managed_entry *linked(const struct managed_link *link)
{
    struct managed_entry *e = managed_find(link->address, link->incarnation);

    return e && e->home ? e : NULL;
}

/* What is in use, numbered.  False: no memory. */
static bool gather(struct search *s)
{
    struct managed_shared *shared = managed_get();
    size_t room = 0;

    for (int b = 0; b < MANAGED_BUCKETS; b++)
        for (struct managed_entry *e = shared->buckets[b]; e; e = e->next)
            room += e->home;
    s->parts = malloc((room + 1) * sizeof(*s->parts));
    s->open = malloc((room + 1) * sizeof(*s->open));
    if (!s->parts || !s->open)
        return false;
    for (int b = 0; b < MANAGED_BUCKETS; b++)
        for (struct managed_entry *e = shared->buckets[b]; e; e = e->next) {
            if (!e->home)
                continue;
            e->number = s->count;
            e->linked = 0;
            s->parts[s->count++] = (struct circle_part){.entry = e};
        }
    return true;
}

static void mark(struct search *s, const struct managed_entry *e)
{
    if (s->parts[e->number].live)
        return;
    s->parts[e->number].live = true;
    s->open[s->opened++] = e->number;
}

/* All that can be reached from what is open. */
static void spread(struct search *s)
{
    while (s->opened) {
        const struct managed_entry *e = s->parts[s->open[--s->opened]].entry;

        for (const struct managed_link *l = e->links; l; l = l->next) {
            const struct managed_entry *to = linked(l);

            if (to)
                mark(s, to);
        }
    }
}

/* Is it referred to by others than links of this home?  What is about to end
 * otherwise is left alone. */
static bool is_root(const struct managed_entry *e)
{
    if (e->use != MANAGED_USED || e->references > e->linked)
        return true;
    for (uint32_t i = 0; i < e->nodes_count; i++)
        if (e->nodes[i].listed)
            return true;
    return false;
}

/* Leave in @s what no root reaches, and let nobody refer to it. */
static void find_garbage(struct search *s)
{
    size_t garbage = 0;

    for (size_t i = 0; i < s->count; i++)
        for (const struct managed_link *l = s->parts[i].entry->links; l;
             l = l->next) {
            struct managed_entry *to = linked(l);

            if (to)
                to->linked++;
        }
    for (size_t i = 0; i < s->count; i++)
        if (is_root(s->parts[i].entry))
            mark(s, s->parts[i].entry);
    spread(s);
    for (size_t i = 0; i < s->count; i++) {
        struct managed_entry *e = s->parts[i].entry;

        if (s->parts[i].live)
            continue;
        e->use = MANAGED_ENDING;
        e->number = garbage;
        s->parts[garbage++] = (struct circle_part){.entry = e};
    }
    s->count = garbage;
}

/* --- Without a lock ------------------------------------------------------- */

/* This rank has it alone, and it is the one that was managed.  WRITE is not
 * enough: others may be reading an older version. */
static bool acquire(const struct managed_entry *e)
{
    drasync_region_t region = (drasync_region_t)(uintptr_t)e->address;
    struct native_identity is;

    if (!native_take_again(region)) {
        if (!native_identify(region, &is) && is.held)
            return false;
        if (native_acquire(region, DRASYNC_WRITE, 0))
            return false;
    }
    if (!native_identify(region, &is) && is.incarnation == e->incarnation &&
        is.alone)
        return true;
    native_release(region);
    return false;
}

/* What cannot be had lives on, and all that it reaches. */
static int spare_held(struct search *s)
{
    int err;

    for (size_t i = 0; i < s->count; i++)
        s->parts[i].taken = acquire(s->parts[i].entry);
    err = lock_all();
    if (err)
        return err;
    for (size_t i = 0; i < s->count; i++)
        if (!s->parts[i].taken)
            mark(s, s->parts[i].entry);
    /* Links to what is garbage no more lead out of the search. */
    while (s->opened) {
        const struct managed_entry *e = s->parts[s->open[--s->opened]].entry;

        for (const struct managed_link *l = e->links; l; l = l->next) {
            const struct managed_entry *to = linked(l);

            if (to && to->number < s->count && s->parts[to->number].entry == to)
                mark(s, to);
        }
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->parts[i].live)
            s->parts[i].entry->use = MANAGED_USED;
    unlock_all();
    return 0;
}

/* Somebody asked for it who refers to it neither by reference nor by link: it
 * could not be deleted, and what else the circle had is gone. */
static int keep(struct managed_entry *e)
{
    int err = managed_lock(e->address);

    if (err)
        return err;
    e->use = MANAGED_USED;
    managed_home_look(e);
    managed_unlock(e->address);
    return 0;
}

static int end_part(const struct circle_part *part)
{
    drasync_region_t region = (drasync_region_t)(uintptr_t)part->entry->address;
    int err = 0;

    if (!part->live) {
        err = native_delete(region);
        if (!err)
            return managed_home_gone(part->entry);
        err = keep(part->entry);
    }
    if (part->taken)
        native_release(region);
    return err;
}

/* One thread of the node at a time.  No lock: who searches waits for holds. */
static int elect(void)
{
    const uint64_t since_us = runtime_now_us();
    uint32_t nobody = 0;
    int err = 0;

    /* Acquire pairs with the release of who was there before: what it numbered
     * is not read any more. */
    while (!err && !atomic_compare_exchange_weak_explicit(
                       &managed_get()->searching, &nobody, 1,
                       memory_order_acquire, memory_order_relaxed)) {
        nobody = 0;
        sched_yield();
        err = death_check(since_us);
    }
    return err;
}

static int search(void)
{
    struct search s = {0};
    int err = lock_all();

    if (err)
        return err;
    if (gather(&s))
        find_garbage(&s);
    else
        err = DRASYNC_ENOMEM;
    unlock_all();
    if (!err && s.count)
        err = spare_held(&s);
    for (size_t i = 0; !err && i < s.count; i++)
        err = end_part(&s.parts[i]);
    free(s.parts);
    free(s.open);
    return err;
}

int managed_circles(void)
{
    struct managed_shared *shared = managed_get();
    int err;

    if (!shared ||
        !atomic_load_explicit(&shared->counts.links, memory_order_relaxed))
        return 0;
    err = elect();
    if (err)
        return err;
    err = search();
    atomic_store_explicit(&shared->searching, 0, memory_order_release);
    return err;
}
