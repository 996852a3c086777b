/* The directory: records of regions and heaps, and its messages to homes. */
#include <stddef.h>
#include <string.h>

#include "memory/pages.h"
#include "runtime/process.h"
#include "runtime/replica/cache.h"
#include "runtime/replica/directory.h"
#include "runtime/replica/objects.h"
#include "runtime/replica/page_runs.h"
#include "runtime/replica/version.h"
#include "runtime/replica/wire.h"

static uint32_t rid_of(uint64_t address)
{
    return address ? (uint32_t)(address >> PAGE_SHIFT) + 1 : 0;
}

static struct replica_region **bucket_of(uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;

    return &replica_shared()
                ->buckets[(page * UINT64_C(0x9e3779b97f4a7c15)) >> 40 &
                          (REPLICA_BUCKETS - 1)];
}

struct replica_region *replica_find(uint64_t address)
{
    struct replica_region *region;

    if (!address)
        return replica_shared()->root;
    region = *bucket_of(address);
    while (region && region->entry.address != address)
        region = region->hash_next;
    return region;
}

int replica_region_make(uint64_t address, struct replica_region **region_out)
{
    struct replica_region *region;
    void *ptr;
    int err;

    err = control_alloc_zero(&runtime.space,
                             sizeof(*region) + (size_t)runtime.locals *
                                                   sizeof(region->local[0]),
                             &ptr);
    if (err)
        return err;
    region = ptr;
    region->entry.address = address;
    region->rid = rid_of(address);
    *region_out = region;
    return 0;
}

void replica_region_enter(struct replica_region *region)
{
    struct replica_region **bucket = bucket_of(region->entry.address);

    region->hash_next = *bucket;
    *bucket = region;
}

/* --- Heaps ---------------------------------------------------------------- */

/* A heap's structure, not live yet.  Its lock is made once and for all. */
int replica_heap_new(struct replica_heap **heap_out)
{
    struct replica_shared *shared = replica_shared();
    struct replica_heap *heap = shared->free_heaps;
    void *ptr;
    int err;

    if (heap) {
        shared->free_heaps = heap->next;
    } else {
        err = control_alloc_zero(&runtime.space, sizeof(*heap), &ptr);
        if (err)
            return err;
        heap = ptr;
        err = lock_init(&heap->lock, REPLICA_RANK_HEAP,
                        control_poison_flag(&runtime.space));
        if (err) {
            control_free(&runtime.space, heap);
            return err;
        }
    }
    heap->next = NULL;
    heap->extents = NULL;
    *heap_out = heap;
    return 0;
}

void replica_heap_pool(struct replica_heap *heap)
{
    struct replica_shared *shared = replica_shared();

    heap->next = shared->free_heaps;
    shared->free_heaps = heap;
}

/* From now on the heap is @worker's in @region. */
int replica_heap_open(struct replica_heap *heap, struct replica_region *region,
                      int worker)
{
    int err = lock_take(&heap->lock);

    if (err)
        return err;
    heap->region = region;
    heap->rid = region->rid;
    heap->worker = worker;
    heap->node = runtime.node_of[worker];
    atomic_store(&heap->live, 1);
    lock_give(&heap->lock);
    return 0;
}

int replica_heap_of(struct replica_region *region,
                    struct replica_heap **heap_out)
{
    struct replica_heap *heap = region->local[runtime.local].heap;
    struct heap_context context;
    int err;

    if (heap) {
        *heap_out = heap;
        return 0;
    }
    err = replica_heap_new(&heap);
    if (err)
        return err;
    context = replica_heap_own(heap);
    err = heap_init(&context, &heap->heap, REPLICA_ALIGN_BYTES, NULL, 0);
    replica_objects_begin(heap);
    if (!err)
        err = replica_heap_open(heap, region, runtime.rank);
    if (err) {
        replica_heap_pool(heap);
        return err;
    }
    region->local[runtime.local].heap = heap;
    *heap_out = heap;
    return 0;
}

int replica_foreign_heap(struct replica_region *region, int worker,
                         struct replica_heap **heap_out)
{
    struct replica_heap *heap = region->foreign;
    int err;

    while (heap && heap->worker != worker)
        heap = heap->next;
    if (!heap) {
        err = replica_heap_new(&heap);
        if (err)
            return err;
        err = replica_heap_open(heap, region, worker);
        if (err) {
            replica_heap_pool(heap);
            return err;
        }
        heap->next = region->foreign;
        region->foreign = heap;
    }
    *heap_out = heap;
    return 0;
}

/* Nobody allocates or frees in it any more. */
static void heap_kill(struct replica_heap *heap)
{
    if (lock_take(&heap->lock))
        return;
    if (!replica_caches_revoke(heap))
        atomic_store(&heap->live, 0);
    lock_give(&heap->lock);
}

/* The extents of a heap that was killed, and has none from now on. */
static struct extent *take_extents(struct replica_heap *heap)
{
    struct extent *extents;

    if (lock_take(&heap->lock))
        return NULL;
    extents = heap->extents;
    heap->extents = NULL;
    lock_give(&heap->lock);
    return extents;
}

/* What another node cut is unknown here again. */
static void forget_extents(struct replica_heap *heap)
{
    struct extent *extent, *next;

    for (extent = take_extents(heap); extent; extent = next) {
        next = extent->next;
        extent_remove(&runtime.space, extent);
    }
}

static void heap_recycle(struct replica_heap *heap)
{
    struct extent *extent, *next;

    for (extent = take_extents(heap); extent; extent = next) {
        next = extent->next;
        replica_runs_put(extent, runtime.local_of[heap->worker]);
    }
    replica_heap_pool(heap);
}

/* --- What the directory asks of us ---------------------------------------- */

static struct replica_entry *env_find(void *ctx, uint64_t address)
{
    struct replica_region *region = replica_find(address);

    (void)ctx;
    return region ? &region->entry : NULL;
}

static struct replica_entry *env_make(void *ctx, uint64_t address)
{
    struct replica_region *region;

    (void)ctx;
    if (replica_region_make(address, &region))
        return NULL;
    replica_region_enter(region);
    return &region->entry;
}

static struct replica_link *env_link_new(void *ctx)
{
    void *link;

    (void)ctx;
    return control_alloc_zero(&runtime.space, sizeof(struct replica_link),
                              &link)
               ? NULL
               : link;
}

static void env_link_free(void *ctx, struct replica_link *link)
{
    (void)ctx;
    control_free(&runtime.space, link);
}

int replica_home(uint64_t address)
{
    uint64_t page = address >> PAGE_SHIFT;
    int home = page_home(&runtime.space, page);

    if (home >= 0)
        return home;
    /* In the upper half; a manager knows whose chunk it is. */
    home = chunks_manager(&runtime.space, page);
    return home == runtime.node
               ? chunks_home(&runtime.space, chunk_book_of(&runtime.space),
                             page)
               : home;
}

static uint32_t env_home_of(void *ctx, uint64_t address)
{
    int home = replica_home(address);

    (void)ctx;
    return home < 0 ? (uint32_t)runtime.nodes : (uint32_t)home;
}

static void env_send(void *ctx, uint32_t node, const struct replica_message *m)
{
    (void)ctx;
    replica_wire_directory(node, m);
}

static void env_known(void *ctx, struct replica_entry *entry, int found)
{
    (void)ctx;
    (void)entry;
    (void)found;
    doorbell_ring(&replica_shared()->known);
}

static void env_drop(void *ctx, struct replica_entry *entry)
{
    struct replica_region *region = replica_region_of(entry);
    struct replica_heap *heap;

    (void)ctx;
    /* Relaxed: replica_region_freed() reads it for a message. */
    atomic_store_explicit(
        &replica_shared()->freed[region->rid % REPLICA_FREED_MAX],
        (uint64_t)region->rid << 32, memory_order_relaxed);
    for (int i = 0; i < runtime.locals; i++)
        if (region->local[i].heap)
            heap_kill(region->local[i].heap);
    for (heap = region->foreign; heap; heap = heap->next)
        heap_kill(heap);
    replica_drop_copies(region);
    /* Not in env_recycle(): who cut them may be told to recycle before this
     * node is, and use them for another region that comes here. */
    for (heap = region->foreign; heap; heap = heap->next)
        forget_extents(heap);
}

static void env_recycle(void *ctx, struct replica_entry *entry)
{
    struct replica_region *region = replica_region_of(entry);
    struct replica_region **link = bucket_of(entry->address);

    (void)ctx;
    while (*link != region)
        link = &(*link)->hash_next;
    *link = region->hash_next;
    for (int i = 0; i < runtime.locals; i++)
        if (region->local[i].heap)
            heap_recycle(region->local[i].heap);
    while (region->foreign) {
        struct replica_heap *heap = region->foreign;

        region->foreign = heap->next;
        replica_heap_pool(heap);
    }
    control_free(&runtime.space, region);
    doorbell_ring(&replica_shared()->known);
}

static void env_freed(void *ctx, uint64_t token, int result)
{
    uint64_t local = token & 0xffff;
    struct replica_inbox *inbox;

    (void)ctx;
    if (local >= (uint64_t)runtime.locals)
        return;
    inbox = &replica_shared()->inboxes[local];
    if (atomic_load(&inbox->free_token) == token)
        waiter_wake(&inbox->free_waiter, result);
}

/* Each process has these at addresses of its own. */
static struct replica_env env = {
    .find = env_find,
    .make = env_make,
    .link_new = env_link_new,
    .link_free = env_link_free,
    .home_of = env_home_of,
    .send = env_send,
    .known = env_known,
    .drop = env_drop,
    .recycle = env_recycle,
    .freed = env_freed,
};

int replica_lock(void)
{
    int err = lock_take(&replica_shared()->lock);

    if (!err)
        replica_shared()->dir.env = &env;
    return err;
}

void replica_unlock(void)
{
    lock_give(&replica_shared()->lock);
}

int replica_dir_open(void)
{
    struct replica_shared *shared = replica_shared();
    int err;

    err = replica_region_make(0, &shared->root);
    if (err)
        return err;
    env.nodes = (uint32_t)runtime.nodes;
    replica_dir_init(&shared->dir, (uint32_t)runtime.node, &env,
                     &shared->root->entry);
    return 0;
}

void replica_dir_attach(void)
{
    env.nodes = (uint32_t)runtime.nodes;
}

int replica_dir_message(int from, const struct replica_message *message)
{
    int err = replica_lock();

    if (err)
        return err;
    err = replica_receive(&replica_shared()->dir, (uint32_t)from, message);
    replica_unlock();
    return err;
}
