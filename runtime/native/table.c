/* Records of regions by address: a hash table that is read without a lock. */
#include <stdlib.h>

#include "memory/control.h"
#include "memory/passed.h"
#include "runtime/native/env.h"
#include "runtime/native/state.h"
#include "runtime/native/table.h"
#include "runtime/process.h"

/* How long a reader without a lock follows a chain that changes under it. */
#define CHAIN_MAX 1024

static _Atomic(struct native_entry *) *bucket_of(uint64_t address)
{
    return &native.shared->buckets[space_page_hash(address, 16)];
}

_Static_assert(NATIVE_BUCKETS == 1 << 16, "bucket_of() keeps 16 bits");

/*
 * Entries are read without a lock, and never given back to control memory.
 * Acquire of a link pairs with the release by which native_env_insert() enters an
 * entry: its address and region are there.  A reader may stand on an entry that
 * is removed, and used again in another chain, meanwhile: it finds nothing
 * there, or a region that its caller looks up again under the lock.
 */

/* Is @e that of @address?  Its creator gets to know that somebody asked: the
 * exchange and that of native_recycle_put_new() are on one word, so one of them
 * fails.  Acquire pairs with the release of native_recycle_take_ready(): the
 * record is as its last use left it. */
static bool is_entry_of(struct native_entry *e, uint64_t address)
{
    uint64_t now = atomic_load_explicit(&e->address, memory_order_acquire);

    if (now == (address | NATIVE_ENTRY_NEW) &&
        atomic_compare_exchange_strong(&e->address, &now, address))
        return true;
    return now == address;
}

/* The first of the chain; another process may have entered it. */
static struct native_entry *chain_of(uint64_t address)
{
    struct native_entry *e =
        atomic_load_explicit(bucket_of(address), memory_order_acquire);

    passed_take();
    return e;
}

static struct proto_region *find_in_chain(uint64_t address, int steps_max)
{
    struct native_entry *e = chain_of(address);

    for (int i = 0; e && i < steps_max; i++) {
        if (is_entry_of(e, address))
            return atomic_load_explicit(&e->region, memory_order_acquire);
        e = atomic_load_explicit(&e->next, memory_order_acquire);
    }
    return NULL;
}

struct native_entry *native_find_entry(uint64_t address)
{
    struct native_entry *e = chain_of(address);

    for (int i = 0; e && i < CHAIN_MAX; i++) {
        if (is_entry_of(e, address))
            return e;
        e = atomic_load_explicit(&e->next, memory_order_acquire);
    }
    return NULL;
}

/* Found without a lock is only a hint: the caller locks and looks again, when
 * nobody removes the record.  Not found is certain. */
struct proto_region *native_find(uint64_t address)
{
    struct proto_region *region = find_in_chain(address, CHAIN_MAX);

    if (region || lock_take(&native.shared->table_lock))
        return region;
    region = find_in_chain(address, INT32_MAX);
    lock_give(&native.shared->table_lock);
    return region;
}

struct proto_region *native_env_find(void *ctx, uint64_t address)
{
    (void)ctx;
    return native_find(address);
}

int native_env_insert(void *ctx, struct proto_region *region)
{
    _Atomic(struct native_entry *) *bucket = bucket_of(region->address);
    struct native_shared *s = native.shared;
    struct native_entry *e;
    void *v;

    (void)ctx;
    if (lock_take(&s->table_lock))
        return DRASYNC_ENOMEM;
    e = s->entries_free;
    if (e) {
        s->entries_free = e->free_next;
    } else {
        if (control_alloc_zero(&runtime.space, sizeof(*e), &v)) {
            lock_give(&s->table_lock);
            return DRASYNC_ENOMEM;
        }
        e = v;
    }
    /* A record that comes again begins with a layout of its own, or a process
     * would take what it showed before for the newest:
     * native_mapping_current(). */
    region->layout = (atomic_fetch_add(&s->stamp, 1) + 1) << 32;
    /* Sequentially consistent, as a reader may stand on this entry: it is not
     * to find the new address with the old region. */
    atomic_store(&e->region, region);
    atomic_store(&e->address, region->address);
    atomic_store(&e->next, atomic_load(bucket));
    atomic_store_explicit(bucket, e, memory_order_release);
    lock_give(&s->table_lock);
    atomic_fetch_add_explicit(&s->regions, 1, memory_order_relaxed);
    return 0;
}

void native_env_remove(void *ctx, struct proto_region *region)
{
    _Atomic(struct native_entry *) *p = bucket_of(region->address);
    struct native_shared *s = native.shared;
    struct native_entry *e;

    (void)ctx;
    if (lock_take(&s->table_lock))
        return;
    while ((e = atomic_load(p)) && atomic_load(&e->region) != region)
        p = &e->next;
    if (e) {
        atomic_store(p, atomic_load(&e->next));
        atomic_store(&e->address, 0);
        e->free_next = s->entries_free;
        s->entries_free = e;
        atomic_fetch_sub_explicit(&s->regions, 1, memory_order_relaxed);
    }
    lock_give(&s->table_lock);
}

/* So many regions of a bucket native_each() visits without more memory, which it may
 * be called for want of; so few that there are seldom more. */
#define EACH_FEW 64

/* In @found, which has @room, regions of a bucket from number @first on; how many.
 * @found NULL: only how many there are. */
static size_t look_in_bucket(int b, size_t first, uint64_t *found, size_t room)
{
    _Atomic(struct native_entry *) *bucket = &native.shared->buckets[b];
    size_t at = 0, n = 0;

    if (!atomic_load(bucket) || lock_take(&native.shared->table_lock))
        return 0;
    for (struct native_entry *e = atomic_load(bucket);
         e && (n < room || !found); e = atomic_load(&e->next)) {
        if (at++ < first)
            continue;
        if (found)
            found[n] = atomic_load(&e->address) & ~NATIVE_ENTRY_NEW;
        n++;
    }
    lock_give(&native.shared->table_lock);
    return n;
}

void native_each(void (*visit)(uint64_t address, void *arg), void *arg)
{
    uint64_t few[EACH_FEW], *many;

    for (int b = 0; b < NATIVE_BUCKETS; b++) {
        size_t count = look_in_bucket(b, 0, NULL, 0), first = 0, n;

        if (!count)
            continue;
        many = count > EACH_FEW ? malloc(count * sizeof(*many)) : NULL;
        uint64_t *found = many ? many : few;
        size_t room = many ? count : EACH_FEW;
        do {
            n = look_in_bucket(b, first, found, room);
            for (size_t i = 0; i < n; i++)
                visit(found[i], arg);
            first += n;
        } while (n == room);
        free(many);
    }
}
