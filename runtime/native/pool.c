/*
 * What the protocol asks of its environment: objects, records by address,
 * numbers, homes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "memory/control.h"
#include "memory/pages.h"
#include "memory/passed.h"
#include "runtime/native/state.h"
#include "runtime/process.h"

/* How long a reader without a lock follows a chain that changes under it. */
#define CHAIN_MAX 1024

/* A pool keeps up to so many unused objects, or as many as were needed at once,
 * and takes so many at a time. */
#define POOL_OBJECTS_MAX 128
#define POOL_BATCH       32

/* The stripe whose lock this thread holds: its pools are this thread's. */
static _Thread_local int held_stripe;

/* A pool of it holds more than it should keep from the others. */
static _Thread_local bool must_shed;

_Thread_local volatile bool native_in_step;

void native_pool_use(int stripe)
{
    held_stripe = stripe < 0 ? 0 : stripe;
    native_in_step = true;
}

int native_pool_used(void)
{
    return held_stripe;
}

static void **pool_link(enum proto_type type, void *object)
{
    size_t bytes = (proto_object_size(type) + 7) & ~(size_t)7;

    return (void **)(void *)((char *)object + bytes);
}

static void *pool_pop(struct native_pool *pool, enum proto_type type)
{
    void *object = atomic_load_explicit(&pool->free, memory_order_relaxed);

    if (object) {
        atomic_store_explicit(&pool->free, *pool_link(type, object),
                              memory_order_relaxed);
        pool->count--;
    }
    return object;
}

static void pool_push(struct native_pool *pool, enum proto_type type,
                      void *object)
{
    *pool_link(type, object) =
        atomic_load_explicit(&pool->free, memory_order_relaxed);
    atomic_store_explicit(&pool->free, object, memory_order_relaxed);
    pool->count++;
}

/*
 * Up to @count objects from one pool to another.  Objects stay of their type
 * for ever, because native_find() may follow a stale pointer: what one stripe
 * has too much of goes to the others through the spare pool, not to the heap.
 */
static void pool_move(struct native_pool *to, struct native_pool *from,
                      enum proto_type type, uint32_t count)
{
    void *object;

    if (lock_take(&native.shared->table_lock))
        return;
    while (count-- > 0 && (object = pool_pop(from, type)))
        pool_push(to, type, object);
    lock_give(&native.shared->table_lock);
}

static void *pool_new(enum proto_type type)
{
    size_t bytes = ((proto_object_size(type) + 7) & ~(size_t)7) + 8;
    void *object;

    if (!control_alloc_zero(&runtime.space, bytes, &object))
        return object;
    atomic_store_explicit(&native.shared->scarce, true, memory_order_relaxed);
    return NULL;
}

static void *pool_take(void *ctx, enum proto_type type)
{
    struct native_pool *pool = &native.shared->pools[held_stripe][type];
    struct native_pool *spare = &native.shared->spare[type];
    void *object = pool_pop(pool, type);

    (void)ctx;
    if (!object && atomic_load_explicit(&spare->free, memory_order_relaxed)) {
        pool_move(pool, spare, type, POOL_BATCH);
        object = pool_pop(pool, type);
    }
    return object ? object : pool_new(type);
}

static uint32_t objects_kept(const struct native_pool *pool)
{
    bool scarce =
        atomic_load_explicit(&native.shared->scarce, memory_order_relaxed);

    return pool->keep > POOL_OBJECTS_MAX && !scarce ? pool->keep
                                                    : POOL_OBJECTS_MAX;
}

static void pool_give(void *ctx, enum proto_type type, void *object)
{
    struct native_pool *pool = &native.shared->pools[held_stripe][type];

    (void)ctx;
    pool_push(pool, type, object);
    if (pool->count > objects_kept(pool))
        must_shed = true;
}

/* Not within a step: it counts on what it has reserved. */
void native_pool_shed(void)
{
    native_in_step = false;
    if (!must_shed)
        return;
    must_shed = false;
    for (int type = 0; type < PROTO_TYPES; type++) {
        struct native_pool *pool = &native.shared->pools[held_stripe][type];

        if (pool->count > objects_kept(pool))
            pool_move(&native.shared->spare[type], pool, (enum proto_type)type,
                      pool->count - objects_kept(pool) / 2);
    }
}

static int pool_reserve(void *ctx, const uint32_t counts[PROTO_TYPES])
{
    (void)ctx;
    for (int type = 0; type < PROTO_TYPES; type++) {
        struct native_pool *pool = &native.shared->pools[held_stripe][type];

        if (pool->keep < counts[type])
            pool->keep = counts[type];
        if (pool->count < counts[type] &&
            atomic_load_explicit(&native.shared->spare[type].free,
                                 memory_order_relaxed))
            pool_move(pool, &native.shared->spare[type], (enum proto_type)type,
                      counts[type] - pool->count);
        while (pool->count < counts[type]) {
            void *object = pool_new((enum proto_type)type);

            if (!object)
                return DRASYNC_ENOMEM;
            pool_push(pool, (enum proto_type)type, object);
        }
    }
    return 0;
}

static _Atomic(struct native_entry *) *bucket_of(uint64_t address)
{
    return &native.shared->buckets[space_page_hash(address, 16)];
}

_Static_assert(NATIVE_BUCKETS == 1 << 16, "bucket_of() keeps 16 bits");

/*
 * Entries are read without a lock, and never given back to control memory.
 * Acquire of a link pairs with the release by which env_insert() enters an
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

static struct proto_region *env_find(void *ctx, uint64_t address)
{
    (void)ctx;
    return native_find(address);
}

static int env_insert(void *ctx, struct proto_region *region)
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

static void env_remove(void *ctx, struct proto_region *region)
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

static uint64_t env_stamp(void *ctx)
{
    (void)ctx;
    return atomic_fetch_add(&native.shared->stamp, 1) + 1;
}

static uint64_t env_ticket(void *ctx)
{
    (void)ctx;
    return atomic_fetch_add(&native.shared->ticket, 1) + 1;
}

static int64_t env_home(void *ctx, uint64_t address)
{
    uint64_t offset = address - (uint64_t)(uintptr_t)runtime.space.base;
    uint64_t page = offset >> PAGE_SHIFT;
    int64_t home;

    (void)ctx;
    if (offset >= runtime.space.layout.data_bytes || page == 0)
        return -2;
    home = page_home(&runtime.space, page);
    if (home >= 0)
        return home;
    home = chunks_manager(&runtime.space, page);
    if (home != runtime.node)
        return home >= 0 ? home : -2;
    home = chunks_home(&runtime.space, chunk_book_of(&runtime.space), page);
    /* Not granted to anybody: no region is there, and its manager says so to
     * whoever asks. */
    return home >= 0 ? home : runtime.node;
}

int native_home(uint64_t address)
{
    return (int)env_home(NULL, address);
}

int native_unknown(uint64_t address)
{
    int64_t home = env_home(NULL, address);

    return home == -2 || home == runtime.node ? DRASYNC_ENOREGION
                                              : DRASYNC_ENOTHELD;
}

static bool env_extent(void *ctx, const struct proto_region *region, uint32_t i,
                       uint64_t *address, uint64_t *pages)
{
    struct native_memory *memory = region->memory;
    struct extent *e = memory ? memory->first : NULL;
    uint32_t at = 0;

    (void)ctx;
    /* They are asked for one after another. */
    if (memory && memory->walk && memory->walk_index <= i) {
        e = memory->walk;
        at = memory->walk_index;
    }
    while (e && at < i) {
        e = e->next;
        at++;
    }
    if (!e)
        return false;
    memory->walk = e;
    memory->walk_index = i;
    *address = (uint64_t)(uintptr_t)space_address(
        &runtime.space,
        atomic_load_explicit(&e->first_page, memory_order_relaxed));
    *pages = atomic_load_explicit(&e->pages, memory_order_relaxed);
    return true;
}

void native_env_fill(struct proto_env *env)
{
    *env = (struct proto_env){
        .self = (uint32_t)runtime.node,
        .nodes = (uint32_t)runtime.nodes,
        .take = pool_take,
        .give = pool_give,
        .reserve = pool_reserve,
        .find = env_find,
        .insert = env_insert,
        .remove = env_remove,
        .stamp = env_stamp,
        .ticket = env_ticket,
        .deletes_asked = &native.shared->deletes_asked,
        .home = env_home,
        .extent = env_extent,
    };
}

int native_shared_new(struct native_shared **shared_out)
{
    struct native_shared *s;
    void *v;
    int err = control_alloc_zero(&runtime.space, sizeof(*s), &v);

    if (err)
        return err;
    s = v;
    err = control_alloc_zero(&runtime.space,
                             (size_t)runtime.locals * sizeof(*s->turns), &v);
    if (err)
        return err;
    s->turns = v;
    err = runtime.options.check ? native_quarantine_new(&s->quarantine) : 0;
    if (err)
        return err;
    for (int i = 0; i < NATIVE_STRIPES; i++) {
        err = native_lease_new(&s->leases[i], (uint32_t)i);
        if (err)
            return err;
    }
    err = lock_init(&s->table_lock, LOCK_RANK_NATIVE_TABLE,
                    control_poison_flag(&runtime.space));
    if (!err)
        *shared_out = s;
    return err;
}
