/*
 * Circles: regions that only links of each other keep, where all of them have
 * their home here (protocol/circles.c), and their end.
 *
 * References wait while they are looked for: a visit of each region and link, no
 * message, no hold.  Then each part is taken without waiting, while others go on,
 * and what is as it was is deleted.  What somebody holds, and what that reaches,
 * lives on.  Regions that another node has met are left to the search over all
 * nodes (far.c), which sees nothing of this search until a part is certain garbage.
 */
#include "runtime/managed/state.h"

#include <sched.h>
#include <stdlib.h>

#include "protocol/search.h"
#include "runtime/death.h"
#include "runtime/native/native.h"
#include "runtime/process.h"
#include "runtime/say.h"

/* The regions of this home, and room to look from them. */
struct search {
    struct refs_part *parts;
    size_t count;
    size_t *open;
};

/* --- Under all locks ------------------------------------------------------ */

static int lock_all(void)
{
    struct managed_shared *shared = managed_get();
    int err = 0, i;

    for (i = 0; i < MANAGED_SHARDS && !err; i++)
        err = lock_take(&shared->shards[i].lock);
    while (err && --i > 0)
        lock_give(&shared->shards[i - 1].lock);
    return err;
}

static void unlock_all(void)
{
    for (int i = MANAGED_SHARDS - 1; i >= 0; i--)
        lock_give(&managed_get()->shards[i].lock);
}

static void gather_shard(struct search *s, const struct managed_shard *shard)
{
    uint32_t buckets = shard->buckets ? UINT32_C(1) << shard->bits : 0;

    for (uint32_t b = 0; b < buckets; b++)
        for (struct managed_entry *e = shard->buckets[b]; e; e = e->next)
            if (e->refs.home)
                s->parts[s->count++].entry = &e->refs;
}

/* What is in use.  False: no memory. */
static bool gather(struct search *s)
{
    const struct managed_shared *shared = managed_get();
    size_t room = 1;

    for (int i = 0; i < MANAGED_SHARDS; i++)
        room += shared->shards[i].count;
    s->parts = malloc(room * sizeof(*s->parts));
    s->open = malloc(room * sizeof(*s->open));
    if (!s->parts || !s->open)
        return false;
    for (int i = 0; i < MANAGED_SHARDS; i++)
        gather_shard(s, &shared->shards[i]);
    return true;
}

/* Which entries parts have now. */
static void look_again(struct search *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct managed_entry *e =
            managed_find(s->parts[i].address, s->parts[i].incarnation);

        s->parts[i].entry = e && e->refs.home ? &e->refs : NULL;
    }
}

/* --- Without a lock ------------------------------------------------------- */

static drasync_region_t region_of(const struct refs_part *part)
{
    return (drasync_region_t)(uintptr_t)part->address;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const struct refs_part *)a)->address;
    uint64_t y = ((const struct refs_part *)b)->address;

    return (x > y) - (x < y);
}

/* What cannot be had lives on, and all that it reaches.  In the order of their
 * addresses, in which they were made as a rule: what belongs to neighbours lies
 * together. */
static int spare_held(struct search *s, bool *far_out)
{
    struct refs_link *cut;
    int err;

    qsort(s->parts, s->count, sizeof(*s->parts), by_address);
    for (size_t i = 0; i < s->count; i++)
        s->parts[i].taken =
            native_take_alone(region_of(&s->parts[i]), s->parts[i].incarnation);
    err = lock_all();
    if (err)
        return err;
    look_again(s);
    cut = refs_spare(s->parts, s->count, s->open);
    unlock_all();
    managed_links_free(cut);
    for (size_t i = 0; i < s->count; i++)
        *far_out |= s->parts[i].live;
    return 0;
}

/* End a part, or give it back.  If somebody asked for it who refers to it neither
 * by reference nor by link, it could not be deleted, and goes when nobody holds it
 * any more. */
static int end_part(const struct refs_part *part)
{
    drasync_region_t region = region_of(part);
    int err = 0, lingers;

    if (!part->live) {
        err = native_delete_held_once(region);
        if (!err)
            return managed_home_gone(managed_of(part->entry));
        lingers = managed_home_linger(managed_of(part->entry));
        err = err == DRASYNC_EPEER ? err : lingers;
    }
    if (part->taken)
        native_release_alone(region);
    return err;
}

/* One thread of the node at a time.  No lock: who searches waits for holds. */
static int elect(void)
{
    const uint64_t since_us = runtime_now_us();
    uint32_t nobody = 0, me = (uint32_t)runtime.local + 1;
    int err = 0;

    /* Acquire pairs with the release of who was there before: what it numbered
     * is not read any more. */
    while (!err && !atomic_compare_exchange_weak_explicit(
                       &managed_get()->searching, &nobody, me,
                       memory_order_acquire, memory_order_relaxed)) {
        nobody = 0;
        sched_yield();
        err = death_check(since_us);
    }
    return err;
}

static int search(bool *far_out)
{
    struct search s = {0};
    int err = lock_all();

    if (err)
        return err;
    if (gather(&s)) {
        *far_out =
            runtime.nodes > 1 && refs_suspected(s.parts, s.count, s.open);
        s.count = refs_find_garbage(s.parts, s.count, s.open);
    } else {
        err = DRASYNC_ENOMEM;
    }
    unlock_all();
    if (!err && s.count)
        err = spare_held(&s, far_out);
    for (size_t i = 0; !err && i < s.count; i++)
        err = end_part(&s.parts[i]);
    free(s.parts);
    free(s.open);
    return err;
}

void managed_rank_died(int rank)
{
    struct managed_shared *shared = managed_get();

    if (!shared)
        return;
    if (atomic_load(&shared->searching) == (uint32_t)runtime.local_of[rank] + 1)
        runtime_poison("rank %d died while it looked for circles of regions",
                       rank);
    else if (atomic_load(&shared->rank[runtime.local_of[rank]].ending))
        runtime_poison("rank %d died while it ended a managed region", rank);
}

int managed_circles(bool *far_out)
{
    struct managed_shared *shared = managed_get();
    int err;

    *far_out = false;
    if (!shared ||
        !atomic_load_explicit(&shared->counts.links, memory_order_relaxed))
        return 0;
    err = elect();
    if (err)
        return err;
    err = search(far_out);
    atomic_store_explicit(&shared->searching, 0, memory_order_release);
    return err;
}
